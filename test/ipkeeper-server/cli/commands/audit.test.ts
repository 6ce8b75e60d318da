import t from 'tap'
import { auditCommand } from '../../../../ipkeeper-server/cli/commands/audit.ts'
import { noPaint } from '../../../../ipkeeper-server/cli/framework/terminal-text.ts'
import type { AuditReply, Finding } from '../../../../shared/api/audit.schema.ts'

const finding: Finding = {
  ...{ kind: 'foreign-link', severity: 'note', why: 'ipkeeper did not make it', action: 'none' },
  ...{ says: 'veth we\u001b[31mird is down', remedy: 'ip link delete we\u001b[31mird', state: 'reported' },
  podUid: null,
  ...{ address: null, pod: null, network: null, containerId: null, ifname: null, link: 'we\u001b[31mird' },
}
const reply: AuditReply = {
  ...{ node: 'n1', mode: 'repair', takenAt: '2026-01-02T00:00:00.000Z', attachments: 0 },
  witnesses: [{ name: 'host links', state: 'asked', says: '1 veth\u0007' }],
  findings: [finding],
}

t.test('a name of control characters does not reach the terminal', t => {
  const text = auditCommand.print(reply, noPaint, true)
  t.match(text, 'veth we?[31mird is down')
  t.notMatch(text, /(?!\n)\p{Cc}/u)
  t.end()
})

t.test('notes alone are no failure', t => {
  for (const [severity, exit] of [
    ['note', 0],
    ['warning', 1],
    ['error', 1],
  ] as const)
    t.equal(auditCommand.exitCode({ ...reply, findings: [{ ...finding, severity }] }), exit, severity)
  t.equal(auditCommand.exitCode({ ...reply, findings: [] }), 0)
  t.end()
})
