import { counted } from '../../../shared/text/counted.ts'
import type { TryFinding, Ping, TryStep, Told, TryReport } from '../../diagnose/try/report.ts'

/** Characters of one output of a plugin that are shown; -o json has it whole. */
const shown = 16 * 1024

/** What a plugin printed, with everything visible that a terminal would obey. Line ends stay. */
export function visibleLines(text: string): string {
  return text.replaceAll(/(?!\n)\p{Cc}/gu, found =>
    found === '\t' ? '\t' : `\\x${found.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}

const oneLine = (text: string): string => visibleLines(text).replaceAll('\n', '\\n')

/** A text of several lines below a label of eight characters. */
function block(label: string, text: string): string {
  const cut =
    text.length > shown ? `${text.slice(0, shown)}\n... ${text.length - shown} more characters` : text
  const lines = visibleLines(cut.replace(/\n$/, '')).split('\n')
  return lines
    .map((line, index) => `  ${(index === 0 ? label : '').padEnd(7)} ${line}`.trimEnd() + '\n')
    .join('')
}

const marks = { error: 'ERROR', warning: 'warning', info: 'note' } as const

function findingLines(findings: readonly TryFinding[], indent = '  '): string {
  return findings
    .map(({ severity, message, remedy }) => {
      const what = `${indent}${marks[severity].padEnd(7)} ${oneLine(message)}\n`
      return remedy === '' ? what : `${what}${indent}        -> ${oneLine(remedy)}\n`
    })
    .join('')
}

function stepText({ verb, plugin, path, env, stdin, stdout, stderr, exit, ...rest }: TryStep): string {
  const { milliseconds, runtimeSays, findings, result } = rest
  const how = exit === null ? 'no exit code' : `exit ${exit}`
  const head = `\n${verb} ${oneLine(plugin)}: ${oneLine(path ?? 'no such plugin')}, ${how}, ${milliseconds} ms\n`
  // As a shell takes it: CNI_ARGS has semicolons.
  const variables = Object.entries(env).map(
    ([key, value]) => `${key}=${value.includes(';') ? `'${value}'` : value}`,
  )
  const good =
    findings.some(({ severity }) => severity !== 'info') || runtimeSays !== null
      ? ''
      : `  ok      ${verb === 'ADD' ? addressesOf(result) : quiet[verb]}\n`
  return [
    head,
    block('env', variables.join(' ')),
    block('stdin', JSON.stringify(stdin)),
    block('stdout', stdout === '' ? '(nothing)' : compact(stdout)),
    block('stderr', stderr === '' ? '(nothing)' : stderr),
    good,
    ...(runtimeSays === null
      ? []
      : [block('runtime', runtimeSays === '' ? '(an empty message)' : runtimeSays)]),
    findingLines(findings),
  ].join('')
}

const quiet = { CHECK: 'everything is as ADD left it', DEL: 'undone' } as const

/** One JSON document on one line; what is none as it came. */
function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}

/** Of a Result of any version. */
function addressesOf(result: TryStep['result']): string {
  const { ips, ip4, ip6 } = (result ?? {}) as {
    readonly ips?: readonly { readonly address: string }[]
    readonly ip4?: { readonly ip: string }
    readonly ip6?: { readonly ip: string }
  }
  const families = [ip4, ip6].flatMap(family => (family === undefined ? [] : [family.ip]))
  const all = ips?.map(({ address }) => address) ?? families
  return all.length === 0
    ? 'a Result without an address'
    : `the Result matches the namespace: ${all.join(', ')}`
}

function pingText({ gateway, answered, findings }: Ping): string {
  const answer = answered === true ? 'answers' : answered === false ? 'does not answer' : 'not asked'
  return `\nping ${gateway}: ${answer}\n${findingLines(findings)}`
}

function begunText(report: Extract<Told, { kind: 'begun' }>['report']): string {
  const { conflist, network, cniVersion, namespace, pod, containerId, earlier, findings } = report
  return [
    ...earlier.map(
      ({ namespace: name, findings: told }) => `earlier    ${name === '' ? '' : name}\n${findingLines(told)}`,
    ),
    `conflist   ${oneLine(conflist)}: network ${network}, cniVersion ${cniVersion === '' ? 'none' : oneLine(cniVersion)}\n`,
    `namespace  ${namespace}\n`,
    `pod        ${pod}, container ${containerId}\n`,
    findingLines(findings),
  ].join('')
}

/** One part of a report as text. */
export function tellText(told: Told): string {
  switch (told.kind) {
    case 'begun':
      return begunText(told.report)
    case 'step':
      return stepText(told.step)
    case 'ping':
      return pingText(told.ping)
    case 'ended':
      return `\nleft${told.left.length === 0 ? ': nothing' : ''}\n${findingLines(told.left)}${findingLines(told.findings, '')}`
  }
}

/** The last lines: what became of it all. */
export function outcomeText({ ok, findings, earlier, steps, ping, left }: TryReport): string {
  const all = [findings, left, ...[...earlier, ...steps, ...ping].map(part => part.findings)].flat()
  const count = (severity: 'error' | 'warning'): string =>
    counted(all.filter(finding => finding.severity === severity).length, severity)
  const counts = `${count('error')}, ${count('warning')}`
  return `\n${ok ? 'works' : 'does not work'}: ${counts}\n`
}
