import type { SharedAspect } from '../../ipkeeper-server/store/lease-store.ts'

/** What the ledger knows of a store that nodes share, while all is well there. */
export function sharedAspect(follow: SharedAspect['follow'] = () => undefined): SharedAspect {
  return {
    follow,
    status: () => ({ state: 'ready', owed: 0 }),
    isHeard: () => true,
    haveAllTold: () => true,
    tookUp: () => undefined,
    takenAtStart: () => [],
    lastContactAge: () => 0,
    isOwnName: () => true,
    sure: () => undefined,
    hasEnded: () => false,
    ended: () => [],
    ignores: [],
    named: () => Promise.resolve(),
  }
}
