/** Waits until daemons have seen that their disks have room again. */
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { until } from '../rigs/poll.ts'

/** Milliseconds in which they do, as docs/operations/full-disk.md promises. */
const promised = 3_000

/**
 * Resolves when all of them add pods; fails when one does not in time.
 *
 * @param slack milliseconds beyond what is promised
 */
export async function roomSeen(
  nodes: readonly { status(): Promise<Pick<StatusReply, 'disk'>> }[],
  slack: number,
): Promise<void> {
  await until(
    'pods are added on every disk that has room',
    async () => {
      const states = await Promise.all(nodes.map(node => node.status()))
      return states.every(({ disk }) => !disk?.refuses)
    },
    promised + slack,
  )
}
