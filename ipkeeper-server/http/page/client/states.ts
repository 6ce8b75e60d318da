import type { AddressState } from '../../../../shared/api/address.schema.ts'
import type { MapState } from '../../../../shared/api/map.schema.ts'

/** How a state is told without colour: by a letter on the map, and by words. */
export interface StateSign {
  readonly letter: string
  readonly word: string
  readonly says: string
}

export const stateSigns: Readonly<Record<MapState, StateSign>> = {
  bound: { letter: 'L', word: 'leased', says: 'a pod has it' },
  held: { letter: 'H', word: 'held', says: 'kept for its holder by retention' },
  cooling: { letter: 'C', word: 'cooling', says: 'cooling down after its release' },
  aside: { letter: 'A', word: 'put aside', says: 'another machine on the network answers for it' },
  reserved: { letter: 'R', word: 'reserved', says: 'reserved, but not in use' },
  free: { letter: '\u00b7', word: 'free', says: 'not in use' },
  unusable: {
    letter: '\u00d7',
    word: 'never given',
    says: 'excluded, or a gateway, network or broadcast address',
  },
}

/** In the order of the legend. */
export const mapStates = Object.keys(stateSigns) as MapState[]

/** What the daemon says of a single address, in the words of the map. */
export const addressWords: Readonly<Record<AddressState, string>> = {
  bound: stateSigns.bound.word,
  held: stateSigns.held.word,
  cooling: stateSigns.cooling.word,
  reserved: stateSigns.reserved.word,
  free: stateSigns.free.word,
  unusable: stateSigns.unusable.word,
  expired: 'free: it was kept, and its time is over',
  fallback: 'given by another plugin',
  outside: 'in no pool known so far',
}
