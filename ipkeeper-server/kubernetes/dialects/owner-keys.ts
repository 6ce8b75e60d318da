import type { StringMap } from '../../ipam/records/pod-facts.ts'

/** The prefix of the annotations that the forerunner reads from a Deployment instead of its pods. */
export const forerunnerPrefix = 'ipkeeper.generals.space/'

const isForerunners = (key: string): boolean => key.startsWith(forerunnerPrefix)

/**
 * The forerunner's real syntax puts `ip_pool` and `gateway` on the Deployment itself, and not on its template: a pod that
 * bears none of that dialect's keys has those of its owner. Other annotations of the owner are its own.
 */
export function withOwnersKeys(own: StringMap, owners: StringMap | undefined): StringMap {
  if (Object.keys(own).some(isForerunners)) return own
  const theirs = Object.entries(owners ?? {}).filter(([key]) => isForerunners(key))
  return theirs.length === 0 ? own : { ...Object.fromEntries(theirs), ...own }
}
