import { readFileSync } from 'node:fs'
import type { AttachmentsReply } from '../../../shared/api/listing.schema.ts'
import { noDaemon, ok, warn, type Check } from '../check.ts'

/** The clock may have been set since. */
const slack = 120_000

export const oldBootCheck: Check = {
  id: 'old-boot',
  title: 'no sandbox of an earlier boot has an address',
  why: 'Such a sandbox cannot run any more; until somebody says so its address is in use for nobody.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const { attachments } = (await node.ask('/v1/attachments')) as AttachmentsReply
    const up = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000
    const booted = node.now() - up - slack
    const old = attachments.filter(item => item.node === status.node && Date.parse(item.since) < booted)
    if (old.length > 0)
      return warn(`${old.length} of ${attachments.length} are older than this boot`, 'ipkeeperctl', 'audit')
    return ok(`${attachments.length} attachments, all of this boot`)
  },
}
