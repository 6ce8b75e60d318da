import type { RecordKind } from '../../ipam/records.ts'
import type { SharedKind } from './engine.ts'

export interface RecordName {
  readonly kind: SharedKind
  readonly key: string
}

/** No kind has a space in its name. */
export function recordId({ kind, key }: { readonly kind: RecordKind; readonly key: string }): string {
  return `${kind} ${key}`
}
