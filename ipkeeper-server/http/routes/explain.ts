import type { FastifyInstance } from 'fastify'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { ExplainReply, ExplainRequest } from '../../../shared/api/explain.schema.ts'
import type { ClusterView } from '../../kubernetes/cluster-view.ts'
import { explainAdd } from '../../leases/queries/explain.ts'
import type { RequestReader } from '../../leases/verbs/request-reader.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'

export interface ExplainRoutesOptions {
  readonly service: LeaseService
  readonly requests: RequestReader
  readonly cluster: ClusterView | undefined
}

/** POST explain: what an ADD of a pod would get now, and why. Changes nothing. */
export function explainRoutes(
  app: FastifyInstance,
  { service, requests, cluster }: ExplainRoutesOptions,
): void {
  app.post<{ Body: ExplainRequest }>(
    '/v1/explain',
    {
      schema: {
        body: ExplainRequest,
        response: { 200: ExplainReply, 400: ErrorReply, 404: ErrorReply, 503: ErrorReply },
      },
    },
    async request => await explainAdd(service, requests, cluster, request.body),
  )
}
