import { shellLine } from '../../../shared/text/shell-word.ts'
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { field, type JsonObject } from '../../../shared/json/fold.ts'
import { toProblem } from '../../../shared/problem/problem.ts'
import { usesIpkeeper } from '../lint/uses-ipkeeper.ts'
import { cleanEarlier } from './clean-earlier.ts'
import { judgeResult } from './judge-result.ts'
import type { RunVerdict } from './judge-run.ts'
import { gatewaysOf, pingGateway } from './ping-gateways.ts'
import { annotationsCapability, askFor, pluginInput, type Attachment } from './plugin-call.ts'
import { writeResult, type PluginResult } from './plugin-result.ts'
import { declares, ipamType, pluginType, sinceCheck, type TriedNetwork } from './read-network.ts'
import { failure, hasError, remark, warning } from './report.ts'
import type { TryFinding, Ping, TryStep, Told, TriedVerb, TryReport } from './report.ts'
import { runStep } from './run-cni-plugin.ts'
import {
  namespacePath,
  namespacePrefix,
  scratchNamespaces,
  type HostLink,
  type ScratchNamespaces,
} from './scratch-namespace.ts'
import { removeNote, thisProcess, writeNote, type TryNote } from './try-notes.ts'

export interface TryRequest {
  /** Path of the file, for the report. */
  readonly conflist: string
  readonly network: TriedNetwork
  /** Absolute. */
  readonly binDirs: readonly string[]
  readonly ifname: string
  /** Default: a pod of namespace "ipkeeper-try" with a name of its own. */
  readonly pod: { readonly namespace: string; readonly name: string } | undefined
  readonly ips: readonly string[]
  readonly annotations: Readonly<Record<string, string>>
  /** Milliseconds that one run of one plugin may take. */
  readonly timeoutMs: number
  readonly check: boolean
  readonly ping: boolean
  /** Where the note for the next try is kept while this one runs. */
  readonly stateDir: string
}

export interface TrySurroundings {
  /** Of ipkeeperctl. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted when somebody wants the try to end; it ends by DEL all the same. */
  readonly interruption: AbortSignal
  readonly tell: (told: Told) => void
  /** What ipkeeper's daemon still has of a container; undefined where it cannot be asked. */
  readonly leftAtDaemon: (containerId: string) => Promise<readonly string[] | undefined>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Links of a deleted namespace go when the kernel finds time. */
const settleMs = 5000

/**
 * Wires a pod that does not exist through a real network configuration and takes everything back: ADD, CHECK, a ping to
 * each gateway, DEL, as libcni has the plugins run. Whatever fails, hangs or is interrupted: each ADD that was begun gets
 * its DEL, and the namespace goes last.
 *
 * @throws Problem IPK_TRY_REFUSED or IPK_TOOL_MISSING, when nothing was begun
 */
export async function tryNetwork(request: TryRequest, surroundings: TrySurroundings): Promise<TryReport> {
  const { network, stateDir } = request
  const { env, interruption, tell, now } = surroundings
  const namespaces = scratchNamespaces(env['PATH'])
  const earlier = await cleanEarlier({ stateDir, namespaces, env, now: now() })
  const { name, pod, attachment, channel } = makeUpPod(request)
  const { containerId, netns } = attachment
  const note: TryNote = {
    ...{ namespace: name, owner: thisProcess(), network, attachment },
    ...{ timeoutMs: request.timeoutMs, result: null },
  }
  const linksBefore = await namespaces.hostLinks()
  await makeNamespace(namespaces, note, stateDir)

  const begun = {
    ...{ conflist: request.conflist, network: network.name, cniVersion: network.cniVersion },
    ...{ namespace: netns, containerId, pod: `${pod.namespace}/${pod.name}` },
    earlier,
    findings: aboutTheWhole(request, channel),
  }
  tell({ kind: 'begun', report: begun })

  const run = new Run({
    ...{ request, surroundings, namespaces, attachment, name },
    keep: result => {
      writeNote(stateDir, { ...note, result })
    },
  })
  const late: TryFinding[] = []
  try {
    await run.add()
    if (run.added && request.check) await run.check()
    if (run.added && request.ping) await run.ping()
  } catch (error) {
    late.push(failure(toProblem(error).message))
  }
  await run.del()
  const left = [...run.left]
  if (!(await namespaces.remove(name)))
    left.push(failure(`namespace ${netns} cannot be deleted`, `ip netns delete ${name}`))
  left.push(...(await linksLeft(namespaces, linksBefore, run.hostInterfaces)))
  left.push(...(await leasesLeft(request, surroundings, containerId)))
  removeNote(stateDir, name)
  if (interruption.aborted) late.push(failure('it was interrupted, and cleaned up'))
  tell({ kind: 'ended', left, findings: late })
  const findings = [...begun.findings, ...late]
  const { steps, pings } = run
  const all = [findings, left, ...steps.map(step => step.findings), ...pings.map(ping => ping.findings)]
  return { ...begun, findings, steps, ping: pings, left, ok: !all.some(hasError) }
}

interface MadeUpPod {
  /** Of its namespace. */
  readonly name: string
  readonly pod: { readonly namespace: string; readonly name: string }
  readonly attachment: Attachment
  /** By which it asks for addresses. */
  readonly channel: string | undefined
}

function makeUpPod({ network, binDirs, ifname, ips, annotations, ...request }: TryRequest): MadeUpPod {
  const random = randomBytes(4).toString('hex')
  const name = `${namespacePrefix}${process.pid}-${random}`
  // Listings show the beginning only.
  const containerId = `${random}-${name}`
  const pod = request.pod ?? { namespace: 'ipkeeper-try', name: random }
  const { args, capabilities, channel } = askFor(network, {
    ...{ podNamespace: pod.namespace, podName: pod.name, podUid: randomUUID(), containerId },
    ...{ ips, annotations },
  })
  const netns = namespacePath(name)
  return {
    ...{ name, pod, channel },
    attachment: { containerId, netns, ifname, binDirs, args, capabilities },
  }
}

/** Notes the namespace before it is there, so that the next try finds it whatever happens to this one. */
async function makeNamespace(namespaces: ScratchNamespaces, note: TryNote, stateDir: string): Promise<void> {
  const name = note.namespace
  writeNote(stateDir, note)
  try {
    await namespaces.add(name)
  } catch (error) {
    await namespaces.remove(name)
    removeNote(stateDir, name)
    throw error
  }
}

function aboutTheWhole(
  { network, annotations, ips }: TryRequest,
  channel: string | undefined,
): readonly TryFinding[] {
  const { plugins, cniVersion } = network
  const findings: TryFinding[] = []
  const takers = plugins.filter(plugin => declares(plugin, annotationsCapability))
  if (Object.keys(annotations).length > 0 && takers.length === 0)
    findings.push(
      failure(
        'no plugin of the list gets the annotations',
        `add "${annotationsCapability}": true to the "capabilities" of the plugin that reads them`,
      ),
    )
  if (plugins.some(usesIpkeeper) && !plugins.some(plugin => usesIpkeeper(plugin) && takers.includes(plugin)))
    findings.push(
      warning(
        'ipkeeper does not get the annotations of pods by this list: unless the daemon has the Kubernetes API, every pod gets a dynamic address',
        `add to the plugin: "capabilities": { "${annotationsCapability}": true }`,
      ),
    )
  if (cniVersion === '')
    findings.push(
      warning('the list names no cniVersion; plugins take it for 0.1.0', 'add "cniVersion": "1.0.0"'),
    )
  if (channel !== undefined) findings.push(remark(`asks for ${ips.join(', ')} by ${channel}`))
  return findings
}

interface RunParts {
  readonly request: TryRequest
  readonly surroundings: TrySurroundings
  readonly namespaces: ScratchNamespaces
  readonly attachment: Attachment
  readonly name: string
  /** Keeps the Result so far for whoever has to send the DELs if we are killed. */
  readonly keep: (result: JsonObject) => void
}

/** The runs of one try, in their order, with what they leave for those that follow. */
class Run {
  readonly steps: TryStep[] = []
  readonly pings: Ping[] = []
  readonly left: TryFinding[] = []
  /** Names of links on the host that are this network's: by its list, or by a Result. */
  readonly hostInterfaces: Set<string>
  /** Whether the ADD of the whole list succeeded. */
  added = false
  /** Of the whole list, in its version: what libcni keeps for CHECK and DEL. */
  result: JsonObject | null = null

  readonly #parts: RunParts
  /** The Result of the last plugin that succeeded. */
  #last: PluginResult | null = null
  #begun = false
  /** Those whose executable ran for ADD: the others have made nothing. */
  readonly #ran = new Set<JsonObject>()

  constructor(parts: RunParts) {
    this.#parts = parts
    this.hostInterfaces = new Set(bridgesOf(parts.request.network))
  }

  async add(): Promise<void> {
    const { request, namespaces, attachment, name, surroundings } = this.#parts
    const { plugins, cniVersion } = request.network
    const listAsksForAddresses = plugins.some(plugin => ipamType(plugin) !== undefined)
    for (const [index, plugin] of plugins.entries()) {
      if (surroundings.interruption.aborted) return
      this.#begun = true
      const previous = this.#last
      const prevResult = previous === null ? undefined : writeResult(previous, previous.version)
      const judge = async ({ result }: RunVerdict): Promise<readonly TryFinding[]> => {
        if (result === null) return []
        for (const { name: link, sandbox } of result.interfaces)
          if (sandbox === undefined) this.hostInterfaces.add(link)
        return judgeResult({
          ...{ result, previous, listAsksForAddresses, isLast: index === plugins.length - 1 },
          asksForAddresses: ipamType(plugin) !== undefined,
          ...{ ifname: request.ifname, netns: attachment.netns, view: await namespaces.view(name) },
        })
      }
      const verdict = await this.#run('ADD', plugin, prevResult, judge)
      if (!verdict.succeeded) return
      this.#last = verdict.result
      if (this.#last !== null && sinceCheck(cniVersion)) this.#parts.keep(writeResult(this.#last, cniVersion))
    }
    this.added = true
    if (this.#last !== null && sinceCheck(cniVersion)) this.result = writeResult(this.#last, cniVersion)
  }

  async check(): Promise<void> {
    const { network } = this.#parts.request
    if (!sinceCheck(network.cniVersion) || network.disableCheck) return
    for (const plugin of network.plugins) {
      const { succeeded } = await this.#run('CHECK', plugin, this.result ?? undefined)
      if (!succeeded || this.#parts.surroundings.interruption.aborted) return
    }
  }

  async ping(): Promise<void> {
    const { namespaces, name, surroundings } = this.#parts
    const how = { path: surroundings.env['PATH'], signal: surroundings.interruption }
    for (const gateway of this.#last === null ? [] : gatewaysOf(this.#last)) {
      if (how.signal.aborted) return
      const ping = await pingGateway(namespaces, name, gateway, how)
      this.pings.push(ping)
      surroundings.tell({ kind: 'ping', ping })
    }
  }

  /** DEL of every plugin, also of those whose ADD was never reached, as the specification wants it. Never rejects. */
  async del(): Promise<void> {
    if (!this.#begun) return
    const { plugins, cniVersion } = this.#parts.request.network
    const backwards = plugins.toReversed()
    const owing = new Set<JsonObject>()
    for (const [index, plugin] of backwards.entries()) {
      const { succeeded } = await this.#run('DEL', plugin, this.result ?? undefined, verdict =>
        Promise.resolve(
          verdict.succeeded || index === backwards.length - 1
            ? []
            : [
                remark(
                  'libcni would stop here, and call none of the plugins before it until this DEL succeeds',
                ),
              ],
        ),
      )
      if (!succeeded && this.#ran.has(plugin)) owing.add(plugin)
    }
    // After an ADD that failed half-way libcni has no Result to hand on; some plugins then leave what they made.
    const half = !this.added && this.#last !== null && sinceCheck(cniVersion)
    const prevResult = this.result ?? (half && this.#last ? writeResult(this.#last, cniVersion) : undefined)
    for (const plugin of backwards) {
      if (!owing.has(plugin) && !(half && this.#ran.has(plugin))) continue
      const why = owing.has(plugin)
        ? 'once more, since it failed'
        : 'once more, with the last Result, which libcni does not have after an ADD that failed'
      const { succeeded } = await this.#run('DEL', plugin, prevResult, () => Promise.resolve([remark(why)]))
      if (succeeded) owing.delete(plugin)
    }
    for (const plugin of owing)
      this.left.push(
        failure(
          `DEL of ${pluginType(plugin)} failed: what its ADD made may be there still`,
          'see its error above',
        ),
      )
    await this.#linksInside()
  }

  /** A runtime deletes the namespace after the DEL, so what is left inside goes with it; but a DEL should not need that. */
  async #linksInside(): Promise<void> {
    const { namespaces, name } = this.#parts
    try {
      const { links } = await namespaces.view(name)
      const names = links.map(link => link.name).filter(link => link !== 'lo')
      if (names.length > 0)
        this.left.push(
          warning(`after DEL the namespace still had ${names.join(', ')}; it went with the namespace`),
        )
    } catch (error) {
      this.left.push(warning(toProblem(error).message))
    }
  }

  async #run(
    verb: TriedVerb,
    plugin: JsonObject,
    prevResult: JsonObject | undefined,
    judge: (verdict: RunVerdict) => Promise<readonly TryFinding[]> = () => Promise.resolve([]),
  ): Promise<RunVerdict> {
    const { request, surroundings, attachment } = this.#parts
    const { network, timeoutMs } = request
    const stdin = pluginInput(network, plugin, attachment, prevResult)
    const { step, verdict } = await runStep({
      ...{ verb, plugin: pluginType(plugin), attachment, stdin, env: surroundings.env, timeoutMs },
      cniVersion: network.cniVersion,
      ...(verb !== 'DEL' && { signal: surroundings.interruption }),
      judge,
    })
    if (verb === 'ADD' && step.path !== null) this.#ran.add(plugin)
    this.steps.push(step)
    surroundings.tell({ kind: 'step', step })
    return verdict
  }
}

/** By the list: plugins make their bridge first, and an ADD that fails or is cut off has no Result that names it. */
const bridgesOf = ({ plugins }: TriedNetwork): readonly string[] =>
  plugins.flatMap(plugin => {
    const named = field(plugin, 'bridge') ?? (pluginType(plugin) === 'bridge' ? 'cni0' : undefined)
    return typeof named === 'string' ? [named] : []
  })

/** Bridges that this try made, which plugins leave for the next pod: without ports nobody has them yet. */
async function removeBridges(
  namespaces: ScratchNamespaces,
  ours: ReadonlySet<string>,
  links: readonly HostLink[],
): Promise<ReadonlySet<string>> {
  const removed = new Set<string>()
  for (const { name, kind } of links) {
    if (kind !== 'bridge' || !ours.has(name)) continue
    const ports = (await namespaces.hostLinks()).filter(({ master }) => master === name)
    if (ports.length === 0 && (await namespaces.removeLink(name))) removed.add(name)
  }
  return removed
}

async function linksLeft(
  namespaces: ScratchNamespaces,
  before: readonly { readonly name: string }[],
  ours: ReadonlySet<string>,
): Promise<readonly TryFinding[]> {
  const known = new Set(before.map(({ name }) => name))
  const deadline = performance.now() + settleMs
  for (;;) {
    let links
    try {
      links = (await namespaces.hostLinks()).filter(({ name }) => !known.has(name))
    } catch (error) {
      return [warning(toProblem(error).message)]
    }
    if (links.every(({ kind }) => kind === 'bridge') || performance.now() > deadline) {
      const removed = await removeBridges(namespaces, ours, links)
      return links
        .filter(({ name }) => !removed.has(name))
        .map(({ name, kind }) =>
          !ours.has(name)
            ? warning(`link ${name} is new on the host; no plugin named it, so it may be another pod's`)
            : kind === 'bridge'
              ? remark(
                  `bridge ${name} is new, and has ports: it stays for pods that were added in the meantime`,
                )
              : failure(`link ${name} is left on the host`, shellLine(['ip', 'link', 'delete', name])),
        )
    }
    await delay(50)
  }
}

async function leasesLeft(
  { network }: TryRequest,
  { leftAtDaemon }: TrySurroundings,
  containerId: string,
): Promise<readonly TryFinding[]> {
  if (!network.plugins.some(usesIpkeeper)) return []
  const found = await leftAtDaemon(containerId)
  if (found === undefined)
    return [
      warning(
        "ipkeeper's daemon could not be asked whether it has released the address",
        'see: ipkeeperctl status',
      ),
    ]
  return found.map(what => failure(`ipkeeper's daemon still has ${what}`, 'see: ipkeeperctl attachments'))
}
