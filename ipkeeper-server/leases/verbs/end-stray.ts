import { setTimeout as delay } from 'node:timers/promises'
import type { AttachmentKey } from '../../ipam/records/records.ts'
import { delAttachment } from './del.ts'
import type { LeaseService } from './service.ts'

/** Milliseconds until the next try when the store refuses. */
const pauseAfterFailure = 5000

/**
 * Ends an attachment whose DEL was served here and that appears again: an engine may carry out a second copy of its ADD
 * after its record has gone, another node may give its lease back, or its DEL came when the journal was lost and the engine
 * away. One that was not deleted here is left alone: another daemon of the same name may have it.
 */
export async function endStray(
  service: LeaseService,
  key: AttachmentKey,
  onError: (error: unknown) => void,
): Promise<void> {
  while (service.tombstones.has(key)) {
    try {
      // One that has a record was added anew while this one waited.
      await delAttachment(service, key, undefined, {
        isMeant: ({ generation }) => generation === 0,
      })
      return
    } catch (error) {
      onError(error)
      await delay(pauseAfterFailure, undefined, { ref: false })
    }
  }
}
