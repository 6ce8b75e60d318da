import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import {
  attachmentTerms,
  leaseTerms,
  listingQuery,
  poolTerms,
  reservationTerms,
  type ListingQuery,
} from '../../../shared/api/listing-query.schema.ts'
import {
  AttachmentsReply,
  LeasesReply,
  PoolsReply,
  ReservationsReply,
  ReserveReply,
  ReserveRequest,
} from '../../../shared/api/listing.schema.ts'
import type { ClusterView } from '../../kubernetes/cluster-view.ts'
import { reservedReply } from '../../leases/queries/listing.ts'
import {
  selectAttachments,
  selectLeases,
  selectPools,
  selectReservations,
} from '../../leases/queries/select-listed.ts'
import { reserve, unreserve } from '../../leases/verbs/reserve.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'

const ReservationPath = Type.Object({
  segment: Type.String({ minLength: 1, maxLength: 63 }),
  address: Type.String({ minLength: 1, maxLength: 64 }),
})

/** GET leases, attachments, pools, reservations; POST and DELETE reservations. */
export function listingRoutes(
  app: FastifyInstance,
  { service, cluster }: { readonly service: LeaseService; readonly cluster: ClusterView | undefined },
): void {
  app.get<{ Querystring: ListingQuery<(typeof leaseTerms.sorts)[number]> }>(
    '/v1/leases',
    { schema: { querystring: listingQuery(leaseTerms), response: { 200: LeasesReply, 400: ErrorReply } } },
    request => selectLeases(service, request.query, cluster),
  )

  app.get<{ Querystring: ListingQuery<(typeof attachmentTerms.sorts)[number]> }>(
    '/v1/attachments',
    {
      schema: {
        querystring: listingQuery(attachmentTerms),
        response: { 200: AttachmentsReply, 400: ErrorReply },
      },
    },
    request => selectAttachments(service, request.query, cluster),
  )

  app.get<{ Querystring: ListingQuery<(typeof poolTerms.sorts)[number]> }>(
    '/v1/pools',
    { schema: { querystring: listingQuery(poolTerms), response: { 200: PoolsReply, 400: ErrorReply } } },
    request => selectPools(service, request.query, () => nextTurn()),
  )

  app.get<{ Querystring: ListingQuery<(typeof reservationTerms.sorts)[number]> }>(
    '/v1/reservations',
    {
      schema: {
        querystring: listingQuery(reservationTerms),
        response: { 200: ReservationsReply, 400: ErrorReply },
      },
    },
    request => selectReservations(service, request.query),
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
