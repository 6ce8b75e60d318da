import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { RestoreUplinkReply, UplinksReply, type UplinkItem } from '../../../shared/api/uplink.schema.ts'
import type { HostUplinks } from '../../network/pod-network.ts'

const BridgePath = Type.Object({ bridge: Type.String({ minLength: 1, maxLength: 64 }) })

/** GET the uplinks that are ports of our bridges; POST that one be given back to the host. */
export function uplinkRoutes(app: FastifyInstance, { uplinks }: { readonly uplinks: HostUplinks }): void {
  app.get('/v1/uplinks', { schema: { response: { 200: UplinksReply } } }, async () => ({
    uplinks: await uplinks.list(),
  }))

  app.post<{ Params: { bridge: string } }>(
    '/v1/uplinks/:bridge/restore',
    {
      schema: {
        params: BridgePath,
        response: { 200: RestoreUplinkReply, 400: ErrorReply, 404: ErrorReply, 409: ErrorReply },
      },
    },
    async (request): Promise<{ restored: UplinkItem }> => ({
      restored: await uplinks.restore(request.params.bridge),
    }),
  )
}
