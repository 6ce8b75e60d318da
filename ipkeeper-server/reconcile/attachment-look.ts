import type { OutlinedAttachment } from '../ipam/records/attachment-outline.ts'
import { sameAttachment, type AttachmentRecord, type LeaseRecord } from '../ipam/records/records.ts'
import { ageOf, type AgeClock } from '../ipam/records/times.ts'
import type { AttachmentSight } from '../leases/ledger/ledger-reader.ts'
import type { Ledger } from '../leases/ledger/ledger.ts'
import type { SeenAttachment } from './plan-snapshot.ts'

/** One attachment as a pass sees it. Most have nothing about them to suspect, and their records stay unparsed. */
export class AttachmentLook implements SeenAttachment {
  /** Its key as one text. */
  readonly name: string
  readonly outline: OutlinedAttachment
  readonly leases: readonly LeaseRecord[]
  readonly death: 'boot' | 'namespace' | undefined
  kernel: readonly string[] | undefined = undefined
  readonly #record: () => AttachmentRecord
  readonly #clock: AgeClock
  readonly #ledger: Pick<Ledger, 'holder'>

  constructor(
    { name, outline, record }: AttachmentSight,
    leases: readonly LeaseRecord[],
    death: 'boot' | 'namespace' | undefined,
    clock: AgeClock,
    ledger: Pick<Ledger, 'holder'>,
  ) {
    this.name = name
    this.outline = outline
    this.leases = leases
    this.death = death
    this.#record = record
    this.#clock = clock
    this.#ledger = ledger
  }

  get record(): AttachmentRecord {
    return this.#record()
  }

  get current(): boolean {
    return sameAttachment(this.#ledger.holder(this.record.holder)?.attachment ?? null, this.outline)
  }

  get age(): number {
    return ageOf(this.record, this.#clock)
  }
}
