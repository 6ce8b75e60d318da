import { join } from 'node:path'
import { defaultPaths, stateFolders } from '../../../shared/paths.ts'
import {
  answerMessage,
  type MessageAnswer,
  type MessageReport,
} from '../../diagnose/doctor/answer-message.ts'
import { type CheckReport, type CheckState, runChecks } from '../../diagnose/doctor/check-result.ts'
import { checks } from '../../diagnose/doctor/checks.ts'
import { describePod, type PodReport } from '../../diagnose/doctor/describe-pod.ts'
import { probeNode } from '../../diagnose/doctor/probe-node.ts'
import { commandHere, remedyHere, type Place } from '../../../shared/remedy/place.ts'
import { placeHere } from '../framework/here.ts'
import { shellLine } from '../../../shared/text/shell-word.ts'
import { counted } from '../../../shared/text/counted.ts'
import { visible } from '../../../shared/text/visible.ts'
import { missingLedgerIn } from '../../open-ledger/ledger-traces.ts'
import { command } from '../framework/command.ts'
import { OptionProblem } from '../framework/option-problem.ts'
import { folderOptions } from '../framework/options.ts'
import { connectDaemon, type DaemonClient } from '../framework/daemon-client.ts'
import { type Paint, type Tone } from '../framework/terminal-text.ts'
import { readFlights } from './read-flights.ts'
import { readPaste } from '../framework/read-input.ts'

/** What was asked for; the rest is null. */
interface Diagnosis {
  readonly checks: readonly CheckReport[] | null
  readonly message: MessageReport | null
  readonly pod: PodReport | null
}

/** Milliseconds for one question; a check as a whole has 5 s. */
const patience = 4000

/** A connection for each question: one that the daemon is long about keeps no other waiting. */
async function askOnce({ socket }: DaemonClient, path: string, body?: object): Promise<unknown> {
  const daemon = connectDaemon(socket)
  try {
    return await daemon.ask(body ? 'POST' : 'GET', path, body, patience)
  } finally {
    await daemon.close()
  }
}

function readPod(word: string): { namespace: string; name: string } {
  const [, namespace, name] = /^([^/\s]+)\/([^/\s]+)$/.exec(word) ?? []
  if (namespace === undefined || name === undefined)
    throw new OptionProblem('--pod', `--pod "${word}" is not NAMESPACE/NAME`)
  return { namespace, name }
}

const marks: Readonly<Record<CheckState, string>> = { ok: 'ok', warn: 'warn', fail: 'FAIL', skip: 'skip' }

const tones = { ok: 'good', warn: 'warn', fail: 'bad', skip: 'faint' } as const satisfies Readonly<
  Record<CheckState, Tone>
>

/** A line for a shell is typed as it is. */
const lineOf = (mend: readonly string[]): string =>
  mend[0] === 'sh' && mend[1] === '-c' && mend.length === 3 ? (mend[2] ?? '') : shellLine(mend)

function checkLines({ id, state, says, why, mend }: CheckReport, width: number): string[] {
  const told = [`${marks[state].padEnd(4)}  ${id.padEnd(width)}  ${says}`]
  if (state === 'ok' || state === 'skip') return told
  const indent = ' '.repeat(width + 8)
  return [
    ...told,
    `${indent}impact  ${why}`,
    ...(mend.length === 0 ? [] : [`${indent}fix     ${lineOf(mend)}`]),
  ]
}

function printChecks(reports: readonly CheckReport[]): string[] {
  const width = Math.max(...reports.map(({ id }) => id.length))
  const count = (state: CheckState): number => reports.filter(report => report.state === state).length
  return [
    ...reports.flatMap(report => checkLines(report, width)),
    `${reports.length} checks: ${count('ok')} ok, ${counted(count('warn'), 'warning')}, ${count('fail')} failed, ${count('skip')} skipped`,
  ]
}

const commandLines = (mend: MessageAnswer['mend']): string[] => {
  const width = Math.max(0, ...mend.map(({ command: line }) => line.length))
  return mend.map(({ command: line, does }) => `  ${line.padEnd(Math.min(width, 60))}  ${does}`)
}

function printMessage({ answers, otherwise, leftOut, more }: MessageReport): string[] {
  return [
    ...answers.flatMap(({ id, said, times, means, why, affects, known, mend, source }) => [
      `${id}${times > 1 ? `, ${times} times` : ''}`,
      `  it says  ${said}`,
      `  means    ${means}`,
      `  why      ${why}`,
      `  affects  ${affects}`,
      ...known.map((line, index) => `  ${index === 0 ? 'known    ' : '         '}${line}`),
      `  see      ${source}`,
      '  type:',
      ...commandLines(mend).map(line => `  ${line}`),
      '',
    ]),
    ...(answers.length === 0
      ? ['no known text was found; these commands show more:', ...commandLines(otherwise)]
      : []),
    ...(more > 0
      ? [
          `${more} more known ${more === 1 ? 'text was' : 'texts were'} found; paste the text in parts to see ${more === 1 ? 'it' : 'them'}`,
        ]
      : []),
    ...(leftOut > 0
      ? [`${leftOut} characters in the middle were skipped; paste the text in parts to check them`]
      : []),
  ]
}

function printPod({ pod, known, sections }: PodReport): string[] {
  return [
    `pod ${pod}`,
    ...sections.flatMap(({ title, lines }) => [`  ${title}:`, ...lines.map(line => `    ${line}`)]),
    ...(known ? [] : ['no record of this pod on this node']),
  ]
}

/** The mark in front of a check. */
function paintMark(line: string, paint: Paint): string {
  const state = (Object.keys(marks) as CheckState[]).find(one => line.startsWith(`${marks[one].padEnd(4)}  `))
  return state ? `${paint(tones[state], marks[state])}${line.slice(marks[state].length)}` : line
}

/** What is advised, as it works on this node: a command, or where there is none words. */
function checkHere(report: CheckReport, place: Place): CheckReport {
  const { argv, words } = commandHere(report.mend, shellLine(report.mend), place)
  const says = remedyHere(report.says, place)
  return { ...report, says: words === undefined ? says : `${says}; ${words}`, mend: argv }
}

function messageHere(report: MessageReport, place: Place): MessageReport {
  const here = (mend: MessageAnswer['mend']): MessageAnswer['mend'] =>
    mend.map(({ command: line, does }) => ({ command: remedyHere(line, place), does }))
  return {
    ...report,
    answers: report.answers.map(answer => ({ ...answer, mend: here(answer.mend) })),
    otherwise: here(report.otherwise),
  }
}

function podHere(report: PodReport, place: Place): PodReport {
  const sections = report.sections.map(({ title, lines }) => ({
    title,
    lines: lines.map(line => remedyHere(line, place)),
  }))
  return { ...report, sections }
}

export const doctorCommand = command<Diagnosis>({
  name: 'doctor',
  arguments: [],
  summary: 'Check this node, explain an error text, or describe a pod; needs no daemon',
  options: {
    pod: { value: 'NS/NAME', text: 'show everything known about this pod instead', offers: 'pod' },
    message: {
      value: 'TEXT',
      text: 'explain an error text of kubelet or a runtime; "-" is standard input',
    },
    ...folderOptions,
  },
  examples: [
    { line: 'ipkeeperctl doctor', does: 'Check this node' },
    {
      line: 'ipkeeperctl doctor --pod shop/web-0',
      does: 'Show what plugin, daemon and runtime know about a pod',
    },
    {
      line: 'journalctl -u kubelet -n 50 | ipkeeperctl doctor --message -',
      does: 'Explain the errors in a log, with commands that help',
    },
  ],
  exits: {
    0: 'no check failed, or the text or pod is known',
    1: 'a check failed, or the text or pod is not known',
  },
  run: async (daemon, args, terminal) => {
    const { pod, message, 'conf-dir': confDir, 'bin-dir': binDir, 'state-dir': named } = args.options
    const podName = pod === undefined ? undefined : readPod(pod)
    const node = await probeNode({
      socket: daemon.socket,
      stateDir: named ?? (terminal.env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir),
      ...{ confDir, binDir },
      ask: (path, body) => askOnce(daemon, path, body),
      readFlights: stateDir => readFlights(join(stateDir, stateFolders.flights)).flights,
      missingLedger: missingLedgerIn,
    })
    const told = await node.status()
    const place = {
      ...placeHere({ socket: node.socket, stateDir: node.stateDir }, terminal),
      clustered: told && told.kubernetes !== null,
    }
    return {
      checks:
        podName === undefined && message === undefined
          ? (await runChecks(checks, node)).map(report => checkHere(report, place))
          : null,
      message:
        message === undefined
          ? null
          : messageHere(await answerMessage(node, message === '-' ? readPaste() : message), place),
      pod:
        podName === undefined
          ? null
          : podHere(await describePod(node, podName.namespace, podName.name), place),
    }
  },
  exitCode: diagnosis =>
    diagnosis.checks?.some(({ state }) => state === 'fail') === true ||
    diagnosis.message?.answers.length === 0 ||
    diagnosis.pod?.known === false
      ? 1
      : 0,
  print: (diagnosis, paint) =>
    [
      ...(diagnosis.checks ? printChecks(diagnosis.checks) : []),
      ...(diagnosis.message ? printMessage(diagnosis.message) : []),
      ...(diagnosis.pod ? printPod(diagnosis.pod) : []),
    ]
      .map(line => `${paintMark(visible(line), paint)}\n`)
      .join(''),
})
