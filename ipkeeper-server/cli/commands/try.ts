import { resolve } from 'node:path'
import type { AttachmentsReply, LeasesReply } from '../../../shared/api/listing.schema.ts'
import { interfaceNameFault } from '../../../shared/cni/identifiers.ts'
import { parseAddress } from '../../../shared/net/address.ts'
import { parseCidr } from '../../../shared/net/cidr.ts'
import { defaultPaths } from '../../../shared/paths.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { runtimeBinDirs } from '../../conf-dir/runtime-bin-dirs.ts'
import { chooseConflist, readNetwork } from '../../diagnose/try/read-network.ts'
import { namedSocket } from '../../diagnose/try/plugin-call.ts'
import type { TryReport } from '../../diagnose/try/report.ts'
import { tryNetwork } from '../../diagnose/try/try-network.ts'
import { command, type ReadCall } from '../framework/command.ts'
import { connectDaemon, type DaemonClient } from '../framework/daemon-client.ts'
import { readTextFile } from '../framework/read-input.ts'
import { outcomeText, tellText } from './try-text.ts'

const usage = (message: string): Problem => new Problem('IPK_USAGE', message)

function readIps(text: string | undefined): readonly string[] {
  const ips = (text ?? '').split(',').filter(part => part !== '')
  for (const ip of ips) {
    if (!parseAddress(ip) && !parseCidr(ip)) throw usage(`--ip ${JSON.stringify(ip)} is no address`)
  }
  return ips
}

/** Several stand in one option, line by line or after commas; a comma within a value is told by what follows it. */
function readAnnotations(text: string | undefined): Record<string, string> {
  const annotations: Record<string, string> = {}
  const parts = (text ?? '').split(/\n|,(?=[^,=\n]*\/[^,=\n]*=)/).filter(part => part !== '')
  for (const part of parts) {
    const [, key, value] = /^([^=\s]+)=(.*)$/.exec(part) ?? []
    if (key === undefined || value === undefined) throw usage(`--annotation "${part}" is not KEY=VALUE`)
    annotations[key] = value
  }
  return annotations
}

const podPart = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

function readPod(text: string | undefined): { namespace: string; name: string } | undefined {
  if (text === undefined) return undefined
  const [namespace = '', name = '', ...more] = text.split('/')
  if (!podPart.test(namespace) || !podPart.test(name) || more.length > 0)
    throw usage(`--pod "${text}" is not NAMESPACE/NAME`)
  return { namespace, name }
}

function readSeconds(text: string | undefined): number {
  if (text === undefined) return 60
  const seconds = Number(text)
  if (!/^[0-9]+(\.[0-9]+)?$/.test(text) || seconds <= 0 || seconds > 3600)
    throw usage(`--timeout ${text} is not a number of seconds up to 3600`)
  return seconds
}

function readIfname(text = 'eth0'): string {
  const fault = interfaceNameFault(text)
  if (fault) throw usage(`--ifname "${text}": ${fault.message}`)
  return text
}

function readBinDirs(text: string): readonly string[] {
  const folders = text.split(':').filter(folder => folder !== '')
  if (folders.length === 0) throw usage('--bin-dir is empty')
  return folders.map(folder => resolve(folder))
}

async function readConflistPath({ positionals, options }: ReadCall): Promise<string> {
  const [path] = positionals
  if (path === '') throw usage('CONFLIST is empty')
  return path === undefined ? await chooseConflist(options['net-dir'] ?? defaultPaths.confDir) : resolve(path)
}

/** What the daemon still has of a container; undefined where it cannot be asked. */
async function leftAt(daemon: DaemonClient, containerId: string): Promise<readonly string[] | undefined> {
  try {
    const { attachments } = (await daemon.ask('GET', '/v1/attachments')) as AttachmentsReply
    const { leases } = (await daemon.ask('GET', '/v1/leases')) as LeasesReply
    return [
      ...attachments
        .filter(attachment => attachment.containerId === containerId)
        .map(({ network, ifname }) => `the attachment of ${ifname} to ${network}`),
      ...leases
        .filter(lease => lease.containerId === containerId && lease.state === 'bound')
        .map(({ address }) => `the lease of ${address}`),
    ]
  } catch {
    return undefined
  }
}

export const tryCommand = command({
  name: 'try',
  arguments: [
    {
      ...{ name: 'CONFLIST', optional: true, offers: 'file' },
      text: 'conflist to try (default: the one that the runtime loads)',
    },
  ],
  summary: "Run a conflist's plugins for a simulated pod, and explain each step",
  options: {
    'net-dir': {
      value: 'DIR',
      text: `folder in which CONFLIST is found (default: ${defaultPaths.confDir})`,
      offers: 'folder',
    },
    'bin-dir': {
      value: 'DIRS',
      text: `plugin folders, joined by ":" (default: $CNI_PATH, else those of the runtime's configuration)`,
      offers: 'folder',
    },
    ip: { value: 'ADDRESS', text: 'request this address, or several separated by commas' },
    annotation: { value: 'KV', text: 'annotation of the pod, KEY=VALUE, or several separated by commas' },
    pod: { value: 'NS/NAME', text: 'name of the pod (default: one in namespace ipkeeper-try)' },
    ifname: { value: 'NAME', text: 'interface of the pod (default: eth0)' },
    timeout: { value: 'S', text: 'timeout for each plugin run, in seconds (default: 60)' },
    'state-dir': {
      value: 'DIR',
      text: `folder for cleanup records, used after a crash (default: $IPKEEPER_STATE_DIR, else ${defaultPaths.stateDir})`,
      offers: 'folder',
    },
    'no-check': { text: 'skip CHECK' },
    'no-ping': { text: 'skip the ping' },
  },
  examples: [
    { line: 'ipkeeperctl try', does: 'Try the network that the runtime loads' },
    {
      line: 'ipkeeperctl try /etc/cni/net.d/10-fixed.conflist --ip 10.22.0.50',
      does: 'Try one file, and request an address',
    },
    {
      line: 'ipkeeperctl try --pod shop/web-0 --annotation ipkeeper.io/ip=10.22.0.50',
      does: 'Try it as a pod with this name and annotation',
    },
  ],
  exits: { 0: 'the network works', 1: 'it does not' },
  exitCode: ({ ok }) => (ok ? 0 : 1),
  run: async (daemon, args, terminal, tell): Promise<TryReport> => {
    const { options, flags } = args
    const { env } = terminal
    const asked = {
      binDirs: readBinDirs(options['bin-dir'] ?? (env['CNI_PATH'] || runtimeBinDirs().join(':'))),
      ips: readIps(options['ip']),
      annotations: readAnnotations(options['annotation']),
      pod: readPod(options['pod']),
      ifname: readIfname(options['ifname']),
      timeoutMs: readSeconds(options['timeout']) * 1000,
      check: !flags.has('no-check'),
      ping: !flags.has('no-ping'),
      stateDir: resolve(options['state-dir'] ?? (env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir)),
    }
    const conflist = await readConflistPath(args)
    const network = readNetwork(conflist, readTextFile(conflist))
    if (process.getuid?.() !== 0)
      throw new Problem('IPK_TRY_REFUSED', 'only root can create network namespaces and run plugins')
    const socket = namedSocket(network)
    const named = socket === undefined ? undefined : connectDaemon(socket)
    const report = tryNetwork(
      { conflist, network, ...asked },
      {
        env,
        interruption: terminal.interruption?.() ?? new AbortController().signal,
        tell: told => {
          tell(tellText(told))
        },
        leftAtDaemon: containerId => leftAt(named ?? daemon, containerId),
        now: Date.now,
      },
    )
    return await report.finally(() => named?.close())
  },
  print: outcomeText,
})
