import { BackgroundTask } from '../host/background-task.ts'
import type { CacheFileItem, CacheReply } from '../../shared/api/cache.schema.ts'
import type { AttachmentKey, AttachmentRecord, LeaseRecord } from '../ipam/records/records.ts'
import type { LoadedNetwork } from '../diagnose/lint/loaded-networks.ts'
import { type RuntimeAnswer, idsIfAllListed } from '../runtime/sandboxes.ts'
import { badFileItem, repairFile, type Repaired } from './repair-file.ts'
import { FolderWatches } from './folder-watches.ts'
import type { CacheFolder } from './list-cache-files.ts'
import { cachedResult, knownNetworks, type KnownNetwork } from './plan/cached-result.ts'
import { type CacheKnowledge, type KnownAttachment, resultFileName } from './plan/judge-file.ts'
import { planRepair, type PlannedRepair } from './plan/plan-repair.ts'
import type { Quarantine } from './quarantine.ts'
import type { Boot } from '../host/boot.ts'
import { removeTemporaries } from './unchanged-file.ts'
import { CacheScanner, type BadFile } from './scan-cache.ts'

/** What of the leases the keeper has to know. */
export interface CacheRecords {
  /** `busy`: an ADD or DEL of it is under way, or nobody is known to have the answer of its ADD. */
  readonly attachments: () => Iterable<KnownAttachment>
  readonly attachment: (key: AttachmentKey) => AttachmentRecord | undefined
  readonly leasesOf: (key: AttachmentKey) => readonly LeaseRecord[]
  /** Whether there are attachments, or ranges, of a network. */
  readonly hasNetwork: (name: string) => boolean
  /** Runs a task while no ADD or DEL of the attachment runs. */
  readonly inTurn: <T>(key: AttachmentKey, task: () => Promise<T>) => Promise<T>
}

/** Of the configuration; times in milliseconds. */
export interface CacheTerms {
  readonly mode: 'repair' | 'report' | 'off'
  readonly others: 'report' | 'quarantine'
  readonly interval: number
  readonly orphanAge: number
}

export interface CacheKeeperOptions {
  readonly terms: CacheTerms
  readonly folders: readonly CacheFolder[]
  readonly stateDir: string
  /** Those of the folder where runtimes have their configurations from, in their order. */
  readonly networks: () => Promise<readonly LoadedNetwork[]>
  readonly boot: Boot
  readonly records: CacheRecords
  readonly quarantine: Quarantine
  /** What the runtimes of the node say of sandboxes. */
  readonly sandboxes: () => Promise<readonly RuntimeAnswer[]>
  /** MAC of a link of the host; undefined where there is none of that name. */
  readonly macOf: (link: string) => Promise<string | undefined>
  readonly now: () => number
  readonly monotonic: () => number
  /** Once for each file and reason. */
  readonly onFound: (file: CacheFileItem) => void
  readonly onRepaired: (file: CacheFileItem, how: Repaired) => void
  /** More files are bad than are told of one by one. */
  readonly onMore: (files: number) => void
  readonly onError: (error: unknown, path: string | undefined) => void
}

/** Milliseconds for which an answer of the runtimes holds. */
const answerHolds = 60_000
/** Milliseconds from a change to the look at it: it may be judged when it has been quiet for 5 s. */
const afterChange = 5_100
/** So many times as long as a scan took nothing but the timer starts the next one: pods that come and go are many. */
const restPerScan = 20
/** Files that one scan tells of one by one. */
const toldOf = 100

/** A bad file and what is to be done about it. */
interface Finding {
  readonly file: BadFile
  readonly repair: PlannedRepair
  readonly item: CacheFileItem
}

/**
 * Looks through the result caches at the start, after changes and on a timer, one scan at a time, and repairs what it may
 * (DESIGN.md, "Result caches"). Costs nothing but the timer while nothing changes.
 */
export class CacheKeeper {
  readonly #options: CacheKeeperOptions
  readonly #scanner: CacheScanner
  readonly #watches: FolderWatches
  #findings: readonly Finding[] = []
  #scannedAt: number | undefined
  /** Milliseconds. */
  #scanTook = 0
  #told = new Set<string>()
  #answer: { readonly at: number; readonly ids: ReadonlySet<string> | undefined } | undefined
  readonly #task: BackgroundTask

  constructor(options: CacheKeeperOptions) {
    this.#options = options
    this.#scanner = new CacheScanner({ folders: options.folders, monotonic: options.monotonic })
    this.#task = new BackgroundTask({ round: () => this.#look() })
    this.#watches = new FolderWatches(() => {
      this.#task.wake(Math.max(afterChange, this.#scanTook * restPerScan))
    })
  }

  /** Looks now, and from now on. */
  start(): void {
    if (this.#options.terms.mode === 'off') return
    this.#task.wake(0)
  }

  async stop(): Promise<void> {
    this.#watches.close()
    await this.#task.stop()
  }

  /** Bad files that are there, as the last scan left them. */
  current(): readonly CacheFileItem[] {
    return this.#findings.map(({ item }) => item)
  }

  async state(): Promise<CacheReply> {
    return {
      mode: this.#options.terms.mode,
      stateDir: this.#options.stateDir,
      folders: this.#options.folders.map(({ kind, path }) => ({ kind, path })),
      scannedAt: this.#scannedAt === undefined ? null : new Date(this.#scannedAt).toISOString(),
      files: [...this.current()],
      quarantined: [...(await this.#options.quarantine.list())],
    }
  }

  /** What libcni would have written for an attachment; undefined when the records or the conflist do not say it. */
  async cachedResult(key: AttachmentKey): Promise<string | undefined> {
    const networks = knownNetworks(await this.#options.networks())
    return await this.#cachedResult(key, networks)
  }

  async #cachedResult(
    { network, containerId, ifname }: AttachmentKey,
    networks: ReadonlyMap<string, KnownNetwork>,
  ): Promise<string | undefined> {
    const { records, macOf } = this.#options
    const attachment = records.attachment({ network, containerId, ifname })
    const conflist = networks.get(network)?.conflist
    // Without an address it would be no Result that a plugin could use.
    if (!attachment || attachment.unanswered || !conflist) return undefined
    const leases = records.leasesOf(attachment)
    if (leases.length === 0 && !attachment.given?.length) return undefined
    const master = attachment.wiring?.master
    const bridgeMac = typeof master === 'string' ? await macOf(master) : undefined
    return cachedResult({ attachment, leases, bridgeMac }, conflist)
  }

  async #look(): Promise<number> {
    let again: number | undefined
    try {
      again = await this.#scan()
    } catch (error) {
      this.#options.onError(error, undefined)
    }
    return Math.min(again ?? Infinity, this.#options.terms.interval)
  }

  /** Milliseconds until the next look, where a file asks for one. */
  async #scan(): Promise<number | undefined> {
    const { terms, now, monotonic } = this.#options
    const began = monotonic()
    const networks = knownNetworks(await this.#options.networks())
    const known = await this.#know(networks)
    const { bad, again, folders } = await this.#scanner.scan(known)
    // Before anything is repaired: what changes from here on is seen.
    this.#watches.follow(folders)
    for (const folder of folders) await removeTemporaries(folder, now())
    const findings = bad.map((file): Finding => {
      const repair = planRepair(file, {
        others: terms.others,
        canRewrite: network => networks.get(network)?.conflist !== undefined,
        recordsKnown: true,
      })
      return { file, repair, item: badFileItem(file, repair) }
    })
    this.#tell(findings)
    const left: Finding[] = []
    for (const finding of findings) {
      const repaired = terms.mode === 'repair' && (await this.#repair(finding, networks))
      if (!repaired) left.push(finding)
    }
    this.#findings = left
    this.#scannedAt = now()
    this.#scanTook = monotonic() - began
    return again
  }

  #tell(findings: readonly Finding[]): void {
    const told = new Set<string>()
    let more = 0
    for (const { item } of findings) {
      const id = JSON.stringify([item.path, item.reason, item.plan])
      told.add(id)
      if (this.#told.has(id)) continue
      if (told.size <= toldOf) this.#options.onFound(item)
      else more++
    }
    if (more > 0) this.#options.onMore(more)
    this.#told = told
  }

  /** Whether nothing is left to be told of it. */
  async #repair(
    { file, repair, item }: Finding,
    networks: ReadonlyMap<string, KnownNetwork>,
  ): Promise<boolean> {
    if (repair.plan === 'report' || this.#task.isStopped) return false
    const { records, quarantine } = this.#options
    const tools = { quarantine, cachedResult: (key: AttachmentKey) => this.#cachedResult(key, networks) }
    const task = (): Promise<Repaired> => repairFile(file, repair.plan, tools)
    try {
      const how = await (file.attachment ? records.inTurn(file.attachment, task) : task())
      if (how.done === 'left') {
        this.#task.wake(afterChange)
        return false
      }
      this.#options.onRepaired(item, how)
      return true
    } catch (error) {
      this.#options.onError(error, item.path)
      return false
    }
  }

  async #know(networks: ReadonlyMap<string, KnownNetwork>): Promise<CacheKnowledge> {
    const { records, boot, now, terms } = this.#options
    const attachments = new Map<string, KnownAttachment | 'several'>()
    const [containers, names] = [new Set<string>(), new Set(networks.keys())]
    for (const attachment of records.attachments()) {
      const name = resultFileName(attachment)
      attachments.set(name, attachments.has(name) ? 'several' : attachment)
      containers.add(attachment.containerId)
      names.add(attachment.network)
    }
    return {
      attachments,
      containers,
      recordsKnown: true,
      isOwnNetwork: name => networks.get(name)?.usesIpkeeper === true || records.hasNetwork(name),
      networks: names,
      sandboxes: await this.#sandboxes(),
      bootedAt: boot.at,
      now: now(),
      orphanAge: terms.orphanAge,
    }
  }

  /** IDs that the runtimes list; undefined unless there is one, and none of them failed. */
  async #sandboxes(): Promise<ReadonlySet<string> | undefined> {
    const at = this.#options.monotonic()
    if (!this.#answer || at - this.#answer.at >= answerHolds) {
      const answers = await this.#options.sandboxes().catch((): RuntimeAnswer[] => [])
      this.#answer = { at, ids: idsIfAllListed(answers) }
    }
    return this.#answer.ids
  }
}
