import { randomBytes } from 'node:crypto'
import { Problem } from '../../../shared/problem/problem.ts'
import {
  changeScript,
  masqueradeDifferences,
  masqueradeTable,
  readMember,
  readRanges,
  rebuildScript,
  revisionOf,
  type MasqueradedPods,
  type Member,
} from '../plan/masquerade-rules.ts'
import type { RunTool, ToolEnd } from '../run-tool.ts'

interface MasqueradeOptions {
  readonly run: RunTool
  /** Every masqueraded pod of this node and boot. Called once, before the first change. */
  readonly everybody: () => Iterable<MasqueradedPods>
  /** Addresses could not be taken out now; the next change, or the next ADD, tries again. */
  readonly onProblem?: (error: unknown) => void
}

/** A change that waits for its turn: pools and where each address is to be, undefined for nowhere. */
interface Order {
  readonly pools: ReadonlyMap<string, readonly string[]>
  readonly places: ReadonlyMap<string, string | undefined>
  readonly done: () => void
  readonly failed: (reason: unknown) => void
}

/**
 * The node's one nft table of masqueraded pods. It remembers what the table has to hold, so that a change is one short
 * script however many pods there are, and a table that somebody flushed, deleted or restored from a copy is made anew by the next
 * change. Those who ask while nft is at work share the next run of it. Other tables are never touched.
 */
export class MasqueradeTable {
  readonly #options: MasqueradeOptions
  readonly #ranges = new Map<string, readonly string[]>()
  readonly #poolOf = new Map<string, string>()
  /** Pools that the table has sets for; undefined while it is not known to be as remembered. */
  #written: Set<string> | undefined
  /** A change has failed, so that an address may be in the table that is to be nowhere. */
  #isInDoubt = false
  readonly #daemon = randomBytes(8).toString('hex')
  /** How many times the table was given to nft. */
  #count = 0
  #isLoaded = false
  #waiting: Order[] = []
  #isAtWork = false

  constructor(options: MasqueradeOptions) {
    this.#options = options
  }

  /**
   * Has packets of these addresses leave under the node's own. One nft process, which waits some 16 ms for the kernel and
   * next to nothing for the processor, so it is best run beside the rest of an ADD. For no addresses nothing happens, unless
   * the table is in doubt: a new pod may have an address that could not be taken out, and fails no ADD if it still cannot.
   *
   * @throws IPK_TOOL_MISSING, IPK_WIRING_FAILED: the addresses are where they were then
   */
  async add(pods: readonly MasqueradedPods[]): Promise<void> {
    const wanted = pods.filter(({ addresses }) => addresses.length > 0)
    if (wanted.length === 0) {
      await this.remove([])
      return
    }
    const pools = new Map(wanted.map(({ pool, ranges }) => [pool, readRanges(ranges)]))
    const places = new Map(
      wanted.flatMap(({ pool, addresses }) => addresses.map(text => [readMember(text), pool])),
    )
    await new Promise<void>((done, failed) => {
      this.#ask({ pools, places, done, failed })
    })
  }

  /**
   * Ends that. The caller sees to it that the addresses are not those of another attachment by now. Addresses that are not
   * there, and a table that is gone, are no fault. When nft fails, that goes to `onProblem` and not to the caller, whose
   * DEL would never end: the addresses are forgotten, and the next change makes the table without them.
   */
  async remove(addresses: readonly string[]): Promise<void> {
    const places = new Map(addresses.map(text => [readMember(text), undefined]))
    if (places.size === 0 && !this.#isInDoubt) return
    await new Promise<void>(done => {
      const failed = (): void => {
        done()
      }
      this.#ask({ pools: new Map(), places, done, failed })
    })
  }

  /** What the kernel lacks of these, each in one line. Reads the whole table and changes nothing. */
  async differences(pods: readonly MasqueradedPods[]): Promise<readonly string[]> {
    const wanted = pods.filter(({ addresses }) => addresses.length > 0)
    if (wanted.length === 0) return []
    const ended = await this.#options.run({
      tool: 'nft',
      args: ['-j', 'list', 'table', ...masqueradeTable.split(' ')],
    })
    if (ended.exit === 0) return masqueradeDifferences(wanted, JSON.parse(ended.stdout) as object)
    if (ended.stderr.includes('No such file or directory')) return masqueradeDifferences(wanted, undefined)
    throw refusal('read', ended)
  }

  #ask(order: Order): void {
    this.#waiting.push(order)
    if (this.#isAtWork) return
    this.#isAtWork = true
    // Whoever asks in this very turn goes along.
    queueMicrotask(() => void this.#serve())
  }

  async #serve(): Promise<void> {
    while (this.#waiting.length > 0) {
      const orders = this.#waiting
      this.#waiting = []
      try {
        await this.#carryOut(orders)
        this.#isInDoubt = false
        for (const { done } of orders) done()
      } catch (error) {
        this.#isInDoubt = true
        // Who adds is told.
        if (orders.some(({ pools }) => pools.size === 0)) this.#options.onProblem?.(error)
        // The scripts are sound, so it is the machine that failed, for all of them alike.
        for (const { failed } of orders) failed(error)
      }
    }
    this.#isAtWork = false
  }

  async #carryOut(orders: readonly Order[]): Promise<void> {
    const places = orders.flatMap(order => [...order.places])
    const before = new Map<string, string | undefined>()
    try {
      this.#load()
      for (const { pools } of orders) for (const [pool, ranges] of pools) this.#ranges.set(pool, ranges)
      for (const [address, pool] of places) {
        if (!before.has(address)) before.set(address, this.#poolOf.get(address))
        this.#place(address, pool)
      }
      if (!(await this.#tryChange(before))) await this.#rebuild()
    } catch (error) {
      this.#written = undefined
      for (const [address, pool] of before) this.#place(address, pool)
      // Those that were to go are forgotten: they are not in a table that is made anew.
      for (const [address, pool] of places) if (pool === undefined) this.#place(address, undefined)
      throw error
    }
  }

  #load(): void {
    if (this.#isLoaded) return
    for (const { pool, ranges, addresses } of this.#options.everybody()) {
      this.#ranges.set(pool, readRanges(ranges))
      for (const address of addresses) this.#poolOf.set(readMember(address), pool)
    }
    this.#isLoaded = true
  }

  #place(address: string, pool: string | undefined): void {
    if (pool === undefined) this.#poolOf.delete(address)
    else this.#poolOf.set(address, pool)
  }

  /** The short way; false when the table is not what it was left as, or was never looked at. */
  async #tryChange(before: ReadonlyMap<string, string | undefined>): Promise<boolean> {
    const written = this.#written
    if (!written) return false
    const added: Member[] = []
    const removed: Member[] = []
    for (const [address, former] of before) {
      const pool = this.#poolOf.get(address)
      if (former !== undefined && former !== pool) removed.push({ pool: former, address })
      // Also one that should be there: a set may have been flushed.
      if (pool !== undefined) added.push({ pool, address })
    }
    if (added.length + removed.length === 0) return true
    const revision = { from: this.#revision(), to: this.#nextRevision() }
    const newPools = [...this.#ranges.keys()].filter(pool => !written.has(pool))
    const ended = await this.#nft(changeScript(this.#ranges, { added, removed, newPools, revision }))
    if (ended.exit !== 0) return false
    for (const pool of newPools) written.add(pool)
    return true
  }

  async #rebuild(): Promise<void> {
    // Where nothing was ever masqueraded, there is no table, and perhaps no nft.
    if (this.#ranges.size === 0) return
    const members = [...this.#poolOf].map(([address, pool]) => ({ address, pool }))
    const ended = await this.#nft(rebuildScript(this.#ranges, members, this.#nextRevision()))
    if (ended.exit !== 0) throw refusal('change', ended)
    this.#written = new Set(this.#ranges.keys())
  }

  #revision(): string {
    return revisionOf(this.#daemon, this.#count)
  }

  /** Never the same again, also when nft then fails: nobody can have saved a table that has it. */
  #nextRevision(): string {
    this.#count += 1
    return this.#revision()
  }

  #nft(input: string): Promise<ToolEnd> {
    return this.#options.run({ tool: 'nft', args: ['-f', '-'], input })
  }
}

function refusal(verb: string, { stderr }: ToolEnd): Problem {
  const [first] = stderr.split('\n')
  return new Problem('IPK_WIRING_FAILED', `cannot ${verb} nft table ${masqueradeTable}: ${first ?? ''}`, {
    hint: `look at: nft list table ${masqueradeTable}`,
  })
}
