/** What can go wrong in an episode, and in which: pure. */
import { SeededRandom } from '../rigs/seeded-random.ts'
import type { StoreKind } from './stage.ts'

export interface FaultKind {
  readonly kind: string
  readonly stores: readonly StoreKind[]
  /** What has to be mended before it can be survived; it is left out until then, unless somebody asks for it. */
  readonly pending?: string
  /** Meanwhile a daemon may refuse a DEL, having said what is wrong. */
  readonly refusesDels?: true
}

const [both, shared, own] = [['etcd', 'embedded'], ['etcd'], ['embedded']] as const satisfies StoreKind[][]

export const faultKinds: readonly FaultKind[] = [
  { kind: 'daemon killed', stores: both },
  { kind: 'daemon frozen', stores: both },
  { kind: 'node rebooted', stores: both },
  { kind: 'node renamed', stores: both },
  { kind: 'clock set ahead', stores: both },
  { kind: 'clock set back', stores: both },
  { kind: 'disk full', stores: both },
  {
    ...{ kind: 'disk frozen', stores: both },
    // What cannot be written in time cannot be queued.
    refusesDels: true,
  },
  { kind: 'socket removed', stores: both },
  { kind: 'queue folder removed', stores: both },
  { kind: 'node cut off', stores: shared },
  { kind: 'server killed', stores: shared },
  { kind: 'server frozen', stores: shared },
  { kind: 'server isolated', stores: shared },
  { kind: 'engine killed', stores: shared },
  { kind: 'engine slow', stores: shared },
  { kind: 'compacted', stores: shared },
  { kind: 'engine wiped', stores: shared },
  { kind: 'engine restored', stores: shared },
  { kind: 'ledger removed', stores: own, refusesDels: true },
  { kind: 'ledger emptied', stores: own, refusesDels: true },
  { kind: 'byte flipped', stores: own, refusesDels: true },
]

export interface EpisodePlan {
  readonly store: StoreKind
  /** These happen, in this order as far as they can. */
  readonly kinds: readonly string[]
}

export interface PlanOptions {
  /** Also what is known not to be survived. */
  readonly pending?: boolean
  /** Only these faults, where the episode has them; also pending ones. */
  readonly only?: readonly string[]
  /** Only pods that live so; also pending ones. */
  readonly pods?: readonly string[]
}

/** As many seeds in a row have every kind of fault at least once, in each store that it can happen in. */
export const cycle = 5
const sharedInCycle = 3
const faultsEach = 7

/** What happens in the episode of a seed: so drawn that neighbouring seeds have different kinds. */
export function planEpisode(seed: number, { pending = false, only }: PlanOptions = {}): EpisodePlan {
  const place = seed % cycle
  const store = place < sharedInCycle ? 'etcd' : 'embedded'
  const inCycle = store === 'etcd' ? sharedInCycle : cycle - sharedInCycle
  const nth = Math.floor(seed / cycle) * inCycle + (store === 'etcd' ? place : place - sharedInCycle)
  const all = faultKinds
    .filter(({ stores }) => stores.includes(store))
    .filter(fault => pending || only || fault.pending === undefined)
    .map(({ kind }) => kind)
  if (only) return { store, kinds: only.filter(kind => all.includes(kind)) }
  const dealt = Array.from({ length: Math.min(faultsEach, all.length) }, (_, index) => {
    const position = nth * faultsEach + index
    // A pack of cards that is dealt to one episode after the other, and shuffled when it is at its end.
    const pack = new SeededRandom(Math.floor(position / all.length)).shuffle(all)
    return pack[position % all.length] ?? ''
  })
  return { store, kinds: new SeededRandom(seed).shuffle([...new Set(dealt)]) }
}

/** Kinds that a whole cycle is to have, as "KIND (STORE)". */
export function promised(options: PlanOptions = {}): readonly string[] {
  const kinds = Array.from({ length: cycle }, (_, seed) => planEpisode(seed, options))
  return [...new Set(kinds.flatMap(({ store, kinds }) => kinds.map(kind => nameIn(kind, store))))].sort()
}

export const nameIn = (kind: string, store: StoreKind): string => `${kind} (${store})`
