import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../shared/problem/problem.ts'
import { Clock } from '../host/clock.ts'
import { missingFile, parseConfig, readConfigText, type DaemonConfig } from '../config/load-config.ts'
import { chooseAccess } from '../kubernetes/choose-access.ts'
import { fenceIn, namesIn, readNodeFile, type NodeFile } from '../identity/node-file.ts'
import { makeFolder } from '../host/make-folder.ts'
import { openStore, roomFolder, type OpenStoreOptions } from './open-store.ts'
import { Room } from '../store/room/room.ts'
import type { LeaseStore } from '../store/lease-store.ts'
import { parseStoreSpec, type StoreSpec } from '../store/store-spec.ts'
import { rescueOffline, type RescuedOffline } from '../store/sqlite/rescue-offline.ts'
import { lockStateFolder } from '../store/sqlite/state-lock.ts'
import type { Target } from '../migrate/transfer/move-ledger.ts'

export interface OfflineOptions {
  readonly stateDir: string
  readonly config: string
  /** Whether --config was given: then the file must be there. */
  readonly configNamed: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** Told what a person should know. */
  readonly onNote: (text: string) => void
}

/** Of a command that found the daemon running. */
const daemonRuns =
  'stop it first: systemctl stop ipkeeper (but a running daemon is asked for a backup where --store is left away)'

type OfflinePurpose = NonNullable<OpenStoreOptions['offline']>

/** Milliseconds for what an engine is still owed. */
const settlePatience = 10_000

/** The stores of a node whose daemon does not run; its state folder is locked against one as long as this is open. */
export class OfflineStores {
  /** As the daemon calls this node. */
  readonly node: string
  /** What the state folder says of it; undefined where no daemon has written that yet. */
  readonly #file: NodeFile | undefined
  readonly #options: OfflineOptions
  readonly #config: DaemonConfig
  readonly #locks = new Map<string, () => void>()
  readonly #open = new Set<LeaseStore>()

  constructor(options: OfflineOptions) {
    // As the daemon: SQLite makes its files by the umask.
    process.umask(0o077)
    this.#options = options
    const path = resolve(options.config)
    const text = readConfigText(path)
    if (text === undefined && options.configNamed) throw missingFile(path)
    // By serve --node, $IPKEEPER_NODE.
    this.#config = parseConfig(text ?? '', path, options.env['IPKEEPER_NODE'] || undefined)
    this.node = this.#config.node
    this.#file = readNodeFile(resolve(options.stateDir))
  }

  /** Whether a record that bears this name may be of this node. */
  isOwn(name: string): boolean {
    return name === this.node || namesIn(this.#file).includes(name)
  }

  /** Reads `--store` or a word in its place; a store that keeps nothing is refused. Throws IPK_USAGE. */
  static parse(spec: string): StoreSpec {
    const parsed = parseStoreSpec(spec)
    if (parsed.kind !== 'memory') return parsed
    throw new Problem(
      'IPK_USAGE',
      'memory: keeps nothing, so there is nothing to bring there or to take from it',
    )
  }

  /** Whether a store has this node's attachments and history in the journal of the state folder. */
  static usesJournal({ kind }: StoreSpec): boolean {
    return kind === 'etcd' || kind === 'kubernetes'
  }

  /**
   * Opens a store and hears it out.
   *
   * @param purpose what becomes of what an engine is still owed: SharedStoreOptions
   * @param mustExist a file that is not there is an error, and is not made
   * @throws IPK_STORE_FAILED when a daemon has it or it cannot be opened, IPK_STORE_AWAY when its engine does not answer
   */
  async open(spec: StoreSpec, purpose: OfflinePurpose, mustExist: boolean): Promise<LeaseStore> {
    if (spec.kind === 'sqlite') {
      const path = resolve(spec.path)
      if (mustExist && !existsSync(path)) {
        throw new Problem('IPK_STORE_FAILED', `there is no store ${path}`, {
          hint: `name the file of a ledger, such as sqlite:${join(this.#options.stateDir, 'leases.db')}`,
        })
      }
      // Of a state folder: what its daemon has, also when that uses another store at present.
      if (existsSync(join(dirname(path), 'daemon.lock')) || dirname(path) === resolve(this.#options.stateDir))
        this.#lock(dirname(path))
      else makeFolder(dirname(path))
    } else this.#lock(resolve(this.#options.stateDir))
    const { onNote } = this.#options
    // A file that was only looked for is not made: beside leases.db-wal of a daemon that was killed, SQLite would throw that away.
    const absent = spec.kind === 'sqlite' && purpose === 'look' && !existsSync(resolve(spec.path))
    const store = await openStore(absent ? { kind: 'memory' } : spec, {
      stateDir: resolve(this.#options.stateDir),
      // What the daemon has kept there serves to open it, too.
      room: new Room({
        folder: roomFolder(spec, resolve(this.#options.stateDir)),
        ...{ now: Date.now, monotonic: () => performance.now() },
        ...{ onSpent: () => undefined, onWhole: () => undefined },
      }),
      node: this.node,
      names: () => [this.node, ...namesIn(this.#file).filter(name => name !== this.node)],
      ...(this.#file && { fence: fenceIn(this.#file) }),
      access: chooseAccess(this.#config.kubernetes, {
        env: this.#options.env,
        monotonic: () => performance.now(),
      }),
      log: {
        info: () => undefined,
        warn: (_fields, text) => {
          onNote(text)
        },
      },
      clock: new Clock(),
      etcd: this.#config.store.etcd,
      offline: purpose,
      onStatus: () => undefined,
      // Objects of pools are nobody's to let go here.
      isPoolInUse: () => true,
      onLost: ({ address }) => {
        onNote(
          `${address}, which was changed here while the store was unreachable, belongs to another holder`,
        )
      },
    })
    this.#open.add(store)
    await this.#hearOut(store, purpose)
    return store
  }

  /**
   * Saves what can be read of a ledger whose file is damaged.
   *
   * @throws IPK_USAGE for a store that is no file
   */
  async rescue(spec: StoreSpec, dryRun: boolean): Promise<RescuedOffline> {
    if (spec.kind !== 'sqlite')
      throw new Problem('IPK_USAGE', `${spec.kind}: is no file; name that of the ledger or of the journal`, {
        hint: `such as --store sqlite:${join(this.#options.stateDir, 'journal.db')}`,
      })
    const path = resolve(spec.path)
    this.#lock(dirname(path))
    return await rescueOffline(path, Date.now(), dryRun)
  }

  /** A store that gets a ledger. */
  target(spec: StoreSpec, dryRun: boolean): Target {
    return {
      open: () => this.open(spec, dryRun ? 'look' : 'write', false),
      close: store => this.close(store),
    }
  }

  /** An engine that does not answer would look like one that has little. */
  async #hearOut(store: LeaseStore, purpose: OfflinePurpose): Promise<void> {
    const { shared } = store
    if (!shared) return
    shared.follow(() => undefined)
    await store.load(() => undefined)
    const deadline = performance.now() + settlePatience
    for (;;) {
      const { state, reason = '', owed } = shared.status()
      if (state === 'ready' && (owed === 0 || purpose === 'look')) return
      if (state === 'away' || performance.now() > deadline) {
        const what = state === 'away' ? `is unreachable (${reason})` : `has ${owed} pending writes`
        throw new Problem('IPK_STORE_AWAY', `${store.kind} ${store.location} ${what}`)
      }
      await pause(50)
    }
  }

  #lock(folder: string): void {
    if (this.#locks.has(folder)) return
    makeFolder(folder)
    this.#locks.set(folder, lockStateFolder(folder, daemonRuns))
  }

  async close(store: LeaseStore): Promise<void> {
    this.#open.delete(store)
    await store.close()
  }

  /** Closes what is still open, and lets the state folder go. */
  async end(): Promise<void> {
    for (const store of this.#open) await store.close()
    this.#open.clear()
    for (const unlock of this.#locks.values()) unlock()
    this.#locks.clear()
  }
}
