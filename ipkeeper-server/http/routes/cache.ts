import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { CachedResultReply, CacheReply } from '../../../shared/api/cache.schema.ts'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { AttachmentKey } from '../../ipam/records/records.ts'

/** The result caches of the node, as far as requests go. */
export interface ResultCaches {
  readonly state: () => Promise<CacheReply>
  /** What libcni would have written for an attachment; undefined when that cannot be told. */
  readonly cachedResult: (key: AttachmentKey) => Promise<string | undefined>
}

const text = Type.String({ minLength: 1, maxLength: 1024 })
const AttachmentPath = Type.Object({ network: text, containerId: text, ifname: text })

/** GET what is wrong with result caches, and the file that libcni would have written for an attachment. */
export function cacheRoutes(app: FastifyInstance, { caches }: { readonly caches: ResultCaches }): void {
  app.get('/v1/cache', { schema: { response: { 200: CacheReply } } }, async () => await caches.state())

  app.get<{ Params: AttachmentKey }>(
    '/v1/cache/results/:network/:containerId/:ifname',
    { schema: { params: AttachmentPath, response: { 200: CachedResultReply, 404: ErrorReply } } },
    async ({ params: { network, containerId, ifname } }): Promise<CachedResultReply> => {
      const found = await caches.cachedResult({ network, containerId, ifname })
      if (found !== undefined) return { text: found }
      throw new Problem(
        'IPK_CACHE_UNKNOWN',
        `no result of ${ifname} of container ${containerId} on network ${network} can be written from the records`,
      )
    },
  )
}
