import type { AuditReply } from '../../../../shared/api/audit.schema.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { fail, noDaemon, ok, skip, warn, type Check } from '../check.ts'

export const auditCheck: Check = {
  id: 'audit',
  title: 'leases, sandboxes and kernel agree',
  why: 'Where they differ, an address is lost for nobody, or two pods have one.',
  run: async node => {
    if (!(await node.status())) return noDaemon
    let audit: AuditReply
    try {
      audit = (await node.ask('/v1/audit')) as AuditReply
    } catch (error) {
      if (error instanceof Problem && error.code === 'IPK_ROUTE_UNKNOWN')
        return skip('this daemon does not compare them yet')
      throw error
    }
    const of = (severity: string): AuditReply['findings'] =>
      audit.findings.filter(finding => finding.severity === severity)
    const [error] = of('error')
    const [warning] = of('warning')
    const count = `${audit.findings.length} ${audit.findings.length === 1 ? 'finding' : 'findings'}`
    if (error) return fail(`${count}: ${error.says}`, 'ipkeeperctl', 'audit')
    if (warning) return warn(`${count}: ${warning.says}`, 'ipkeeperctl', 'audit')
    return ok(`${audit.attachments} attachments agree with the node`)
  },
}
