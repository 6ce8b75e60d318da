import type { AuditReply } from '../../../shared/api/audit.schema.ts'

/** Compares the leases with the node, for operators; changes nothing. */
export interface NodeAudit {
  audit(): Promise<AuditReply>
}
