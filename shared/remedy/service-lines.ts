import { shellWord } from '../text/shell-word.ts'

/** How a daemon runs that systemd has not started. */
export type StartedAs =
  | {
      readonly service: 'pod'
      readonly namespace: string
      readonly node: string
      /** The name of the pod, for as long as it is there; undefined: not known. */
      readonly pod?: string | undefined
    }
  | { readonly service: 'container' }

type Verb = 'restart' | 'start' | 'reload-or-restart' | 'stop' | 'disable --now' | 'cat' | 'status'
type InPod = Extract<StartedAs, { service: 'pod' }>

const label = 'app.kubernetes.io/name=ipkeeper'

/** A copy of the pod of this node, for what needs a daemon that does not run; its name says of which node, since it writes there. */
const offlinePod = ({ node }: InPod): string => `ipkeeper-offline-${node}`
const isOffline = (one: InPod): boolean => one.pod === offlinePod(one)

/** The name of the pod that the daemon runs in; undefined: not known. */
const daemonPod = (one: InPod): string | undefined => (isOffline(one) ? undefined : one.pod)

/** Words of kubectl for that pod. */
function podOf(one: InPod): string {
  const pod = daemonPod(one)
  return pod === undefined
    ? `-l ${label} --field-selector ${shellWord(`spec.nodeName=${one.node}`)}`
    : shellWord(pod)
}

const kubectl = ({ namespace }: InPod, words: string): string => `kubectl -n ${shellWord(namespace)} ${words}`

/** The same as one word. */
const podWord = (one: InPod): string =>
  daemonPod(one) === undefined ? `$(${kubectl(one, `get pod ${podOf(one)} -o name`)})` : podOf(one)

/** The DaemonSet keeps off nodes that have "off" for this label. */
const switchLabel = 'ipkeeper.io/daemon'

const recreate = (one: InPod): string =>
  isOffline(one)
    ? `kubectl label node ${shellWord(one.node)} ${switchLabel}-`
    : kubectl(one, `delete pod ${podOf(one)}`)

const ofPod: Readonly<Record<Verb | 'log', (one: InPod) => string>> = {
  restart: recreate,
  start: recreate,
  'reload-or-restart': recreate,
  stop: ({ node }) => `kubectl label node ${shellWord(node)} ${switchLabel}=off`,
  // Of another node.
  'disable --now': () => `kubectl label node NODE ${switchLabel}=off`,
  cat: one => kubectl(one, 'get daemonset ipkeeper -o yaml'),
  status: one => kubectl(one, `get pod ${podOf(one)}`),
  // By a label the logs of all nodes, which name theirs in each line: kubectl finds none by its node.
  log: one =>
    kubectl(one, `logs ${daemonPod(one) === undefined ? `-l ${label} --prefix` : podOf(one)} --tail 100`),
}

/**
 * What stands before a call of ipkeeperctl that the pod of this node is to make: nodes have no ipkeeperctl then.
 *
 * @param options of "kubectl exec", each with a space behind it
 */
export const execInPod = (one: InPod, options: string): string =>
  kubectl(one, `exec ${options}${podWord(one)} -- `)

/** The same for a call that needs a daemon that does not run: in a copy of the pod, which the first one of a text makes. */
export function execOffline(one: InPod, { isFirst }: { readonly isFirst: boolean }): string {
  const name = offlinePod(one)
  const pod = shellWord(name)
  const exec = kubectl(one, `exec ${pod} -- `)
  if (!isFirst || isOffline(one)) return exec
  const made = kubectl(
    one,
    `debug ${podWord(one)} --copy-to=${pod} --same-node -c ipkeeper -- sleep infinity`,
  )
  const ready = kubectl(one, `wait --for=condition=Ready ${shellWord(`pod/${name}`)} --timeout=60s`)
  return `${made} && ${ready} && ${exec}`
}

const ofContainer: Readonly<Record<Verb | 'log', string>> = {
  restart: 'restart the container of ipkeeper-server',
  start: 'start the container of ipkeeper-server',
  'reload-or-restart': 'restart the container of ipkeeper-server',
  stop: 'stop the container of ipkeeper-server',
  'disable --now': 'stop the container of ipkeeper-server for good',
  cat: 'look at how the container of ipkeeper-server is started',
  status: 'see whether the container of ipkeeper-server runs',
  log: 'look at the log of the container of ipkeeper-server',
}

const line =
  /\bsystemctl (restart|start|reload-or-restart|stop|disable --now|cat|status) ipkeeper\b|\bjournalctl -u ipkeeper\b( -n \d+)?/g

/** What is said of the unit of systemd, as it is done where the daemon is not one. */
export function serviceLines(
  text: string,
  { startedAs }: { readonly startedAs?: StartedAs | undefined },
): string {
  if (!startedAs) return text
  return text.replace(line, (_whole, verb: Verb | undefined) =>
    startedAs.service === 'container' ? ofContainer[verb ?? 'log'] : ofPod[verb ?? 'log'](startedAs),
  )
}

const name = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/** What a daemon has noted of how it runs; undefined for what no daemon writes. */
export function readStartedAs(text: string): StartedAs | undefined {
  let noted: unknown
  try {
    noted = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof noted !== 'object' || noted === null) return undefined
  const { service, namespace, node } = noted as Partial<Record<string, unknown>>
  if (service === 'container') return { service }
  const isName = (word: unknown): word is string => typeof word === 'string' && name.test(word)
  return service === 'pod' && isName(namespace) && isName(node) ? { service, namespace, node } : undefined
}
