import {
  attachmentKey,
  type AttachmentKey,
  type AttachmentRecord,
  type LeaseRecord,
} from '../../ipam/records/records.ts'
import type { LeaseService } from '../verbs/service.ts'

/** What of the leases whoever keeps result caches in order has to know. */
export interface LeasesForCache {
  /** `busy`: an ADD or DEL of it is under way, or nobody is known to have the answer of its ADD. */
  readonly attachments: () => Iterable<AttachmentKey & { readonly busy: boolean }>
  readonly attachment: (key: AttachmentKey) => AttachmentRecord | undefined
  readonly leasesOf: (key: AttachmentKey) => readonly LeaseRecord[]
  readonly hasNetwork: (name: string) => boolean
  /** Runs a task while no ADD or DEL of the attachment runs. */
  readonly inTurn: <T>(key: AttachmentKey, task: () => Promise<T>) => Promise<T>
}

export function leasesForCache({ ledger, serial }: LeaseService): LeasesForCache {
  return {
    attachments: function* () {
      const unanswered = new Set(ledger.unanswered().map(attachmentKey))
      for (const key of ledger.attachmentKeys()) {
        const id = attachmentKey(key)
        yield { ...key, busy: unanswered.has(id) || serial.isBusy(id) }
      }
    },
    attachment: key => ledger.attachment(key),
    leasesOf: key => ledger.leasesOf(key),
    hasNetwork: name => ledger.hasNetwork(name),
    inTurn: (key, task) => serial.run(attachmentKey(key), task),
  }
}
