import type { PoolsReply } from '../../../shared/api/listing.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'

/** The pool of this name, once for each segment that has one. Throws IPK_REQUEST_INVALID where there is none. */
export async function listPool(daemon: DaemonClient, name: string): Promise<PoolsReply['pools']> {
  const { pools } = (await daemon.ask('GET', '/v1/pools')) as PoolsReply
  const chosen = pools.filter(pool => pool.name === name)
  if (chosen.length > 0) return chosen
  throw new Problem('IPK_REQUEST_INVALID', `there is no pool ${name}`, {
    hint: 'a pool of a network appears with its first ADD; see: ipkeeperctl pools',
  })
}
