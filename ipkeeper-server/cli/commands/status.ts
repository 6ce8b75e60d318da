import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { command } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { OptionProblem } from '../framework/option-problem.ts'
import { distance } from '../framework/terminal-text.ts'
import type { ErrorReply } from '../../../shared/api/cni.schema.ts'
import type { StatusReply } from '../../../shared/api/listing.schema.ts'
import { stateFolders } from '../../../shared/paths.ts'
import type { ProblemCode } from '../../../shared/problem/catalogue.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { checkConfigLine } from '../../../shared/check-config-line.ts'
import { shellLine } from '../../../shared/text/shell-word.ts'
import { counted } from '../../../shared/text/counted.ts'
import { failedBy } from '../../../shared/system-code.ts'

/** Said only when there is something to look at. */
function queueLine({ stateDir, deferredDels: { waiting, quarantined } }: StatusReply): string[] {
  if (waiting + quarantined === 0) return []
  const aside =
    quarantined === 0
      ? ''
      : `, ${counted(quarantined, 'file')} quarantined in ${join(stateDir, stateFolders.quarantine)}`
  return [`queue   ${counted(waiting, 'DEL')} waiting${aside}`]
}

/** How it stands with a store that nodes share, in a word. */
const states = { ready: 'no contact', away: 'away', incomplete: 'incomplete' } as const

/** What goes on, and what to do about the rest. */
function consequences({ state, waitsFor = [] }: StatusReply['store']): readonly string[] {
  switch (state) {
    case 'away':
      return ['pods on this node keep their addresses; new claims wait until the store is back']
    case 'incomplete':
      return [
        'pods on this node keep their addresses; new claims wait until every node has reported what it holds',
        ...waitingLines(waitsFor),
      ]
    default:
      return []
  }
}

function waitingLines([first, ...more]: readonly string[]): readonly string[] {
  if (first === undefined) return []
  const rest = more.length === 0 ? '' : `, ${more.join(', ')}`
  const daemons = more.length === 0 ? 'its daemon' : 'their daemons'
  return [
    `waiting for ${first}${rest}`,
    `next: start ${daemons}; if the node is gone for good: ipkeeperctl forget-node ${first}`,
  ]
}

/** What is beside the kind of a store that nodes share is said only when there is something to look at. */
function storeLines({ store }: StatusReply): string[] {
  const { kind, location, state = 'ready', reason, since, owed = 0, lacks } = store
  const how = `${states[state]}${since === undefined ? '' : ` for ${distance(since)}`}`
  const lines = [
    ...(reason === undefined ? [] : [`${how}: ${reason}`]),
    ...consequences(store),
    ...(owed > 0 ? [counted(owed, 'pending write')] : []),
    ...(lacks === undefined ? [] : [lacks]),
  ]
  return [`store   ${kind} ${location}`, ...lines.map(line => `        ${line}`)]
}

/** Said only where the node has had another name, is to have one, or where another machine has its name. */
function nameLines({ node, identity }: StatusReply): string[] {
  // A daemon of an earlier version tells nothing of it.
  if (!identity) return []
  const { wanted, formerNames, refused } = identity
  const [former] = formerNames
  return [
    ...(refused ? [`name    NO ADD IS SERVED: ${refused.message}`, `        next: ${refused.hint}`] : []),
    ...(wanted === node
      ? []
      : [`name    ${wanted} from the daemon's next start on: restart it once the store is ready`]),
    ...(former ? [`        formerly ${former.name}, until ${former.until}`] : []),
  ]
}

/** Said only when there is something to do. */
function fileLines({ store: { file } }: StatusReply): string[] {
  if (!file) return []
  const { path, fault, findings } = file
  return [
    ...(fault ? [`        NOT SERVED: ${fault.message}`, `        next: ${fault.hint}`] : []),
    ...(findings.length > 0
      ? [
          `        ${path}: ${counted(findings.length, 'damaged history entry', 'damaged history entries')}; no lease is affected`,
        ]
      : []),
  ]
}

/** Said only when there is something to look at. */
function clockLines({ clock }: StatusReply): string[] {
  if (!clock?.last) return []
  const { jumps, last } = clock
  return [`clock   ${last.says}, ${last.at}${jumps === 1 ? '' : `; ${jumps} times since the start`}`]
}

/** Said only when there is something to do. */
function diskLines({ disk }: StatusReply): string[] {
  if (!disk?.refuses) return []
  const { reason, since } = disk.refuses
  return [
    `disk    ${reason}, for ${distance(since)}`,
    '        pods can be deleted, but none can be added until there is space again',
  ]
}

/** Said only of what does not work. */
function partLines({ parts = [] }: StatusReply): string[] {
  return parts.flatMap(({ name, problem, since }) =>
    problem === null
      ? []
      : [
          `part    ${name}: ${problem.message}, for ${distance(since)}; pods are served all the same`,
          `        next: ${problem.hint}`,
        ],
  )
}

/** Said only where the history is sent to a receiver. */
function exportLines({ historyExport }: StatusReply): string[] {
  if (!historyExport) return []
  const { receiver, unsent, oldestUnsent, pruned } = historyExport
  const waiting =
    oldestUnsent === null
      ? 'all of the history is sent'
      : `${counted(unsent, 'entry', 'entries')} of the history not sent yet, the oldest for ${distance(oldestUnsent)}`
  return [
    `export  ${receiver}, ${waiting}`,
    ...(pruned > 0
      ? [`        PRUNED BEFORE THEY COULD BE SENT: ${counted(pruned, 'entry', 'entries')}`]
      : []),
  ]
}

/** Said only when the file is not what is in force, or would not be kept. */
function configLines({
  socket,
  config: { path, loadedAt, problem, stricter = [], copy },
}: StatusReply): string[] {
  const lines = [
    ...(problem === null
      ? []
      : [
          `${path} is not in use; the one loaded at ${loadedAt} stays: ${problem.message}`,
          ...(stricter.length === 0
            ? []
            : [`its rules on who may use ${stricter.join(', ')} apply all the same`]),
          `next: ${shellLine(checkConfigLine(path, socket))}`,
        ]),
    ...(copy ? [copy.message, `next: ${copy.hint}`] : []),
  ]
  return lines.map((line, index) => `${index === 0 ? 'config' : '      '}  ${line}`)
}

/** Said only where an IPPool has a newer spec than what is in force. */
function pendingLines({ pendingPools = [] }: StatusReply): string[] {
  return pendingPools.flatMap(({ says, next }) => [`ippool  ${says}`, `        next: ${shellLine(next)}`])
}

/** Said only where an API is configured. */
function kubernetesLines({ kubernetes }: StatusReply): string[] {
  if (kubernetes === null) return []
  const { server, source, connected, watches, counts, missingRights, missingRules, nodeMissing } = kubernetes
  const away = watches.filter(watch => !watch.connected)
  return [
    `api     ${server} (${source}), ${connected ? `connected; ${counts.pods} pods of this node` : 'not connected'}`,
    ...away.map(
      ({ resource, lastError }) => `        ${resource}: ${lastError?.message ?? 'no watch is open yet'}`,
    ),
    ...(missingRights ?? []).map(({ verb, resource, why }) => `        may not ${verb} ${resource}: ${why}`),
    ...(missingRules === ''
      ? []
      : ['        add to its ClusterRole:', ...missingRules.trimEnd().split('\n')]),
    ...(nodeMissing
      ? [
          `        the cluster has no Node of this name${nodeMissing.meant === null ? '' : `; is it ${nodeMissing.meant}?`}`,
        ]
      : []),
  ]
}

export const statusCommand = command({
  name: 'status',
  watch: true,
  arguments: [],
  summary: 'Show the state of the daemon: version, node, store and counts',
  options: {},
  examples: [
    { line: 'ipkeeperctl status', does: 'Show the state of the daemon' },
    { line: 'ipkeeperctl status --watch -o json | jq -c .store', does: 'Print one line for each change' },
  ],
  run: async daemon => (await daemon.ask('GET', '/v1/status')) as StatusReply,
  print: status =>
    [
      `ipkeeper-server ${status.version} on node ${status.node}, pid ${status.pid}, up ${distance(status.startedAt)}`,
      ...(status.commit === undefined || status.commit === 'unknown' ? [] : [`commit  ${status.commit}`]),
      ...nameLines(status),
      `socket  ${status.socket}`,
      `state   ${status.stateDir}`,
      ...storeLines(status),
      ...fileLines(status),
      ...diskLines(status),
      `leases  ${status.store.leases}, attachments ${status.store.attachments}, pools ${status.pools}`,
      ...queueLine(status),
      ...clockLines(status),
      ...partLines(status),
      ...exportLines(status),
      ...configLines(status),
      ...pendingLines(status),
      ...kubernetesLines(status),
      '',
    ].join('\n'),
})

/** Nobody answered, or nothing that is worth an answer: a new start may help. */
const noAnswers: readonly ProblemCode[] = [
  'IPK_DAEMON_UNREACHABLE',
  'IPK_DAEMON_TIMEOUT',
  'IPK_DAEMON_REPLY_INVALID',
  'IPK_INTERNAL',
]

interface Alive {
  /** Why nothing is served; null: it is. */
  readonly refuses: Pick<ErrorReply, 'code' | 'message' | 'hint'> | null
}

/** Milliseconds that `alive --wait` takes at most, and between two tries. */
const [patience, pause] = [10_000, 25]

function readPid(text: string): number {
  const pid = Number(text)
  if (!Number.isSafeInteger(pid) || pid < 1)
    throw new OptionProblem('--wait', `--wait ${text} is not a process ID`)
  return pid
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return failedBy(error, 'EPERM')
  }
}

async function askIfAlive(daemon: DaemonClient): Promise<Alive> {
  try {
    await daemon.ask('GET', '/v1/health')
    return { refuses: null }
  } catch (error) {
    if (!(error instanceof Problem) || noAnswers.includes(error.code)) throw error
    const { code, message, hint } = error
    return { refuses: { code, message, hint } }
  }
}

/** Asks again while the process runs whose answer is waited for. */
async function untilAlive(daemon: DaemonClient, pid: number): Promise<Alive> {
  const deadline = performance.now() + patience
  for (;;) {
    try {
      return await askIfAlive(daemon)
    } catch (error) {
      if (!runs(pid) || performance.now() > deadline) throw error
      await delay(pause)
    }
  }
}

export const aliveCommand = command({
  name: 'alive',
  arguments: [],
  summary: 'Check whether the daemon answers, even if it refuses to serve',
  about: [
    'For liveness probes. A daemon whose node name is refused, or whose ledger is lost, reports that and recovers by itself once the cause is fixed; stopping it would hide the reason. To check whether it serves, use "ipkeeperctl status".',
  ],
  exits: {
    0: 'it answers, even if only to say why it does not serve',
    1: 'there is no answer, or not one of a daemon',
  },
  options: {
    wait: {
      value: 'PID',
      text: `wait until it answers, while the process PID runs, ${patience / 1000} seconds at most`,
    },
  },
  examples: [
    { line: 'ipkeeperctl alive', does: 'Check that the daemon answers, as a liveness probe does' },
    {
      line: 'ipkeeperctl alive --wait $MAINPID',
      does: 'Wait for a daemon that has just begun, as its systemd unit does',
    },
  ],
  run: async (daemon, { options: { wait } }): Promise<Alive> =>
    wait === undefined ? await askIfAlive(daemon) : await untilAlive(daemon, readPid(wait)),
  print: ({ refuses }) =>
    refuses === null
      ? 'the daemon answers\n'
      : `the daemon answers, but does not serve: ${refuses.message} [${refuses.code}]\nhint: ${refuses.hint}\n`,
})
