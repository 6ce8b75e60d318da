import type { FastifyInstance } from 'fastify'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { ImportReply, ImportRequest } from '../../../shared/api/import.schema.ts'
import { importAllocations } from '../../leases/verbs/import.ts'
import type { NodeFacts } from '../../leases/verbs/invocation.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'

export interface ImportRoutesOptions {
  readonly service: LeaseService
  readonly nodeFacts: NodeFacts
}

/** POST addresses that another IPAM gave: says what becomes of each, and adopts them when asked to. */
export function importRoutes(app: FastifyInstance, { service, nodeFacts }: ImportRoutesOptions): void {
  app.post<{ Body: ImportRequest }>(
    '/v1/import',
    {
      schema: {
        body: ImportRequest,
        response: { 200: ImportReply, 400: ErrorReply, 503: ErrorReply },
      },
    },
    async request => {
      const reply = await importAllocations(service, nodeFacts, request.body)
      const counts = Object.fromEntries(
        [...Map.groupBy(reply.items, ({ verdict }) => verdict)].map(([verdict, items]) => [
          verdict,
          items.length,
        ]),
      )
      request.log.info({ source: request.body.source, applied: reply.applied, ...counts }, 'import')
      return reply
    },
  )
}
