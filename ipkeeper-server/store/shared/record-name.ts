import type { SharedKind } from './engine.ts'

export interface RecordName {
  readonly kind: SharedKind
  readonly key: string
}

/** No kind has a space in its name. */
export function recordId({ kind, key }: RecordName): string {
  return `${kind} ${key}`
}
