import {
  importSources,
  mostAllocations,
  type FoundAllocation,
  type ImportItem,
  type ImportReply,
  type ImportRequest,
  type ImportSource,
  type ImportVerdict,
} from '../../../shared/api/import.schema.ts'
import { defaultPaths, resultCacheFolders } from '../../../shared/paths.ts'
import type { JsonObject } from '../../../shared/json/fold.ts'
import { textIn } from '../../../shared/json/object-fields.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { visible } from '../../../shared/text/visible.ts'
import { readNetworks } from '../../conf-dir/read-conf-dir.ts'
import { findHostLocal } from '../../migrate/import/host-local.ts'
import { listObjects } from '../../migrate/import/list-objects.ts'
import { readObject } from '../../migrate/import/plan/read-object.ts'
import { probeRuntimes } from '../../migrate/import/probe-runtimes.ts'
import { completeFindings, type Findings, type Unreadable } from '../../migrate/import/plan/findings.ts'
import { givenRanges, networkRanges, type NetworkRanges } from '../../migrate/import/plan/network-ranges.ts'
import {
  kubectlNames,
  type ObjectSource,
  type ObjectSourceName,
  objectSources,
} from '../../migrate/import/plan/object-sources.ts'
import { command, type CtlCommand, type ReadCall, type Option } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { showProgress } from '../framework/progress.ts'
import { readObjectList } from '../manifests/manifest-source.ts'
import { importLine, nextAfterImport, type ImportOutcome } from './import-next.ts'
import { segmentOption } from '../framework/options.ts'
import { formatTable } from '../framework/terminal-text.ts'
import type { Terminal } from '../framework/terminal.ts'

/** Milliseconds that the daemon may take for one part: each sandbox is a durable write, and an engine may be slow. */
const partDeadline = 120_000

const commonOptions: Readonly<Record<string, Option>> = {
  apply: { text: 'adopt the allocations (default: only show what would happen to each)' },
  network: {
    value: 'NAME',
    text: 'only allocations of this network, and those whose network is not known',
    offers: 'network',
  },
  subnet: { value: 'CIDR[,CIDR]', text: 'ranges of --network, if no network configuration has them' },
  segment: segmentOption,
  retain: {
    value: 'HOW',
    text: 'release, while-owner-exists, forever or a duration such as 30m (default: that of the pool)',
    offers: ['release', 'while-owner-exists', 'forever'],
  },
  'net-dir': {
    value: 'DIR',
    text: `the runtime's folder of network configurations (default: ${defaultPaths.confDir})`,
    offers: 'folder',
  },
  'results-dir': {
    value: 'DIR',
    text: `libcni's result cache (default: ${resultCacheFolders.results.join(', ')})`,
    offers: 'folder',
  },
  runtime: {
    value: 'SOCKET',
    text: "CRI socket of the container runtime (default: containerd's and CRI-O's)",
    offers: 'file',
  },
}

const about: readonly string[] = [
  'Shows what would happen to each allocation, and changes nothing. With --apply, adopts those that can be: they are in the ledger as if ipkeeper had assigned them, and a DEL of their container releases them. The source is not changed, and no container is touched. It is safe to run it again: allocations that are already adopted are skipped.',
  'adopt: free, and can be adopted. ours: already in the ledger. conflict: another holder has it, or two allocations claim it. unfit: no pool has the address. gone: its container no longer exists. elsewhere: it belongs to another node; run the import there. unreadable: its owner cannot be determined.',
]

interface ImportReport extends ImportOutcome {
  readonly source: ImportSource
  readonly node: string | null
  /** What to do, for people. */
  readonly next: string
  readonly items: readonly ImportItem[]
  readonly unreadable: readonly Unreadable[]
}

/** How much a person has to look at it: what needs a decision comes last, next to the prompt. */
const order: readonly ImportVerdict[] = ['elsewhere', 'gone', 'ours', 'adopt', 'unfit', 'conflict']

function readWords(text: string | undefined): readonly string[] | undefined {
  return text?.split(',').map(part => part.trim())
}

/** Configurations that have the ranges of networks: those of the runtime's folder, or the ones given by hand. */
function configsOf({ configs }: NetworkRanges, { options }: ReadCall): ImportRequest['networks'] {
  const { network, subnet, segment = 'default' } = options
  if (subnet === undefined) return configs.map(config => ({ ...config }))
  if (network === undefined)
    throw new Problem('IPK_USAGE', '--subnet needs --network NAME: ranges of which network?')
  return [{ ...givenRanges(network, readWords(subnet) ?? [], segment) }]
}

/** What a request has of an allocation; in the order of addresses, so that two claims of one meet in one request. */
function inParts(found: readonly FoundAllocation[]): FoundAllocation[][] {
  const sorted = [...found].sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0))
  const parts: FoundAllocation[][] = []
  for (const one of sorted) {
    const last = parts.at(-1)
    if (last && (last.length < mostAllocations - 16 || last.at(-1)?.address === one.address)) last.push(one)
    else parts.push([one])
  }
  return parts
}

interface Found {
  readonly found: readonly FoundAllocation[]
  readonly unreadable: readonly Unreadable[]
  readonly networks: ImportRequest['networks']
}

/** Reads source and node; nothing is changed by it. */
async function look(
  args: ReadCall,
  terminal: Terminal,
  find: (ranges: NetworkRanges) => Promise<Findings>,
): Promise<Found> {
  const { options } = args
  const ranges = networkRanges(await readNetworks(options['net-dir'] ?? defaultPaths.confDir))
  const networks = configsOf(ranges, args)
  const told = await find(ranges)
  const folders = options['results-dir'] === undefined ? resultCacheFolders.results : [options['results-dir']]
  const progress = showProgress(terminal, 'reading', { what: 'cached results' })
  const sockets = readWords(options['runtime'])
  const knowledge = await probeRuntimes(folders, sockets, progress.at).finally(progress.end)
  for (const answer of knowledge.runtimes) {
    if (answer.state === 'failed')
      terminal.err(`note: cannot list the containers of runtime ${answer.socket}: ${answer.reason}\n`)
  }
  return { ...completeFindings(told, knowledge, { network: options['network'] }), networks }
}

/** Hands what was found to the daemon, part by part. */
async function run(
  source: ImportSource,
  daemon: DaemonClient,
  args: ReadCall,
  terminal: Terminal,
  find: (ranges: NetworkRanges) => Promise<Findings>,
): Promise<ImportReport> {
  const { segment, retain } = args.options
  const apply = args.flags.has('apply')
  const interruption = apply ? terminal.interruption?.() : undefined
  const { found, unreadable, networks } = await look(args, terminal, find)
  const items: ImportItem[] = []
  let node: string | null = null
  const progress = showProgress(terminal, apply ? 'importing' : 'comparing', {
    ...{ what: 'allocations', total: found.length },
  })
  for (const part of inParts(found)) {
    if (interruption?.aborted) break
    progress.at(items.length)
    const request: ImportRequest = {
      ...{ source, apply, networks, found: part },
      ...(segment !== undefined && { segment }),
      ...(retain !== undefined && { retain }),
    }
    const reply = (await daemon.ask('POST', '/v1/import', request, partDeadline).catch((error: unknown) => {
      progress.end()
      throw error
    })) as ImportReply
    node = reply.node
    items.push(...reply.items)
  }
  progress.end()
  const count = (verdict: ImportVerdict): [ImportVerdict, number] => [
    verdict,
    items.filter(item => item.verdict === verdict).length,
  ]
  const outcome: ImportOutcome = {
    ...{ applied: apply, interrupted: interruption?.aborted === true },
    counts: {
      ...(Object.fromEntries(order.map(count)) as Record<ImportVerdict, number>),
      unreadable: unreadable.length,
    },
  }
  return {
    ...{ source, node, ...outcome, next: nextAfterImport(outcome, importLine(source, args)) },
    items,
    unreadable,
  }
}

const whose = ({ pod, containerId, network }: ImportItem): string =>
  `${network ?? '?'}: ${pod ? `${pod.namespace}/${pod.name}` : (containerId ?? '-').slice(0, 13)}`

function summary({ counts, applied, next, unreadable }: ImportReport): string {
  const { adopt, ours, conflict, unfit, gone, elsewhere } = counts
  const parts = [
    `${adopt} ${applied ? 'adopted' : 'to adopt'}`,
    `${ours} ours already`,
    `${conflict} in conflict`,
    `${unfit} unfit`,
    `${gone} gone`,
    ...(elsewhere > 0 ? [`${elsewhere} of other nodes`] : []),
    ...(unreadable.length > 0 ? [`${unreadable.length} unreadable`] : []),
  ]
  return `${parts.join(', ')}\n${next}\n`
}

function print(report: ImportReport): string {
  const rows = [...report.items]
    .sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict))
    .map(item => [
      report.applied && item.verdict === 'adopt' ? 'adopted' : item.verdict,
      visible(item.address),
      visible(whose(item)),
      item.pool ?? '-',
      visible(item.hint === '' ? item.reason : `${item.reason}; ${item.hint}`),
    ])
  const bad = report.unreadable.map(({ address, origin, why }) => [
    'unreadable',
    address ?? '-',
    '-',
    '-',
    visible(`${origin}: ${why}`),
  ])
  return `${formatTable(['WHAT', 'ADDRESS', 'WHOSE', 'POOL', 'WHY'], [...bad, ...rows], 'no allocations found')}\n${summary(report)}`
}

const exits = { 0: 'no conflicts', 1: 'an allocation conflicts or fits no pool, or the import failed' }

const needsPerson = ({ counts, interrupted }: ImportReport): 0 | 1 =>
  counts.conflict > 0 || counts.unfit > 0 || interrupted ? 1 : 0

const [folder] = resultCacheFolders.hostLocal

const hostLocalCommand = command<ImportReport>({
  name: 'import host-local',
  arguments: [],
  summary: "Adopt host-local's allocations on this node, without touching a container",
  about,
  options: {
    dir: {
      value: 'DIR',
      text: `data folder of host-local, with a subfolder for each network (default: ${folder})`,
      offers: 'folder',
    },
    ...commonOptions,
  },
  examples: [
    { line: 'ipkeeperctl import host-local', does: 'Show what would be adopted, and what conflicts' },
    { line: 'ipkeeperctl import host-local --apply', does: 'Adopt the allocations' },
    {
      line: 'ipkeeperctl import host-local --network cbr0 --subnet 10.244.1.0/24',
      does: 'Give the ranges by hand if no network configuration has them, as with flannel',
    },
  ],
  exits,
  run: async (daemon, args, terminal) =>
    await run('host-local', daemon, args, terminal, async ({ dataDirs }) => {
      const progress = showProgress(terminal, 'reading', { what: 'reservations' })
      const { dir, network } = args.options
      const root = { path: dir ?? folder, mustExist: dir !== undefined }
      return await findHostLocal(root, dataDirs, network, progress.at).finally(progress.end)
    }),
  exitCode: needsPerson,
  print,
})

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))

/** "Pod", or "IPPool.crd.projectcalico.org": the IPPools of several products have only their kind in common. */
function kindOf(object: JsonObject): string {
  const group = groupOf(textIn(object, 'apiVersion'))
  return `${textIn(object, 'kind') || 'what has no kind'}${group === '' ? '' : `.${group}`}`
}

/** @throws IPK_USAGE where a file has other objects alone, such as a list of pods: nothing of it would be adopted without a word */
function ofSource(source: ObjectSource, objects: readonly JsonObject[], file: string): readonly JsonObject[] {
  const kinds = new Set(objects.map(kindOf))
  const { resources } = source
  const isWanted = resources.some(({ kind, apiVersions }) =>
    apiVersions.some(version => kinds.has(`${kind}.${groupOf(version)}`)),
  )
  if (kinds.size === 0 || isWanted) return objects
  throw new Problem(
    'IPK_USAGE',
    `${file} has no ${resources.map(({ kind }) => kind).join(' or ')}, but ${[...kinds].sort().join(', ')}`,
    {
      hint: `kubectl get ${kubectlNames(source)} -A -o json > FILE`,
    },
  )
}

const summaries: Readonly<Record<ObjectSourceName, string>> = {
  whereabouts: "Adopt allocations of this node's containers from the IPPools of whereabouts",
  calico: "Adopt allocations of this node's pods from the IPAM blocks of calico",
  'kube-ovn': "Adopt allocations of this node's pods from the IP objects of kube-ovn",
  'crd-ipkeeper': "Adopt allocations of this node's pods from the StaticIPs of crd-ipkeeper",
}

function objectCommand(name: ObjectSourceName): CtlCommand {
  const source = objectSources[name]
  return command<ImportReport>({
    name: `import ${name}`,
    arguments: [],
    summary: summaries[name],
    about: [...about, `To write a file for --file: kubectl get ${kubectlNames(source)} -A -o json`],
    options: {
      file: {
        value: 'FILE',
        text: 'output of kubectl with -o json or -o yaml; "-" is standard input',
        offers: 'file',
      },
      kubeconfig: {
        value: 'FILE',
        text: 'kubeconfig for the Kubernetes API (default: the service account, in a pod)',
        offers: 'file',
      },
      context: { value: 'NAME', text: 'context in --kubeconfig (default: its current one)' },
      ...commonOptions,
    },
    examples: [
      {
        line: `ipkeeperctl import ${name} --kubeconfig admin.conf`,
        does: 'Show what would be adopted, and what conflicts',
      },
      {
        line: `ipkeeperctl import ${name} --file list.json --apply`,
        does: 'Adopt from a file, if this node cannot read such objects itself',
      },
    ],
    exits,
    run: async (daemon, args, terminal) =>
      await run(name, daemon, args, terminal, async () => {
        const { file, kubeconfig, context } = args.options
        if (file !== undefined && kubeconfig !== undefined)
          throw new Problem('IPK_USAGE', 'either --file FILE or --kubeconfig FILE, not both')
        const objects =
          file === undefined
            ? await listObjects(source, { env: terminal.env, kubeconfig, context })
            : ofSource(source, readObjectList(file), file)
        return source.read(objects.map(readObject))
      }),
    exitCode: needsPerson,
    print,
  })
}

export const importCommands: readonly CtlCommand[] = importSources.map(source =>
  source === 'host-local' ? hostLocalCommand : objectCommand(source),
)
