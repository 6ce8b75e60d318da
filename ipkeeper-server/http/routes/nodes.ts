import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { ForgetNodeReply } from '../../../shared/api/node.schema.ts'
import { forgetNode } from '../../leases/verbs/forget-node.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'

const NodePath = Type.Object({ node: Type.String({ minLength: 1, maxLength: 253 }) })

/** POST that another node is gone for good. */
export function nodeRoutes(app: FastifyInstance, { service }: { readonly service: LeaseService }): void {
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
