import type { PoolsReply } from '../../../../shared/api/listing.schema.ts'
import { counted } from '../../../../shared/text/counted.ts'
import { type Check, fail, noDaemon, ok, skip, warn } from '../check-result.ts'

/** A pool has little left where less than one of so many addresses is free, as the alert IpkeeperPoolNearlyFull has it. */
const little = 10n

interface Room {
  readonly pool: string
  readonly says: string
  readonly free: bigint
  readonly capacity: bigint
  /** Nothing of it is free because somebody wants that. */
  readonly drains: boolean
}

const roomOf = ({ pools }: PoolsReply): readonly Room[] =>
  pools.flatMap(({ name, families }) =>
    families.map(({ family, free, capacity, used, held, nextFreeAt, drains = false }) => ({
      pool: name,
      says: `${name} (${family}) has ${free} of ${capacity} addresses free: ${used} in use, ${held} kept or reserved${nextFreeAt === null ? '' : `, the next comes free at ${nextFreeAt}`}`,
      free: BigInt(free),
      capacity: BigInt(capacity),
      drains,
    })),
  )

export const poolsCheck: Check = {
  id: 'pools',
  title: 'pools have free addresses',
  why: 'A pod that asks for no address by name is refused by a full pool.',
  run: async node => {
    if (!(await node.status())) return noDaemon
    const all = roomOf((await node.ask('/v1/pools')) as PoolsReply)
    const rooms = all.filter(({ capacity, drains }) => capacity > 0n && !drains)
    if (rooms.length === 0)
      return skip(
        all.some(({ drains }) => drains)
          ? 'every pool is draining'
          : 'no pool is known: a pool appears with the first ADD of its network',
      )
    const full = rooms.filter(({ free }) => free === 0n)
    const nearly = rooms.filter(({ free, capacity }) => free > 0n && free * little < capacity)
    const [worst] = [...full, ...nearly]
    const others = full.length + nearly.length - 1
    const says = `${worst?.says ?? ''}${others > 0 ? `; and ${counted(others, 'other')} with less than 10 % free` : ''}`
    if (worst && full.length > 0) return fail(says, 'ipkeeperctl', 'pools', worst.pool)
    if (worst) return warn(says, 'ipkeeperctl', 'pools', worst.pool)
    return ok(`${counted(new Set(rooms.map(({ pool }) => pool)).size, 'pool')}, each at least 10 % free`)
  },
}
