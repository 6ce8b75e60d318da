import { defaultPaths } from '../paths.ts'
import { shellWord } from '../text/shell-word.ts'
import { execInPod, execOffline, type StartedAs } from './service-lines.ts'

/**
 * The commands of ipkeeperctl that need to be told which daemon is meant: "socket" of those that ask it, "state" of those that read
 * its state folder instead, "both".
 */
export const toolPlaces: Readonly<Record<string, 'socket' | 'state' | 'both' | 'neither'>> = {
  leases: 'socket',
  attachments: 'socket',
  pools: 'socket',
  who: 'socket',
  history: 'socket',
  release: 'socket',
  reservations: 'socket',
  move: 'socket',
  reserve: 'socket',
  unreserve: 'socket',
  explain: 'socket',
  audit: 'socket',
  uplinks: 'socket',
  'restore-uplink': 'socket',
  status: 'socket',
  nodes: 'socket',
  'forget-node': 'socket',
  alive: 'socket',
  flights: 'state',
  try: 'both',
  'cache scan': 'both',
  'cache repair': 'both',
  'cache quarantine': 'both',
  'cache restore': 'both',
  doctor: 'both',
  bundle: 'both',
  backup: 'socket',
  rescue: 'socket',
  restore: 'state',
  migrate: 'state',
  lint: 'neither',
  'check-config': 'socket',
  install: 'socket',
  completion: 'neither',
}

/** These ask before they change anything, so that they need a terminal in the pod as well. */
export const asking: readonly string[] = ['forget-node', 'move', 'release', 'reserve', 'unreserve']

/** "import host-local": every importer asks the daemon. */
const imports = 'import [a-z][a-z-]*[a-z]'

const names = Object.keys(toolPlaces).sort((a, b) => b.length - a.length)
const callPattern = new RegExp(`\\bipkeeperctl (${names.join('|')}|${imports})(?![\\w-])`, 'g')

/** What of a line can belong to a call that has begun before it; what is in quotes belongs to one word. */
const restPattern = /^((?:(?!\bipkeeperctl\b)(?:\\.|'[^']*'|[^;,()|]))*).*$/

/** These are for a node whose daemon does not run. */
const isWithoutDaemon = (name: string, rest: string): boolean =>
  ['restore', 'migrate'].includes(name) || (['rescue', 'backup'].includes(name) && / --store\b/.test(rest))

interface ToolPlace {
  readonly socket?: string | undefined
  readonly stateDir?: string | undefined
  readonly startedAs?: StartedAs | undefined
  readonly toolIsHere?: boolean | undefined
}

/** Requests by hand that reach it. */
const requestLines = (text: string, socket: string): string =>
  text.replaceAll(`--unix-socket ${defaultPaths.socket} `, () => `--unix-socket ${shellWord(socket)} `)

/** A pod does not see the files of who types; it keeps its own in the state folder alone. */
const fileLines = (text: string, stateDir: string): string =>
  text
    .replaceAll(/\bipkeeperctl explain --manifest FILE\b/g, 'ipkeeperctl explain --manifest - < FILE')
    .replaceAll(
      /\bipkeeperctl (backup|restore|bundle) FILE\b/g,
      (_whole, name: string) => `ipkeeperctl ${name} ${shellWord(`${stateDir}/FILE`)}`,
    )

/** How the words of a call reach the pod: with a terminal where it asks, with what is typed where it reads that. */
function podOptions(name: string, rest: string): string {
  if (rest.includes(' - < ')) return '-i '
  return asking.includes(name) && !/ (--yes|-y|--dry-run)\b/.test(rest) ? '-it ' : ''
}

/** Calls of ipkeeperctl that reach a daemon which is not where they would look, or is in a pod with the only ipkeeperctl. */
export function toolLines(written: string, { socket, stateDir, startedAs, toolIsHere }: ToolPlace): string {
  const words = {
    socket: socket === undefined ? '' : ` --socket ${shellWord(socket)}`,
    state: stateDir === undefined ? '' : ` --state-dir ${shellWord(stateDir)}`,
  }
  const pod = startedAs?.service === 'pod' && toolIsHere !== true ? startedAs : undefined
  const asked = socket === undefined ? written : requestLines(written, socket)
  const text = pod ? fileLines(asked, stateDir ?? defaultPaths.stateDir) : asked
  let isMade = text.includes(' --copy-to=')
  return text.replace(callPattern, (whole: string, name: string, at: number) => {
    const end = text.indexOf('\n', at)
    const rest = text.slice(at + whole.length, end < 0 ? undefined : end).replace(restPattern, '$1')
    const of = toolPlaces[name] ?? 'socket'
    const needed = [
      ['socket', 'both'].includes(of) && !/ --socket\b/.test(rest) ? words.socket : '',
      ['state', 'both'].includes(of) && !/ --state-dir\b/.test(rest) ? words.state : '',
    ]
    const before = text.slice(0, at)
    const call = `${whole}${needed.join('')}`
    if (!pod || before.endsWith(' -- ')) return call
    if (isWithoutDaemon(name, rest)) {
      const isFirst = !isMade
      isMade = true
      return `${execOffline(pod, { isFirst })}${call}`
    }
    // Who has restarted the daemon by then has deleted its pod.
    const there = /start ipkeeper\b/.test(before) ? { ...pod, pod: undefined } : pod
    return `${execInPod(there, podOptions(name, rest))}${call}`
  })
}
