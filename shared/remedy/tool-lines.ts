import { defaultPaths } from '../paths.ts'
import { shellWord } from '../text/shell-word.ts'
import { execInPod, type StartedAs } from './service-lines.ts'

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
  backup: 'socket',
  rescue: 'socket',
  restore: 'state',
  migrate: 'state',
  lint: 'neither',
  'check-config': 'socket',
  completion: 'neither',
}

/** "import host-local": every importer asks the daemon. */
const imports = 'import [a-z][a-z-]*[a-z]'

/** These are for a node whose daemon has been stopped, so that there is no pod to make them in. */
const withoutDaemon = ['restore', 'migrate']

function callPattern(): RegExp {
  const names = Object.keys(toolPlaces)
    .filter(name => toolPlaces[name] !== 'neither')
    .sort((a, b) => b.length - a.length)
  return new RegExp(`\\bipkeeperctl (${names.join('|')}|${imports})(?![\\w-])`, 'g')
}

interface ToolPlace {
  readonly socket?: string | undefined
  readonly stateDir?: string | undefined
  readonly startedAs?: StartedAs | undefined
  readonly toolIsHere?: boolean | undefined
}

/** Requests by hand that reach it. */
const requestLines = (text: string, socket: string = defaultPaths.socket): string =>
  text.replaceAll(`--unix-socket ${defaultPaths.socket} `, () => `--unix-socket ${shellWord(socket)} `)

/** Calls of ipkeeperctl that reach a daemon which is not where they would look, or is in a pod with the only ipkeeperctl. */
export function toolLines(written: string, { socket, stateDir, startedAs, toolIsHere }: ToolPlace): string {
  const words = {
    socket: socket === undefined || socket === defaultPaths.socket ? '' : ` --socket ${shellWord(socket)}`,
    state:
      stateDir === undefined || stateDir === defaultPaths.stateDir
        ? ''
        : ` --state-dir ${shellWord(stateDir)}`,
  }
  const pod = startedAs?.service === 'pod' && toolIsHere !== true ? startedAs : undefined
  if (`${words.socket}${words.state}` === '' && !pod) return written
  const text = requestLines(written, socket)
  return text.replace(callPattern(), (whole: string, name: string, at: number) => {
    const [rest = ''] = text.slice(at + whole.length).split(/[;,()|\n]|\bipkeeperctl\b/)
    const of = toolPlaces[name] ?? 'socket'
    const needed = [
      of !== 'state' && !/ --socket\b/.test(rest) ? words.socket : '',
      of !== 'socket' && !/ --state-dir\b/.test(rest) ? words.state : '',
    ]
    const before = text.slice(0, at)
    const isInPod = !pod || withoutDaemon.includes(name) || before.endsWith(' -- ')
    // Who has restarted the daemon by then has deleted its pod.
    const prefix = isInPod
      ? ''
      : execInPod(/start ipkeeper\b/.test(before) ? { ...pod, pod: undefined } : pod)
    return `${prefix}${whole}${needed.join('')}`
  })
}
