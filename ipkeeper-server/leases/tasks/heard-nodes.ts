import type { LeaseRecord, NodeRecord } from '../../ipam/records/records.ts'
import type { Ledger } from '../ledger/ledger.ts'

export interface HeardNodesOptions {
  readonly ledger: Pick<Ledger, 'nodes' | 'node' | 'subscribe'>
  readonly here: string
  /** Milliseconds of CLOCK_BOOTTIME: time asleep counts. */
  readonly bootClock: () => number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * When this daemon last heard of each other node, by what only that node writes: its own part of its record, and addresses that are
 * bound there. Nothing is written or asked for it, so a node that has nothing to write is not heard of.
 */
export class HeardNodes {
  readonly #options: HeardNodesOptions
  readonly #heardAt = new Map<string, number>()
  readonly #own = new Map<string, string>()
  /** When the newest address was bound there, by its clock: what comes back by an undo is older. */
  readonly #newest = new Map<string, number>()
  readonly #startedAt: number

  constructor(options: HeardNodesOptions) {
    this.#options = options
    const { ledger } = options
    this.#startedAt = options.now()
    for (const record of ledger.nodes()) this.#own.set(record.name, ownPart(record))
    ledger.subscribe({
      changed: ({ kind, record }) => {
        if (kind === 'node') this.#hearOfNode(record)
        else if (kind === 'lease') this.#hearOfLease(record)
      },
    })
  }

  /** Milliseconds since then; undefined where nothing was heard of it since this daemon began. */
  ageOf(node: string): number | undefined {
    const at = this.#heardAt.get(node)
    return at === undefined ? undefined : this.#options.bootClock() - at
  }

  /** Only its own node binds an address anew. */
  #hearOfLease({ state, node, since }: LeaseRecord): void {
    const { here, bootClock } = this.#options
    if (state !== 'bound' || node === here || since <= (this.#newest.get(node) ?? this.#startedAt - 1)) return
    this.#newest.set(node, since)
    this.#heardAt.set(node, bootClock())
  }

  #hearOfNode(record: NodeRecord): void {
    const { ledger, here, bootClock } = this.#options
    const { name } = record
    if (name === here || !ledger.node(name)) return
    const before = this.#own.get(name)
    const own = ownPart(record)
    this.#own.set(name, own)
    const answers = record.refused !== undefined && before !== own
    if (before === undefined || answers || withoutAnswer(before) !== withoutAnswer(own))
      this.#heardAt.set(name, bootClock())
  }
}

/** Other nodes write the rest: questions, and that it is gone. */
function ownPart({
  claim,
  addresses,
  renewedAt,
  stopsAfter,
  epoch,
  owes,
  version,
  refused,
}: NodeRecord): string {
  return JSON.stringify([
    [claim?.session, addresses, renewedAt, stopsAfter, epoch, owes, version],
    refused ?? null,
  ])
}

/** Who asks takes an earlier answer away. */
const withoutAnswer = (own: string): string => JSON.stringify((JSON.parse(own) as unknown[])[0])
