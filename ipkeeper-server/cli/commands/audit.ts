import type { AuditReply, Finding } from '../../../shared/api/audit.schema.ts'
import { counted } from '../../../shared/text/counted.ts'
import { visible } from '../../../shared/text/visible.ts'
import { command } from '../framework/command.ts'
import { formatTable, type Paint } from '../framework/terminal-text.ts'
import { showProgress } from '../framework/progress.ts'

/** Milliseconds: each pod's namespace is entered. */
const patience = 120_000

const what: Readonly<Record<Finding['action'], string>> = {
  'end-attachment': 'end it',
  'remove-link': 'remove it',
  none: 'do nothing',
}

/** "end it", "wait, then end it", "report only". */
function planOf({ action, state }: Finding, mode: AuditReply['mode']): string {
  if (state === 'reported') return 'report only'
  if (state === 'waiting') return action === 'none' ? 'wait' : `wait, then ${what[action]}`
  return mode === 'repair' ? what[action] : `${what[action]}, if the mode were repair`
}

const tones = { error: 'bad', warning: 'warn', note: 'faint' } as const

function printFinding(finding: Finding, mode: AuditReply['mode'], paint: Paint): string {
  const { severity, kind, says, why, remedy } = finding
  const lines = [
    `${severity}: ${says} [${kind}]`,
    `  why: ${why}`,
    `  plan: ${planOf(finding, mode)}`,
    ...(remedy === '' ? [] : [`  fix: ${remedy}`]),
  ]
  // Links of other programs are among them, and their names may have control characters.
  const shown = lines.map(line => `${visible(line)}\n`).join('')
  return `${paint(tones[severity], severity)}${shown.slice(severity.length)}`
}

export const auditCommand = command({
  name: 'audit',
  watch: true,
  arguments: [],
  summary: 'Compare leases with sandboxes, namespaces, links and pods',
  options: {},
  examples: [
    { line: 'ipkeeperctl audit', does: 'Show what differs, and what the sweeper would do about it' },
    { line: 'ipkeeperctl audit -o json | jq .findings', does: 'Print only the findings, for a script' },
  ],
  exits: { 0: 'no findings other than notes', 1: 'there are findings' },
  exitCode: ({ findings }: AuditReply) => (findings.some(({ severity }) => severity !== 'note') ? 1 : 0),
  run: async (daemon, _args, terminal) => {
    const progress = showProgress(terminal, 'checking sandboxes, namespaces and links')
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
        ? `node ${node}: ${counted(attachments, 'attachment')}, no findings\n`
        : `node ${node}: ${counted(attachments, 'attachment')}, ${counted(findings.length, 'finding')}; mode ${mode}\n`,
    ].join(''),
})
