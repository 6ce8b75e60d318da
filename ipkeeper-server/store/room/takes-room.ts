import type { Change } from '../../ipam/records/records.ts'

/**
 * Whether a change gives somebody something: an ADD, an import, a reservation. What ends a pod, keeps its address, or notes
 * that its ADD was answered takes nothing for good, and may use what is kept on a disk that is full.
 */
export function takesRoom(change: Change): boolean {
  return change.some(({ kind, expect, record }) => {
    if (record === null) return false
    if (kind === 'reservation') return expect === null
    return (
      kind === 'attachment' && (expect === null || ('unanswered' in record && Boolean(record.unanswered)))
    )
  })
}
