import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import {
  AttachmentsReply,
  LeasesReply,
  PoolsReply,
  ReservationsReply,
  ReserveReply,
  ReserveRequest,
} from '../../../shared/api/listing.schema.ts'
import {
  listAttachments,
  listLeases,
  listPools,
  listReservations,
  reservedReply,
} from '../../leases/queries/listing.ts'
import { reserve, unreserve } from '../../leases/verbs/reserve.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'

const LimitQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({ pattern: '^[1-9][0-9]{0,8}$', description: 'at most so many leases' }),
    ),
  },
  { additionalProperties: false },
)

const ReservationPath = Type.Object({
  segment: Type.String({ minLength: 1, maxLength: 63 }),
  address: Type.String({ minLength: 1, maxLength: 64 }),
})

/** GET leases, attachments, pools, reservations; POST and DELETE reservations. */
export function listingRoutes(app: FastifyInstance, { service }: { readonly service: LeaseService }): void {
  app.get<{ Querystring: { limit?: string } }>(
    '/v1/leases',
    { schema: { querystring: LimitQuery, response: { 200: LeasesReply, 400: ErrorReply } } },
    async request => {
      const { limit } = request.query
      return Promise.resolve({ leases: listLeases(service, limit === undefined ? undefined : Number(limit)) })
    },
  )

  app.get('/v1/attachments', { schema: { response: { 200: AttachmentsReply } } }, async () =>
    Promise.resolve({ attachments: listAttachments(service) }),
  )

  app.get('/v1/pools', { schema: { response: { 200: PoolsReply } } }, async () => ({
    pools: await listPools(service, () => nextTurn()),
  }))

  app.get('/v1/reservations', { schema: { response: { 200: ReservationsReply } } }, async () =>
    Promise.resolve({ reservations: listReservations(service) }),
  )

  app.post<{ Body: ReserveRequest }>(
    '/v1/reservations',
    {
      schema: { body: ReserveRequest, response: { 200: ReserveReply, 400: ErrorReply, 409: ErrorReply } },
    },
    async request => {
      const { address, owner, segment = 'default', note } = request.body
      const record = await reserve(service, { address, owner, segment, note })
      request.log.info({ address: record.address, owner, segment }, 'reserved')
      return reservedReply(service, record)
    },
  )

  app.delete<{ Params: { segment: string; address: string } }>(
    '/v1/reservations/:segment/:address',
    { schema: { params: ReservationPath, response: { 200: Type.Object({}), 404: ErrorReply } } },
    async request => {
      const { segment, address } = request.params
      await unreserve(service, segment, address)
      request.log.info({ address, segment }, 'unreserved')
      return {}
    },
  )
}
