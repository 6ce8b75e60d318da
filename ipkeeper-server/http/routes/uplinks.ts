import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { listingQuery, uplinkTerms, type ListingQuery } from '../../../shared/api/listing-query.schema.ts'
import { RestoreUplinkReply, UplinksReply, type UplinkItem } from '../../../shared/api/uplink.schema.ts'
import { selectUplinks } from '../../leases/queries/select-uplinks.ts'
import type { HostUplinks } from '../../network/pod-network.ts'

const BridgePath = Type.Object({ bridge: Type.String({ minLength: 1, maxLength: 64 }) })

/** GET the uplinks that are ports of our bridges; POST that one be given back to the host. */
export function uplinkRoutes(app: FastifyInstance, { uplinks }: { readonly uplinks: HostUplinks }): void {
  app.get<{ Querystring: ListingQuery<(typeof uplinkTerms.sorts)[number]> }>(
    '/v1/uplinks',
    { schema: { querystring: listingQuery(uplinkTerms), response: { 200: UplinksReply, 400: ErrorReply } } },
    async request => selectUplinks(await uplinks.list(), request.query),
  )

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
