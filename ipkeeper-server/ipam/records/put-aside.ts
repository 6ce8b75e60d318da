import type { LeaseRecord } from './records.ts'

/** Begins the source of a lease of an address that somebody else on the network answered for. */
const mark = 'put aside: '

/** @param why for listings: who answered */
export function putAsideSource(why: string): string {
  return `${mark}${why}`
}

/** Whether dynamic choice leaves the address alone because somebody else on the network has it. */
export function isPutAside({ state, source }: Pick<LeaseRecord, 'state' | 'source'>): boolean {
  return state === 'cooling' && source.startsWith(mark)
}
