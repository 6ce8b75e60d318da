import type { Advice, Captures } from './text-group.ts'

/** Commands that mend or tell more; words in capitals are for the person to fill in. */

const advice = (does: string, ...argv: readonly string[]): Advice => ({ argv, does })

export const restartDaemon = advice(
  'starts the daemon, which recreates its socket',
  'systemctl',
  'restart',
  'ipkeeper',
)
export const showStatus = advice('says whether the daemon answers', 'ipkeeperctl', 'status')
export const awaitedNodes = advice('shows which nodes the store waits for', 'ipkeeperctl', 'status')
export const nodes = advice('shows how the nodes of the store are', 'ipkeeperctl', 'nodes')
export const doctor = advice('checks everything that pods of this node need', 'ipkeeperctl', 'doctor')
export const rescue = advice(
  "writes the ledger from the daemon's memory to a new file",
  'ipkeeperctl',
  'rescue',
)
export const pools = advice('shows how full each pool is', 'ipkeeperctl', 'pools')
export const leases = advice('shows who has which address', 'ipkeeperctl', 'leases')
export const reservations = advice(
  'shows which addresses are reserved for whom',
  'ipkeeperctl',
  'reservations',
)
export const attachments = advice('shows which sandboxes the daemon knows', 'ipkeeperctl', 'attachments')
export const uplinks = advice('shows the uplinks of bridges', 'ipkeeperctl', 'uplinks')
export const audit = advice('compares leases, runtime, kernel and API', 'ipkeeperctl', 'audit')
export const lintAll = advice('shows which line has an error', 'ipkeeperctl', 'lint')
export const tryConflist = advice(
  'runs ADD, CHECK and DEL of the network and shows what each plugin says',
  'ipkeeperctl',
  'try',
)
export const cacheScan = advice('lists broken files in the result cache', 'ipkeeperctl', 'cache', 'scan')
export const cacheRepair = advice('rewrites them, or moves them aside', 'ipkeeperctl', 'cache', 'repair')
export const cacheRepairOthers = advice(
  "also moves files of other plugins' networks aside",
  'ipkeeperctl',
  'cache',
  'repair',
  '--others',
)
export const links = advice('shows the links of the node', 'ip', '-d', 'link')
export const checkConfiguration = advice(
  "checks the daemon's configuration",
  'ipkeeper-server',
  'check-config',
)
export const freeSpace = advice('shows whether the disk is full', 'df', '-h', '/var/lib/ipkeeper')
export const daemonLog = advice("shows the daemon's log", 'journalctl', '-u', 'ipkeeper', '-n', '100')
export const restartRuntime = advice(
  'makes containerd reload its network configuration',
  'systemctl',
  'restart',
  'containerd',
)
export const conflists = advice('shows which files the runtime may read', 'ls', '-la', '/etc/cni/net.d')

/** What was asked of the plugin and what it printed, of this sandbox where one is named. */
export function flights({ containerId, pod }: Captures): Advice {
  const which =
    containerId !== undefined
      ? ['--container', containerId]
      : pod !== undefined
        ? ['--pod', pod]
        : ['--failed']
  return advice('shows what ipkeeper was asked and what it printed', 'ipkeeperctl', 'flights', ...which)
}

export const who = ({ address = 'ADDRESS' }: Captures): Advice =>
  advice('shows everything known about the address', 'ipkeeperctl', 'who', address)

export const history = ({ address = 'ADDRESS' }: Captures): Advice =>
  advice('shows who had the address, and when', 'ipkeeperctl', 'history', address)

export const explain = ({ pod = 'NAMESPACE/POD' }: Captures): Advice =>
  advice('shows what the pod would get, and why', 'ipkeeperctl', 'explain', pod)

export const ofPod = ({ pod = 'NAMESPACE/POD' }: Captures): Advice =>
  advice('shows everything known about the pod', 'ipkeeperctl', 'doctor', '--pod', pod)

export const lintFile = ({ path }: Captures): Advice =>
  path === undefined ? lintAll : advice('shows which line has an error', 'ipkeeperctl', 'lint', path)

export const stopSandbox = ({ containerId = 'SANDBOX_ID' }: Captures): Advice =>
  advice('stops the old sandbox; run it on its node', 'crictl', 'stopp', containerId)

export const removeSandbox = ({ containerId = 'SANDBOX_ID' }: Captures): Advice =>
  advice('removes it and releases its name', 'crictl', 'rmp', containerId)

export function deletePod({ pod }: Captures): Advice {
  const [namespace = 'NAMESPACE', name = 'POD'] = pod?.split('/') ?? []
  return advice(
    'deletes the pod, so that it is recreated',
    'kubectl',
    '--namespace',
    namespace,
    'delete',
    'pod',
    name,
  )
}

export const pluginFile = ({ plugin = 'PLUGIN' }: Captures): Advice =>
  advice('shows where the plugin is', 'ls', '-l', `/opt/cni/bin/${plugin}`, `/usr/lib/cni/${plugin}`)

export const runtimeLog = advice(
  'shows what else the runtime says',
  'journalctl',
  '-u',
  'containerd',
  '-n',
  '200',
)
