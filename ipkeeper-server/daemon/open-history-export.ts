import { isDeepStrictEqual } from 'node:util'
import { toProblem } from '../../shared/problem/problem.ts'
import { HistoryExporter, type ExportFigures } from '../export/history-exporter.ts'
import { deliveryProblem, openDelivery } from '../export/open-delivery.ts'
import { formatReceiver, type SyslogTerms } from '../export/plan/receiver.ts'
import { SentFile } from '../export/sent-file.ts'
import type { OptionalPart } from '../host/optional-part.ts'
import { exportHistory } from '../leases/queries/export-history.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import type { DaemonFrame } from './daemon-frame.ts'

export interface OpenHistoryExport {
  /** The history is sent as it is configured now; nothing is before `start`. */
  readonly put: (terms: SyslogTerms | undefined) => void
  readonly start: () => void
  /** How it stands; undefined where it is sent nowhere, or the history cannot be read. */
  readonly status: () => Promise<ExportStatus | undefined>
}

export interface ExportStatus extends ExportFigures {
  readonly receiver: string
}

interface RunningExport {
  readonly terms: SyslogTerms
  readonly exporter: HistoryExporter
  readonly part: OptionalPart
}

/** Sends the history to the receiver that the configuration names, and to another one when it names that. */
export function openHistoryExport(
  frame: DaemonFrame,
  service: Pick<LeaseService, 'ledger' | 'node'>,
): OpenHistoryExport {
  const { parts, stops, watched } = frame
  let running: RunningExport | undefined
  let hasStarted = false
  let turn = Promise.resolve()
  service.ledger.subscribe({ recorded: () => running?.exporter.recorded() })
  const change = async (terms: SyslogTerms | undefined): Promise<void> => {
    if (isDeepStrictEqual(running?.terms, terms)) return
    if (running) {
      await running.exporter.stop()
      await parts.remove(running.part)
    }
    running = terms && beginExport(frame, service, terms)
  }
  const put = (terms: SyslogTerms | undefined): void => {
    if (hasStarted) turn = turn.then(() => change(terms))
  }
  stops.tasks.defer(async () => {
    put(undefined)
    hasStarted = false
    await turn
  })
  return {
    put,
    start: () => {
      hasStarted = true
      put(watched.current.history.export)
    },
    status: async () => {
      if (!running) return undefined
      const { exporter, terms } = running
      const figures = await exporter.figures().catch(() => undefined)
      return figures && { receiver: formatReceiver(terms.receiver), ...figures }
    },
  }
}

function beginExport(
  { stateDir, clock, logger, parts }: DaemonFrame,
  service: Pick<LeaseService, 'ledger' | 'node'>,
  terms: SyslogTerms,
): RunningExport {
  const { ledger } = service
  const receiver = formatReceiver(terms.receiver)
  const file = new SentFile(stateDir)
  let isWritten = true
  const exporter = new HistoryExporter({
    read: page => exportHistory(service, page),
    newest: async () => (await ledger.history({ limit: 1 }))[0],
    begin: async () => (await ledger.historyBegins())?.id ?? 0,
    open: signal => openDelivery(terms, { signal }),
    sent: file.read(why => {
      logger.warn(
        { file: file.path },
        `which entries of the history were sent is not known (${why}); all are sent once more`,
      )
    }),
    save: sent => file.write(sent),
    now: clock.now,
    send: async () => {
      // One that is broken is tried again by itself, at longer and longer intervals.
      if (part.state.problem === undefined)
        await send().catch((error: unknown) => {
          part.broke(error)
        })
    },
    onPruned: entries => {
      logger.error({ entries, receiver }, 'entries of the history were pruned before they could be sent')
    },
    onReplaced: from => {
      logger.warn(
        { from, receiver },
        'this ledger is not the one whose history was sent: the history is sent again from this entry on',
      )
    },
    onSaved: error => {
      if (error !== undefined && isWritten)
        logger.warn(
          { file: file.path, err: toProblem(error) },
          'which entries of the history were sent could not be written; after a restart some are sent once more',
        )
      isWritten = error === undefined
    },
  })
  const send = async (): Promise<void> => {
    try {
      await exporter.sendAll()
    } catch (error) {
      throw deliveryProblem(terms.receiver, error)
    }
  }
  const part = parts.add({
    name: 'history-export',
    begin: async () => {
      await send()
      // For what was recorded after the last look, while it was still taken for broken.
      exporter.recorded()
    },
    spread: () => 0.5 + Math.random(),
  })
  logger.info({ receiver }, 'the history is sent to a syslog receiver')
  void part.start()
  return { terms, exporter, part }
}
