/** How a daemon runs that systemd has not started. */
export type StartedAs =
  | { readonly service: 'pod'; readonly namespace: string; readonly node: string }
  | { readonly service: 'container' }

type Verb = 'restart' | 'start' | 'reload-or-restart' | 'stop' | 'disable --now' | 'cat' | 'status'

const label = 'app.kubernetes.io/name=ipkeeper'
const selector = `--selector ${label}`

const ofPod: Readonly<Record<Verb | 'log', (namespace: string, node: string) => string>> = {
  restart: (namespace, node) =>
    `kubectl --namespace ${namespace} delete pod ${selector} --field-selector spec.nodeName=${node}`,
  start: (namespace, node) => ofPod.restart(namespace, node),
  'reload-or-restart': (namespace, node) => ofPod.restart(namespace, node),
  stop: () => 'keep the DaemonSet off this node, which ends the pod of its daemon',
  'disable --now': () => 'keep the DaemonSet off that node, which ends the pod of its daemon',
  cat: namespace => `kubectl --namespace ${namespace} get daemonset ipkeeper --output yaml`,
  status: (namespace, node) =>
    `kubectl --namespace ${namespace} get pods ${selector} --field-selector spec.nodeName=${node}`,
  log: namespace => `kubectl --namespace ${namespace} logs ${selector} --prefix --tail 100`,
}

/** What stands before a call of ipkeeperctl that the pod of this node is to make: nodes have no ipkeeperctl then. */
export const inPod = ({ namespace, node }: Extract<StartedAs, { service: 'pod' }>): string =>
  `kubectl -n ${namespace} exec $(kubectl -n ${namespace} get pod -l ${label} --field-selector spec.nodeName=${node} -o name) -- `

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
    startedAs.service === 'container'
      ? ofContainer[verb ?? 'log']
      : ofPod[verb ?? 'log'](startedAs.namespace, startedAs.node),
  )
}

const name = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/** What a daemon has noted in its state folder of how it runs; undefined for what no daemon writes. */
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
