/**
 * The place of the first element of a sorted list that is not below a bound; the length when all are.
 *
 * @param isBelow true of the elements of a first part of the list, and of no later one
 */
export function lowerBound<T>(sorted: readonly T[], isBelow: (element: T) => boolean): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    // Below the length there is an element at each place.
    if (isBelow(sorted[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}
