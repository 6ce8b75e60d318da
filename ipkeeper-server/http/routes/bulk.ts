import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  BulkReply,
  ReleaseManyRequest,
  ReserveManyRequest,
  UnreserveManyRequest,
  type BulkItem,
} from '../../../shared/api/bulk.schema.ts'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { inBulk, moving, releasing, reserving, unreserving } from '../../leases/verbs/bulk.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'

const response = { 200: BulkReply, 400: ErrorReply, 503: ErrorReply }

/** A line for each address that was changed, as where one address is named. */
function answer(request: FastifyRequest, said: string, apply: boolean, items: BulkItem[]): BulkReply {
  for (const { segment, address, verdict, reason } of apply ? items : [])
    if (verdict === 'change') request.log.info({ segment, address, reason }, said)
  return { applied: apply, items }
}

/** POST what is to become of many addresses: says it, or does it. */
export function bulkRoutes(app: FastifyInstance, { service }: { readonly service: LeaseService }): void {
  app.post<{ Body: ReserveManyRequest }>(
    '/v1/bulk/reserve',
    { schema: { body: ReserveManyRequest, response } },
    async request =>
      answer(request, 'reserved', request.body.apply, await inBulk(service, request.body, reserving)),
  )

  app.post<{ Body: ReserveManyRequest }>(
    '/v1/bulk/move',
    { schema: { body: ReserveManyRequest, response } },
    async request =>
      answer(request, 'moved', request.body.apply, await inBulk(service, request.body, moving)),
  )

  app.post<{ Body: UnreserveManyRequest }>(
    '/v1/bulk/unreserve',
    { schema: { body: UnreserveManyRequest, response } },
    async request =>
      answer(request, 'unreserved', request.body.apply, await inBulk(service, request.body, unreserving)),
  )

  app.post<{ Body: ReleaseManyRequest }>(
    '/v1/bulk/release',
    { schema: { body: ReleaseManyRequest, response } },
    async request =>
      answer(request, 'released', request.body.apply, await inBulk(service, request.body, releasing)),
  )
}
