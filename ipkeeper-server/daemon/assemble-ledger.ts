import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { stateFolders } from '../../shared/paths.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { shellWord } from '../../shared/text/shell-word.ts'
import { readBootId } from '../host/boot.ts'
import { describeJump } from '../host/clock.ts'
import type { Logger } from '../host/logger.ts'
import { isFolder, makeFolder } from '../host/make-folder.ts'
import { asideCommand } from '../host/set-aside.ts'
import { MetricsListener } from '../http/metrics-listener.ts'
import type { NodeIdentity } from '../identity/node-identity.ts'
import type { LeaseRecord } from '../ipam/records/records.ts'
import type { ApiAccess } from '../kubernetes/api-client.ts'
import { Ledger } from '../leases/ledger/ledger.ts'
import type { NameClaims } from '../leases/tasks/name-claims.ts'
import { ObservedStore, storeObserver } from '../metrics/observed-store.ts'
import { openStore } from '../open-ledger/open-store.ts'
import type { StoreStatus, LeaseStore } from '../store/lease-store.ts'
import { lockStateFolder } from '../store/sqlite/state-lock.ts'
import type { StoreSpec } from '../store/store-spec.ts'
import type { DaemonFrame } from './daemon-frame.ts'
import { keepRoom, type KeptRoom } from './disk-room.ts'
import { claimNames, knowNode, nameNode } from './name-node.ts'
import { refuseAll } from './refuse-all.ts'
import { termsOf } from './settings-in-force.ts'
import { someUnrecorded } from './unrecorded-pods.ts'
import { systemCode } from '../../shared/system-code.ts'

export interface StateFolder {
  readonly kept: KeptRoom
  readonly bootId: string
  readonly identity: NodeIdentity
}

/** Locks the state folder, and learns who this node is. */
export async function takeStateFolder(
  { config, stateDir, logger, stops, place }: DaemonFrame,
  storeSpec: StoreSpec | undefined,
): Promise<StateFolder> {
  makeStateDir(stateDir)
  refuseOddFolders(stateDir)
  const kept = keepRoom(storeSpec, stateDir, logger)
  const unlockStateDir = await kept.room.make(stateDir, () => lockStateFolder(stateDir))
  stops.ledger.defer(unlockStateDir)
  stops.ledger.defer(() => kept.stop())
  place.note()
  const bootId = readBootId()
  const identity = await kept.room.make(stateDir, () =>
    knowNode({ stateDir, name: config.node, bootId, now: Date.now, logger }),
  )
  return { kept, bootId, identity }
}

/** Who hears of what; set by parts that are made later. */
interface LedgerNews {
  onStoreReady: () => void
  onTimesMoved: () => void
  /** An address of a sandbox of this node is another's by now, or ended elsewhere; the lease as it was before. */
  onAddressLost: (had: LeaseRecord) => void
  /** Whose this node's name is; undefined where one daemon has the store to itself. */
  claims: NameClaims | undefined
}

export interface OpenedLedger {
  readonly store: LeaseStore
  readonly ledger: Ledger
  /** Milliseconds of CLOCK_MONOTONIC. */
  readonly openedAt: number
  readonly news: LedgerNews
  /** Addresses that were lost before there was anything to cut off by. */
  readonly lostEarly: readonly LeaseRecord[]
}

/** Opens the store, and reads all of it. */
export async function openLedger(
  { clock, config, watched, stateDir, logger, registry, stops }: DaemonFrame,
  { kept, identity }: StateFolder,
  {
    storeSpec,
    access,
  }: { readonly storeSpec: StoreSpec | undefined; readonly access: ApiAccess | undefined },
): Promise<OpenedLedger> {
  // Nothing is known before all records are read.
  let isPoolInUse: (name: string) => boolean | undefined = () => undefined
  /** Lost before there is anything to cut off by. */
  const lostEarly: LeaseRecord[] = []
  const news: LedgerNews = {
    onStoreReady: () => undefined,
    onTimesMoved: () => undefined,
    onAddressLost: had => void lostEarly.push(had),
    claims: undefined,
  }
  const stored = await openStore(storeSpec, {
    ...{ stateDir, room: kept.room },
    node: config.node,
    names: () => identity.names(),
    claim: identity.lastClaim,
    fence: identity.fence,
    access,
    log: logger,
    clock,
    etcd: config.store.etcd,
    begins: {
      results: config.resultCache.folders.results,
      hasOpenedNone: identity.hasOpenedNone,
    },
    onStatus: status => {
      if (status.state === 'ready') {
        news.onStoreReady()
        news.claims?.askAgain()
      }
      logStatus(logger, status)
    },
    isPoolInUse: name => isPoolInUse(name),
    refusesClaims: () => news.claims?.claimRefusal(),
    isSure: () => news.claims?.isAlone() ?? identity.wasSure,
    isOlder: identity.mayBeOlder,
    takesUp: true,
    pools: () => termsOf(watched.current, watched.current.pools, access !== undefined).pools,
    onLost: had => {
      const { segment, address, holder } = had
      logger.error(
        { segment, address, holder },
        'an address that is bound on this node was given to another holder while the store was unreachable or had lost records',
      )
      news.onAddressLost(had)
    },
  })
  await kept.room.make(stateDir, () => {
    identity.opened()
  })
  const store = new ObservedStore(stored, storeObserver(registry))
  stops.ledger.defer(() => store.close())
  const ledger = await Ledger.open(store, clock.now, config.node, (kind, key) => {
    logger.error({ kind, key }, 'a record of the store is invalid and is ignored')
  })
  // From now on: a machine that waits for its name hears of what others end long before it serves.
  ledger.subscribe({
    takenAway: had => {
      news.onAddressLost(had)
    },
  })
  const openedAt = clock.monotonic()
  clock.onJump = jump => {
    ledger.shiftTimes(jump.by)
    news.onTimesMoved()
    registry.count('ipkeeper_clock_jumps_total', { direction: jump.by < 0 ? 'back' : 'forward' })
    logger.warn({ seconds: jump.by / 1000 }, describeJump(jump))
  }
  // What an engine that has lost records does not have may be in use all the same.
  const isWhole = (): boolean => ledger.isHeard() && ledger.storeStatus()?.state !== 'incomplete'
  isPoolInUse = name => (isWhole() ? ledger.hasLiveLease({ name }) : undefined)
  return { store, ledger, openedAt, news, lostEarly }
}

function logStatus(logger: Logger, { state, reason, owed, waitsFor }: StoreStatus): void {
  if (reason === undefined) logger.info({ owed }, 'the store can be reached again')
  else if (state === 'incomplete')
    logger.error(
      { reason, owed, waitsFor, hint: 'ipkeeperctl status' },
      'the store has lost records: no new address is given until all nodes have reported what they hold',
    )
  else logger.warn({ state, reason, owed }, 'the store is unreachable, or its changes do not arrive')
}

export interface NamedNode {
  readonly claims: NameClaims | undefined
  /** undefined: the daemon was told to stop. */
  readonly node: string | undefined
}

/** Waits until this node bears its name, and refuses everybody as long as another machine has it. */
export async function nameThisNode(
  frame: DaemonFrame,
  { kept, identity }: StateFolder,
  {
    opened: { ledger, news },
    metricsListener,
  }: { readonly opened: OpenedLedger; readonly metricsListener: MetricsListener | undefined },
): Promise<NamedNode> {
  const { socket, stateDir, logger, registry, stops, stopped } = frame
  const claims = claimNames({
    ...{ identity, ledger, stateDir, logger },
    onChallenge: () => {
      registry.count('ipkeeper_node_name_challenges_total')
    },
  })
  news.claims = claims
  void stopped.then(() => claims?.stop())
  const node = await kept.room.make(stateDir, () =>
    nameNode({
      ...{ identity, ledger, claims, logger, stopped },
      unrecorded: () => someUnrecorded(frame, ledger),
      refuse: async problem =>
        await refuseAll({
          socket,
          stateDir,
          remedy: frame.place.remedy,
          problem,
          registry,
          metricsListener,
          logger,
        }),
    }),
  )
  if (node !== undefined) {
    stops.name.defer(() => claims?.stop())
    stops.ledger.defer(() => saveFromMemory(ledger, logger))
  }
  return { claims, node }
}

function makeStateDir(path: string): void {
  try {
    makeFolder(path)
  } catch (error) {
    const code = systemCode(error)
    throw new Problem('IPK_STORE_FAILED', `state folder ${path} cannot be made (${code})`, {
      cause: error,
      hint: 'run as root, or choose another --state-dir',
    })
  }
}

/** Those that are made later: what has the name of one, and is none, is to be known before anything is promised. */
function refuseOddFolders(stateDir: string): void {
  for (const name of Object.values(stateFolders)) {
    const path = join(stateDir, name)
    if (lstatSync(path, { throwIfNoEntry: false }) && !isFolder(path))
      throw new Problem('IPK_STORE_FAILED', `${path} is no folder`, { hint: asideCommand(path) })
  }
}

/** Looks at what was too much for the start. */
export async function verifyFile({ file }: Ledger, logger: Logger): Promise<void> {
  try {
    const findings = await file?.verify()
    const fault = file?.fault()
    if (fault) logger.error({ code: fault.code, hint: fault.hint }, fault.message)
    if (findings && findings.length > 0)
      logger.warn(
        { file: file?.path, findings: findings.slice(0, 5), hint: 'ipkeeperctl rescue' },
        `${findings.length} entries of the history are damaged; no lease is concerned`,
      )
  } catch (error) {
    logger.warn({ err: error }, 'the file of the ledger could not be looked at as a whole')
  }
}

/** A daemon whose file is gone, and that is told to end, has the ledger in its memory alone. */
async function saveFromMemory(ledger: Ledger, logger: Logger): Promise<void> {
  const { file } = ledger
  const fault = file?.fault()
  if (!file || !fault || ledger.isSaved) return
  try {
    const { file: saved, kinds } = await ledger.rescue('beside')
    const hint = `if ${file.path} is not what it is to be: put it aside with its -wal, then mv ${shellWord(saved)} ${shellWord(file.path)}; see docs/operations/rescue.md`
    logger.error({ saved, kinds, hint }, `the ledger was saved from memory to ${saved}: ${fault.message}`)
  } catch (error) {
    logger.error({ err: error }, 'the ledger could not be saved from memory')
  }
}
