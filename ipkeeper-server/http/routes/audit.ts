import type { FastifyInstance } from 'fastify'
import { AuditReply } from '../../../shared/api/audit.schema.ts'
import type { NodeAudit } from '../../leases/queries/node-audit.ts'
import type { ReplyFacts } from '../problem-reply.ts'

/** GET what a pass of the reconciler would find and do at this moment; nothing is done. */
export function auditRoutes(
  app: FastifyInstance,
  { audit, remedy = text => text }: { readonly audit: NodeAudit } & Pick<ReplyFacts, 'remedy'>,
): void {
  app.get('/v1/audit', { schema: { response: { 200: AuditReply } } }, async () => {
    const reply = await audit.audit()
    return { ...reply, findings: reply.findings.map(of => ({ ...of, remedy: remedy(of.remedy) })) }
  })
}
