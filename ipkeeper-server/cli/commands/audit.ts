import type { AuditReply, Finding } from '../../../shared/api/audit.schema.ts'
import { command } from '../framework/command.ts'
import { formatTable, type Paint, visible } from '../framework/terminal-text.ts'
import { showProgress } from '../framework/progress.ts'

/** Milliseconds: each pod's namespace is entered. */
const patience = 120_000

const what: Readonly<Record<Finding['action'], string>> = {
  'end-attachment': 'end it',
  'remove-link': 'remove it',
  none: 'nothing',
}

/** "would end it", "waits", "told only". */
function planOf({ action, state }: Finding, mode: AuditReply['mode']): string {
  if (state === 'reported') return 'told only'
  if (state === 'waiting') return action === 'none' ? 'waits' : `waits, then ${what[action]}`
  return mode === 'repair' ? what[action] : `${what[action]}, were the mode repair`
}

const tones = { error: 'bad', warning: 'warn', note: 'faint' } as const

function printFinding(finding: Finding, mode: AuditReply['mode'], paint: Paint): string {
  const { severity, kind, says, why, remedy } = finding
  const lines = [
    `${severity}: ${says} [${kind}]`,
    `  why: ${why}`,
    `  plan: ${planOf(finding, mode)}`,
    ...(remedy === '' ? [] : [`  mend: ${remedy}`]),
  ]
  // Links of other programs are among them, and their names may have control characters.
  const shown = lines.map(line => `${visible(line)}\n`).join('')
  return `${paint(tones[severity], severity)}${shown.slice(severity.length)}`
}

export const auditCommand = command({
  name: 'audit',
  watch: true,
  arguments: [],
  summary: 'compare leases with sandboxes, namespaces, links and pods; show what would be done',
  options: {},
  examples: [
    { line: 'ipkeeperctl audit', does: 'shows what differs, and what the sweeper would do about it' },
    { line: 'ipkeeperctl audit -o json | jq .findings', does: 'the findings alone, for a script' },
  ],
  exits: { 0: 'all agree, but for notes', 1: 'something was found' },
  exitCode: ({ findings }: AuditReply) => (findings.some(({ severity }) => severity !== 'note') ? 1 : 0),
  run: async (daemon, _args, terminal) => {
    const progress = showProgress(terminal, 'looking at sandboxes, namespaces and links')
    try {
      return (await daemon.ask('GET', '/v1/audit', undefined, patience)) as AuditReply
    } finally {
      progress.end()
    }
  },
  print: ({ witnesses, findings, mode, attachments, node }: AuditReply, paint) =>
    [
      formatTable(
        ['ASKED', 'STATE', 'SAYS'],
        witnesses.map(({ name, state, says }) => [name, state, visible(says)]),
        '',
        paint,
      ),
      '\n',
      ...findings.map(finding => `${printFinding(finding, mode, paint)}\n`),
      findings.length === 0
        ? `node ${node}: ${attachments} attachments, and all agree\n`
        : `node ${node}: ${attachments} attachments, ${findings.length} findings; mode ${mode}\n`,
    ].join(''),
})
