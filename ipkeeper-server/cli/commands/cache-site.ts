import type { CachedResultReply, CacheReply } from '../../../shared/api/cache.schema.ts'
import type { AttachmentsReply } from '../../../shared/api/listing.schema.ts'
import { defaultPaths, resultCacheFolders } from '../../../shared/paths.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { readNetworks } from '../../conf-dir/read-conf-dir.ts'
import { idsIfAllListed } from '../../runtime/sandboxes.ts'
import { foldersOf, type CacheFolder } from '../../result-cache/list-cache-files.ts'
import {
  type CacheKnowledge,
  type KnownAttachment,
  resultFileName,
} from '../../result-cache/plan/judge-file.ts'
import { knownNetworks } from '../../result-cache/plan/cached-result.ts'
import { readBoot } from '../../host/boot.ts'
import { SocketRuntimes } from '../../runtime/socket-runtimes.ts'
import type { ReadCall, Option } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import type { Terminal } from '../framework/terminal.ts'

/** What is known of this node's result caches, from the daemon where it answers, and from files. */
export interface CacheSite {
  readonly folders: readonly CacheFolder[]
  readonly stateDir: string
  readonly bootId: string
  /** Of this moment. */
  readonly known: () => CacheKnowledge
  /** What libcni would have written for an attachment; undefined when the daemon cannot say, or is away. */
  readonly cachedResult: (key: Omit<KnownAttachment, 'busy'>) => Promise<string | undefined>
}

export const siteOptions = {
  'net-dir': {
    value: 'DIR',
    offers: 'folder',
    text: `the runtime's folder of network configurations (default: ${defaultPaths.confDir})`,
  },
  'state-dir': {
    value: 'DIR',
    offers: 'folder',
    text: `folder with the quarantine (default: $IPKEEPER_STATE_DIR, the daemon's, ${defaultPaths.stateDir})`,
  },
} as const satisfies Readonly<Record<string, Option>>

const away =
  'note: no daemon answers, so its sandboxes are not known: bad files are moved aside, and none is rewritten\n'

/** Milliseconds that a file has to be old before its sandbox counts as gone because the runtimes omit it. */
const orphanAge = 5 * 60_000

/** IDs of the sandboxes that the runtimes of this node list, where all of them could be asked. */
async function askRuntimes(): Promise<ReadonlySet<string> | undefined> {
  const runtimes = new SocketRuntimes(undefined)
  try {
    return idsIfAllListed(await runtimes.list())
  } finally {
    runtimes.close()
  }
}

interface FromDaemon {
  readonly cache: CacheReply
  readonly attachments: AttachmentsReply
}

async function askDaemon(daemon: DaemonClient): Promise<FromDaemon | undefined> {
  try {
    return {
      cache: (await daemon.ask('GET', '/v1/cache')) as CacheReply,
      attachments: (await daemon.ask('GET', '/v1/attachments')) as AttachmentsReply,
    }
  } catch (error) {
    if (error instanceof Problem && error.code === 'IPK_DAEMON_UNREACHABLE') return undefined
    throw error
  }
}

/** The state folder that is meant. `ofDaemon`: what the daemon calls its own. */
function chooseStateDir({ options }: ReadCall, terminal: Terminal, ofDaemon: string | undefined): string {
  return options['state-dir'] ?? (terminal.env['IPKEEPER_STATE_DIR'] || (ofDaemon ?? defaultPaths.stateDir))
}

/** Asks the daemon, where it answers, and looks at the networks and the boot of this node. */
export async function lookAtSite(
  daemon: DaemonClient,
  args: ReadCall,
  terminal: Terminal,
): Promise<CacheSite> {
  const told = await askDaemon(daemon)
  if (!told) terminal.err(away)
  const sandboxes = await askRuntimes()
  const boot = readBoot()
  const networks = knownNetworks(await readNetworks(args.options['net-dir'] ?? defaultPaths.confDir))
  const attachments = new Map<string, KnownAttachment | 'several'>()
  const [containers, names, own] = [new Set<string>(), new Set(networks.keys()), new Set<string>()]
  for (const { network, containerId, ifname } of told?.attachments.attachments ?? []) {
    const key = { network, containerId, ifname, busy: false }
    const name = resultFileName(key)
    attachments.set(name, attachments.has(name) ? 'several' : key)
    containers.add(containerId)
    names.add(network)
    own.add(network)
  }
  for (const file of told?.cache.files ?? []) if (file.own && file.network !== null) own.add(file.network)
  return {
    folders: told?.cache.folders ?? foldersOf(resultCacheFolders),
    stateDir: chooseStateDir(args, terminal, told?.cache.stateDir),
    bootId: boot.id,
    known: () => ({
      attachments,
      containers,
      recordsKnown: told !== undefined,
      isOwnNetwork: name => own.has(name) || networks.get(name)?.usesIpkeeper === true,
      networks: names,
      sandboxes,
      bootedAt: boot.at,
      now: Date.now(),
      orphanAge,
    }),
    cachedResult: async ({ network, containerId, ifname }) => {
      if (!told) return undefined
      const path = [network, containerId, ifname].map(encodeURIComponent).join('/')
      try {
        return ((await daemon.ask('GET', `/v1/cache/results/${path}`)) as CachedResultReply).text
      } catch (error) {
        if (error instanceof Problem && error.code === 'IPK_CACHE_UNKNOWN') return undefined
        throw error
      }
    },
  }
}
