import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { poolOf } from '../../ipam/pools/pool-record.ts'
import type { PoolRange, PoolRecord } from '../../ipam/records/records.ts'
import { readPeoplesPool, type PoolReader } from './pool-in-force.ts'
import type { PoolRecorded } from './ip-pool.schema.ts'
import { objectSchema } from './layout-version.ts'
import { readSpec, UnreadableObject, type ApiRecord } from './read-object.ts'

/** Range as the file of the daemon has it; those that are remembered have every key. */
interface RangeEntry {
  readonly subnet: string
  readonly rangeStart: string
  readonly rangeEnd: string
  readonly gateway: string
  readonly exclude?: readonly string[]
  readonly draining?: boolean
}

function rangeEntry({ exclude, ...range }: PoolRange): RangeEntry {
  return {
    ...range,
    ...(exclude.length > 0 && { exclude: exclude.map(([first, last]) => `${first}-${last}`) }),
  }
}

export function poolSpec(record: Omit<PoolRecord, 'object'>): JsonObject {
  const { generation, name, segment, origin, ranges, ...rest } = record
  const nothing: Readonly<Record<string, never>> = rest
  const recorded: PoolRecorded = { generation, origin: origin === 'config' ? origin : 'network', name }
  return {
    ...nothing,
    schema: objectSchema,
    segment,
    ...(ranges.length > 0 && { ranges: ranges.map(set => set.map(rangeEntry)) }),
    recorded,
  }
}

/** In the order of toPoolRecord: texts of ranges are compared (sameRanges), and the API has an order of its own. */
function readRange({ subnet, rangeStart, rangeEnd, gateway, exclude = [], draining }: RangeEntry): PoolRange {
  return {
    ...{ subnet, rangeStart, rangeEnd, gateway },
    exclude: exclude.map((text): [string, string] => {
      const [first = '', last = first] = text.split('-')
      return [first, last]
    }),
    ...(draining === true && { draining }),
  }
}

/** Whether people made the pool, and not ipkeeper to remember it. */
export function isMadeByPeople({ spec }: Pick<ApiRecord, 'spec'>): boolean {
  return !isJsonObject(spec['recorded'])
}

/** Throws UnreadableObject. */
export function readPoolObject(object: ApiRecord, readPool: PoolReader): PoolRecord {
  if (isMadeByPeople(object)) return readPeoplesPool(object, readPool)
  const spec = readSpec(object)
  try {
    const { generation, origin, name } = spec['recorded'] as PoolRecorded
    const ranges = (spec['ranges'] ?? []) as readonly (readonly RangeEntry[])[]
    const record: PoolRecord = {
      generation,
      name,
      segment: typeof spec['segment'] === 'string' ? spec['segment'] : '',
      ...(origin === 'config' && { origin }),
      ranges: ranges.map(set => set.map(readRange)),
    }
    poolOf(record)
    return record
  } catch (error) {
    throw new UnreadableObject(error instanceof Error ? error.message : String(error))
  }
}
