import type { FastifyInstance } from 'fastify'
import { AuditReply } from '../../../shared/api/audit.schema.ts'
import type { NodeAudit } from '../../leases/queries/node-audit.ts'

/** GET what a pass of the reconciler would find and do at this moment; nothing is done. */
export function auditRoutes(app: FastifyInstance, { audit }: { readonly audit: NodeAudit }): void {
  app.get('/v1/audit', { schema: { response: { 200: AuditReply } } }, async () => await audit.audit())
}
