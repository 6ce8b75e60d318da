import { join } from 'node:path'
import { defaultPaths, stateFolders } from '../../../shared/paths.ts'
import {
  answerMessage,
  type MessageAnswer,
  type MessageReport,
} from '../../diagnose/doctor/answer-message.ts'
import { type CheckReport, runChecks } from '../../diagnose/doctor/check-result.ts'
import { checks } from '../../diagnose/doctor/checks.ts'
import { describePod, type PodReport } from '../../diagnose/doctor/describe-pod.ts'
import { probeNode } from '../../diagnose/doctor/probe-node.ts'
import { remedyHere, type Place } from '../../../shared/remedy/place.ts'
import { placeHere } from '../framework/here.ts'
import { visible } from '../../../shared/text/visible.ts'
import { missingLedgerIn } from '../../open-ledger/ledger-traces.ts'
import { command } from '../framework/command.ts'
import { OptionProblem } from '../framework/option-problem.ts'
import { folderOptions } from '../framework/options.ts'
import { askOnce } from '../framework/daemon-client.ts'
import { checkHere, paintMark, printChecks } from './check-reports.ts'
import { readFlights } from './read-flights.ts'
import { readPaste } from '../framework/read-input.ts'

/** What was asked for; the rest is null. */
interface Diagnosis {
  readonly checks: readonly CheckReport[] | null
  readonly message: MessageReport | null
  readonly pod: PodReport | null
}

function readPod(word: string): { namespace: string; name: string } {
  const [, namespace, name] = /^([^/\s]+)\/([^/\s]+)$/.exec(word) ?? []
  if (namespace === undefined || name === undefined)
    throw new OptionProblem('--pod', `--pod "${word}" is not NAMESPACE/NAME`)
  return { namespace, name }
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
      ask: (path, body) => askOnce(daemon.socket, path, body),
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
