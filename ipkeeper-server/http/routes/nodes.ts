import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { listingQuery, nodeTerms, type ListingQuery } from '../../../shared/api/listing-query.schema.ts'
import { ForgetNodeReply, NodesReply } from '../../../shared/api/node.schema.ts'
import { selectNodes, type NodeFigures } from '../../leases/queries/known-nodes.ts'
import { forgetNode } from '../../leases/verbs/forget-node.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'

const NodePath = Type.Object({ node: Type.String({ minLength: 1, maxLength: 253 }) })

export interface NodeRoutesOptions {
  readonly service: LeaseService
  readonly nodeFigures: NodeFigures
}

/** GET the nodes; POST that another one is gone for good. */
export function nodeRoutes(app: FastifyInstance, { service, nodeFigures }: NodeRoutesOptions): void {
  app.get<{ Querystring: ListingQuery<(typeof nodeTerms.sorts)[number]> }>(
    '/v1/nodes',
    { schema: { querystring: listingQuery(nodeTerms), response: { 200: NodesReply, 400: ErrorReply } } },
    request => selectNodes(service, nodeFigures, request.query),
  )

  app.post<{ Params: { node: string } }>(
    '/v1/nodes/:node/forget',
    {
      schema: {
        params: NodePath,
        response: { 200: ForgetNodeReply, 404: ErrorReply, 409: ErrorReply, 503: ErrorReply },
      },
    },
    async (request, reply): Promise<ForgetNodeReply> => {
      // Who interrupts the command has said nothing.
      const left = new AbortController()
      reply.raw.once('close', () => {
        left.abort()
      })
      const told = await forgetNode(service, request.params.node, { signal: left.signal })
      const { node, changed, bound } = told
      if (changed) request.log.warn({ node, bound }, `node ${node} was declared gone for good`)
      return told
    },
  )
}
