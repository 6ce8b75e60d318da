/** Negative where the first is older: by three numbers, of which one that is missing is 0. What follows a "-" or "+" does not count. */
export function compareVersions(one: string, other: string): number {
  const [a = [], b = []] = [one, other].map(text => text.split(/[.+-]/, 3).map(Number))
  return (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0) || (a[2] ?? 0) - (b[2] ?? 0)
}
