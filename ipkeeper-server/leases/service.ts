import type { AddPolicy, Liveness } from '../ipam/add-request.ts'
import type { AttachmentRecord } from '../ipam/records.ts'
import type { Ledger } from './ledger.ts'
import type { Serial } from './serial.ts'
import type { Tombstones } from './tombstones.ts'

/** What the verbs work with. One per daemon. */
export interface LeaseService {
  readonly ledger: Ledger
  readonly node: string
  readonly bootId: string
  readonly policy: AddPolicy
  /** Operations on one attachment are serial. */
  readonly serial: Serial
  readonly tombstones: Tombstones
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** What this node can say of an attachment at this moment. */
  readonly liveness: (attachment: AttachmentRecord) => Liveness
}
