/** "12s", "5m", "3h", "2d": how far a moment is from now. */
export function distance(time: string): string {
  const seconds = Math.abs(Date.now() - Date.parse(time)) / 1000
  if (seconds < 120) return `${Math.round(seconds)}s`
  if (seconds < 7200) return `${Math.round(seconds / 60)}m`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)}h`
  return `${Math.round(seconds / 86_400)}d`
}
