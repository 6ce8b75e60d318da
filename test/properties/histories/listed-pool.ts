import { addressAt, type PoolWords } from './pool-shapes.ts'
import { familyOf } from './world-state.ts'

/** A range set, address by address. */
export interface ListedSet {
  readonly family: 4 | 6
  readonly segment: string
  /** All places from the first to the last of its ranges. */
  readonly all: ReadonlySet<string>
  /** Those that may be given, in the order in which they are tried. */
  readonly usable: readonly string[]
  /** Network, broadcast and gateway addresses of its subnets, without segment. */
  readonly edges: ReadonlySet<string>
}

const listed = new Map<PoolWords, readonly ListedSet[]>()

/** The range sets of a pool. Each shape is listed once: there are few. */
export function setsOf(words: PoolWords): readonly ListedSet[] {
  let sets = listed.get(words)
  if (!sets) listed.set(words, (sets = list(words)))
  return sets
}

function list({ segment, sets }: PoolWords): readonly ListedSet[] {
  return sets.map(ranges => {
    const all: string[] = []
    const usable: string[] = []
    const edges: string[] = []
    for (const { prefix, bits, from, to, gateway, exclude = [] } of ranges) {
      edges.push(addressAt(prefix, 0), addressAt(prefix, gateway))
      if (familyOf(prefix) === 4) edges.push(addressAt(prefix, 2 ** bits - 1))
      for (let number = from; number <= to; number++) {
        const place = `${segment}/${addressAt(prefix, number)}`
        all.push(place)
        if (number !== gateway && !exclude.includes(number)) usable.push(place)
      }
    }
    const family = familyOf(ranges[0]?.prefix ?? '')
    return { family, segment, all: new Set(all), usable, edges: new Set(edges) }
  })
}

/** Whether two pools could give the same address. */
export function overlap(a: PoolWords, b: PoolWords): boolean {
  const all = setsOf(b).flatMap(set => [...set.all])
  return setsOf(a).some(set => all.some(place => set.all.has(place)))
}
