import { dirname, join, resolve } from 'node:path'
import { Problem } from '../../shared/problem/problem.ts'
import { beginLedger, type BeginTerms } from './begin-ledger.ts'
import type { Clock } from '../host/clock.ts'
import { readPoolSpec } from '../config/read-pool-object.ts'
import type { EtcdTerms } from '../config/load-config.ts'
import type { ApiAccess } from '../kubernetes/api-client.ts'
import type { ClusterLog } from '../kubernetes/client-context.ts'
import { readBootId } from '../host/boot.ts'
import type { PoolBook } from '../ipam/pools/pool-settings.ts'
import { releasedLease } from '../ipam/plan/plan-release.ts'
import type { LeaseStore, StoreStatus } from '../store/lease-store.ts'
import { MemoryStore } from '../store/memory/memory-store.ts'
import type { Engine } from '../store/shared/engine.ts'
import { SharedStore, type SharedStoreOptions } from '../store/shared/shared-store.ts'
import { RoomyJournal } from '../store/room/roomy-journal.ts'
import type { Room } from '../store/room/room.ts'
import type { Journal } from '../store/shared/journal.ts'
import type { LedgerFileOptions } from '../store/sqlite/ledger-file.ts'
import { SqliteStore } from '../store/sqlite/sqlite-store.ts'
import type { StoreSpec } from '../store/store-spec.ts'

export interface OpenStoreOptions {
  readonly stateDir: string
  readonly node: string
  /** SharedStoreOptions. Default: `node` alone. */
  readonly names?: SharedStoreOptions['names']
  readonly claim?: SharedStoreOptions['claim']
  /** Under which its transactions are fenced in etcd (etcd-fence.ts). Default: the node's name. */
  readonly fence?: string
  /** To the Kubernetes API; undefined where there is none. */
  readonly access: ApiAccess | undefined
  readonly log: ClusterLog
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** What is kept on the disk of the store or journal for when it is full; see roomFolder. */
  readonly room: Room
  readonly etcd: EtcdTerms
  readonly onStatus: (status: StoreStatus) => void
  /** Whether leases of a pool are bound or kept; undefined while that is not known. */
  readonly isPoolInUse: (name: string) => boolean | undefined
  readonly onLost: SharedStoreOptions['onLost']
  readonly refusesClaims?: SharedStoreOptions['refusesClaims']
  readonly isSure?: SharedStoreOptions['isSure']
  readonly isOlder?: SharedStoreOptions['isOlder']
  readonly takesUp?: SharedStoreOptions['takesUp']
  /** How addresses are treated that pods have had; none where nothing is ended. */
  readonly pools?: () => PoolBook
  readonly offline?: SharedStoreOptions['offline']
  /** Of a daemon: how it shows that there was a ledger. Commands make the files that they are told to make. */
  readonly begins?: BeginTerms
}

/** @param named by `--store sqlite:PATH` */
const ledgerPath = (named: string | undefined, stateDir: string): string =>
  named === undefined ? join(stateDir, 'leases.db') : resolve(named)

/** The file of a ledger, or of the journal where nodes share it; undefined for a store without one. */
export function databasePath(spec: StoreSpec | undefined, stateDir: string): string | undefined {
  switch (spec?.kind) {
    case undefined:
    case 'sqlite':
      return ledgerPath(spec?.path, stateDir)
    case 'memory':
      return undefined
    case 'kubernetes':
    case 'etcd':
      return join(stateDir, 'journal.db')
  }
}

/** A daemon has its files open for long; commands have them to themselves for a moment. */
const fileOptions = ({ offline, log }: OpenStoreOptions): LedgerFileOptions => ({
  guarded: offline === undefined,
  onNote: text => {
    log.warn({}, text)
  },
})

/**
 * Opens the store that is wanted.
 *
 * @param spec undefined: sqlite in the state folder
 */
export async function openStore(spec: StoreSpec | undefined, options: OpenStoreOptions): Promise<LeaseStore> {
  switch (spec?.kind) {
    case undefined:
    case 'sqlite':
      return await openFile(ledgerPath(spec?.path, options.stateDir), options)
    case 'memory':
      return new MemoryStore()
    case 'kubernetes':
      return await shared(await kubernetesEngine(options), options)
    case 'etcd':
      return await shared(await etcdEngine(spec.endpoints, options), options)
  }
}

/** The folder whose disk such a store, or its journal, is on. */
export function roomFolder(spec: StoreSpec | undefined, stateDir: string): string {
  const path = databasePath(spec, stateDir)
  return path === undefined ? stateDir : dirname(path)
}

async function openFile(path: string, options: OpenStoreOptions): Promise<Journal> {
  const { stateDir, room, begins, log } = options
  const open = (): SqliteStore => SqliteStore.open(path, fileOptions(options))
  const begin = (): SqliteStore | Promise<SqliteStore> =>
    begins ? beginLedger(path, open, { stateDir, log, ...begins }) : open()
  return new RoomyJournal(await room.make(path, begin), room)
}

// Clients of engines, and all that they stand on, are loaded only where they are wanted.

async function etcdEngine(
  endpoints: readonly string[],
  { etcd, node, fence = node }: OpenStoreOptions,
): Promise<Engine> {
  const { openEtcdAccess } = await import('../store/etcd/etcd-access.ts')
  const { EtcdEngine } = await import('../store/etcd/etcd-engine.ts')
  const access = openEtcdAccess(endpoints, etcd, () => performance.now())
  return new EtcdEngine({ access, prefix: etcd.prefix, node: fence })
}

/** Requests under way at once: an ADD has two or three, and a node may start many pods at a time. */
const engineRequests = 32

async function kubernetesEngine({ access, log, isPoolInUse }: OpenStoreOptions): Promise<Engine> {
  if (!access) {
    throw new Problem('IPK_USAGE', '--store kubernetes: there is no access to the Kubernetes API', {
      hint: 'name a kubeconfig in the configuration, kubernetes: { kubeconfig: PATH }, or run as a pod with a service account',
    })
  }
  const { ApiClient } = await import('../kubernetes/api-client.ts')
  const { KubernetesEngine } = await import('../store/kubernetes/kubernetes-engine.ts')
  return new KubernetesEngine({
    client: new ApiClient(access, { requests: engineRequests }),
    log,
    isPoolInUse,
    // What becomes of its addresses is no part of the record of a pool.
    readPool: (name, spec) =>
      readPoolSpec(name, spec, { retention: 'release', cooldown: 0, preferFor: 0 }).pool,
  })
}

async function shared(engine: Engine, options: OpenStoreOptions): Promise<SharedStore> {
  const {
    stateDir,
    node,
    names = () => [node],
    claim,
    clock,
    onStatus,
    onLost,
    refusesClaims,
    isSure,
    isOlder,
    takesUp,
    pools,
    offline,
  } = options
  return new SharedStore({
    engine,
    journal: await openFile(join(stateDir, 'journal.db'), options),
    names,
    ...(claim && { claim }),
    now: clock.now,
    monotonic: clock.monotonic,
    bootId: readBootId(),
    onStatus,
    ...(refusesClaims && { refusesClaims }),
    ...(isSure && { isSure }),
    ...(isOlder !== undefined && { isOlder }),
    ...(takesUp !== undefined && { takesUp }),
    onLost,
    ...(pools && { released: lease => releasedLease(lease, { pools: pools(), now: clock.now() }) }),
    ...(offline && { offline }),
  })
}
