import { Problem } from '../../shared/problem/problem.ts'
import {
  changeScript,
  masqueradeDifferences,
  masqueradeTable,
  readMember,
  readRanges,
  rebuildScript,
  type MasqueradedPods,
  type Member,
} from './plan/masquerade.ts'
import type { RunTool, ToolEnd } from './run-tool.ts'

export interface MasqueradeOptions {
  readonly run: RunTool
  /** Every masqueraded pod of this node and boot. Called once, before the first change. */
  readonly everybody: () => Iterable<MasqueradedPods>
}

/** A change that waits for its turn: pools and where each address is to be, undefined for nowhere. */
interface Order {
  readonly pools: ReadonlyMap<string, readonly string[]>
  readonly places: ReadonlyMap<string, string | undefined>
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * The node's one nft table of masqueraded pods. It remembers what the table has to hold, so that a change is one short
 * script however many pods there are, and a table that somebody flushed or deleted is made anew by the next change. Those
 * who ask while nft is at work share the next run of it. Other tables are never touched.
 */
export class Masquerade {
  readonly #options: MasqueradeOptions
  readonly #ranges = new Map<string, readonly string[]>()
  readonly #poolOf = new Map<string, string>()
  /** Pools that the table has sets for; undefined while it is not known to be as remembered. */
  #written: Set<string> | undefined
  #isLoaded = false
  #waiting: Order[] = []
  #isAtWork = false

  constructor(options: MasqueradeOptions) {
    this.#options = options
  }

  /**
   * Has packets of these addresses leave under the node's own. One nft process, which waits some 16 ms for the kernel and
   * next to nothing for the processor, so it is best run beside the rest of an ADD. Nothing happens for no addresses.
   *
   * @throws IPK_TOOL_MISSING, IPK_WIRING_FAILED: nothing is changed then
   */
  async add(pods: readonly MasqueradedPods[]): Promise<void> {
    const wanted = pods.filter(({ addresses }) => addresses.length > 0)
    await this.#change(
      new Map(wanted.map(({ pool, ranges }) => [pool, readRanges(ranges)])),
      new Map(wanted.flatMap(({ pool, addresses }) => addresses.map(text => [readMember(text), pool]))),
    )
  }

  /**
   * Ends that. The caller sees to it that the addresses are not those of another attachment by now. Addresses that are not
   * there, and a table that is gone, are no fault.
   *
   * @throws IPK_TOOL_MISSING, IPK_WIRING_FAILED
   */
  async remove(addresses: readonly string[]): Promise<void> {
    await this.#change(new Map(), new Map(addresses.map(text => [readMember(text), undefined])))
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

  async #change(pools: Order['pools'], places: Order['places']): Promise<void> {
    if (places.size === 0) return
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ pools, places, resolve, reject })
      if (this.#isAtWork) return
      this.#isAtWork = true
      // Whoever asks in this very turn goes along.
      queueMicrotask(() => void this.#serve())
    })
  }

  async #serve(): Promise<void> {
    while (this.#waiting.length > 0) {
      const orders = this.#waiting
      this.#waiting = []
      try {
        await this.#carryOut(orders)
        for (const { resolve } of orders) resolve()
      } catch (error) {
        // The scripts are sound, so it is the machine that failed, for all of them alike.
        for (const { reject } of orders) reject(error)
      }
    }
    this.#isAtWork = false
  }

  async #carryOut(orders: readonly Order[]): Promise<void> {
    this.#load()
    const before = new Map<string, string | undefined>()
    for (const { pools, places } of orders) {
      for (const [pool, ranges] of pools) this.#ranges.set(pool, ranges)
      for (const [address, pool] of places) {
        if (!before.has(address)) before.set(address, this.#poolOf.get(address))
        this.#place(address, pool)
      }
    }
    try {
      if (!(await this.#tryChange(before))) await this.#rebuild()
    } catch (error) {
      this.#written = undefined
      for (const [address, pool] of before)
        // Those that were to go stay forgotten: they are not in a table that is made anew.
        if (this.#poolOf.has(address)) this.#place(address, pool)
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
    const newPools = [...this.#ranges.keys()].filter(pool => !written.has(pool))
    const ended = await this.#nft(changeScript(this.#ranges, { added, removed, newPools }))
    if (ended.exit !== 0) return false
    for (const pool of newPools) written.add(pool)
    return true
  }

  async #rebuild(): Promise<void> {
    // Where nothing was ever masqueraded, there is no table, and perhaps no nft.
    if (this.#ranges.size === 0) return
    const members = [...this.#poolOf].map(([address, pool]) => ({ address, pool }))
    const ended = await this.#nft(rebuildScript(this.#ranges, members))
    if (ended.exit !== 0) throw refusal('change', ended)
    this.#written = new Set(this.#ranges.keys())
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
