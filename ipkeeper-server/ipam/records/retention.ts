import { formatDuration, parseDuration } from '../../../shared/text/duration.ts'

/** What becomes of an address after DEL; durations are milliseconds. */
export type Retention = 'release' | 'while-owner-exists' | 'forever' | { readonly milliseconds: number }

export function parseRetention(text: string): Retention | undefined {
  if (text === 'release' || text === 'while-owner-exists' || text === 'forever') return text
  const milliseconds = parseDuration(text)
  return milliseconds === undefined ? undefined : { milliseconds }
}

export function formatRetention(retention: Retention): string {
  return typeof retention === 'string' ? retention : formatDuration(retention.milliseconds)
}

/** Whether the holder keeps the address beyond its DEL. */
export function retains(retention: Retention): boolean {
  return retention !== 'release'
}
