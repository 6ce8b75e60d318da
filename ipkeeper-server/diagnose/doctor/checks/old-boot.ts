import type { AttachmentsReply } from '../../../../shared/api/listing.schema.ts'
import { noDaemon, ok, skip, warn, type Check } from '../check.ts'

export const oldBootCheck: Check = {
  id: 'old-boot',
  title: 'no sandbox of an earlier boot has an address',
  why: 'Such a sandbox cannot run any more; until somebody says so its address is in use for nobody.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const { attachments } = (await node.ask('/v1/attachments')) as AttachmentsReply
    // By the boots themselves: the clock may have been set since.
    if (attachments.some(({ bootId }) => bootId === undefined))
      return skip(`ipkeeper-server ${status.version} does not tell of boots`)
    const old = attachments.filter(
      ({ node: its, bootId }) => its === status.node && bootId !== null && bootId !== status.bootId,
    )
    if (old.length > 0)
      return warn(`${old.length} of ${attachments.length} are older than this boot`, 'ipkeeperctl', 'audit')
    return ok(`${attachments.length} attachments, all of this boot`)
  },
}
