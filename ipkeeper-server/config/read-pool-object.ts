import type { JsonObject } from '../../shared/json/fold.ts'
import type { PoolPolicy, PoolSettings } from '../ipam/pools/pool-settings.ts'
import { SettingFaults, formatPath } from './setting-faults.ts'
import { readPools } from './read-pools.ts'
import { checkShape } from './schema-faults.ts'

/** Keys of an IPPool that no file has. */
const ownKeys = ['schema', 'recorded']

/**
 * The pool that the spec of an IPPool says, read as if it stood in the file of the daemon under the name of the object.
 *
 * @param standard what holds for pools that do not say otherwise
 * @throws Error whose message tells every fault, with the key as `kubectl explain` has it
 */
export function readPoolSpec(
  name: string,
  spec: JsonObject,
  standard: Omit<PoolPolicy, 'strategy'>,
): PoolSettings {
  const keys = Object.entries(spec).filter(([key]) => !ownKeys.includes(key))
  const file = { pools: [{ ...Object.fromEntries(keys), name }] }
  const faults = new SettingFaults()
  checkShape(file, faults)
  const pools = readPools(file, standard, faults, () => 1)
  const texts = faults.all().map(({ path, part, text }) => {
    const [, , ...inner] = part === 'key' ? path.slice(0, -1) : path
    return `${formatPath(['spec', ...inner])}: ${text}`
  })
  const [pool] = pools
  if (texts.length > 0 || !pool) throw new Error(texts.join('; '))
  return pool
}
