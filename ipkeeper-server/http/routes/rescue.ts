import type { FastifyInstance } from 'fastify'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { RescueReply } from '../../../shared/api/rescue.schema.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'

/** POST: the ledger is written from memory to a new file, in the place of one that is gone or damaged. */
export function rescueRoutes(app: FastifyInstance, { service }: { readonly service: LeaseService }): void {
  const { ledger } = service

  app.post(
    '/v1/rescue',
    { schema: { hide: true, response: { 200: RescueReply, 503: ErrorReply } } },
    async (request): Promise<RescueReply> => {
      const { file } = ledger
      const isSound = file !== undefined && !file.fault() && file.findings().length === 0
      if (isSound) {
        const nothing = { kinds: {}, notes: 0, history: 0, unreadable: [], aside: [] }
        return { needed: false, file: file.path, ...nothing, inUse: true }
      }
      const rescued = await ledger.rescue()
      const { kinds, history, unreadable, aside, inUse } = rescued
      request.log.warn(
        { file: rescued.file, kinds, history, unreadable: unreadable.slice(0, 5), aside, inUse },
        'the ledger was written from memory to a new file',
      )
      return { needed: true, ...rescued, kinds: { ...kinds }, unreadable: [...unreadable], aside: [...aside] }
    },
  )
}
