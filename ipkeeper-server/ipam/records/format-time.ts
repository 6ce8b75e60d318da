/** ISO 8601 without fractions, UTC. `time`: milliseconds since the epoch. */
export function formatTime(time: number): string {
  return new Date(time).toISOString().replace(/\.[0-9]{3}Z$/, 'Z')
}
