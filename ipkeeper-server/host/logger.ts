import { pino, type Logger } from 'pino'
import { Problem } from '../../shared/problem/problem.ts'

export type { Logger }

/** Bytes of lines that wait until they can be written; what is beyond is lost. */
const longestBacklog = 1024 * 1024

/** Fields of lines that advise. */
const advising = ['hint', 'remedy'] as const

/** The same fields, with what they advise as it works where the daemon runs. */
function adviseHere<Fields extends object>(fields: Fields, remedy: (text: string) => string): Fields {
  const advice = advising.flatMap(key => {
    const text = (fields as Partial<Record<string, unknown>>)[key]
    return typeof text === 'string' ? [[key, remedy(text)] as const] : []
  })
  return advice.length === 0 ? fields : { ...fields, ...Object.fromEntries(advice) }
}

/** What the catalogue explains is no fault of the code: who reads the log is told what to do, and not where it was thrown. */
function describe(error: Error): object {
  const described = pino.stdSerializers.err(error)
  return error instanceof Problem && error.code !== 'IPK_INTERNAL'
    ? { ...described, stack: undefined }
    : described
}

/**
 * JSON lines on stderr, written at once: no worker thread, which a packaged executable cannot start, and nothing that a
 * crash could swallow.
 *
 * @param remedy what a line advises, as it works where the daemon runs
 */
export function createLogger(
  level: pino.Level,
  node: string,
  remedy: (text: string) => string = text => text,
): Logger {
  const stderr = pino.destination({ fd: 2, sync: true, maxLength: longestBacklog })
  // A log on a disk that is full, or that nobody reads any more, is no reason to serve no pods: it goes on when it can.
  stderr.on('error', () => undefined)
  return pino(
    {
      level,
      base: { node },
      serializers: { err: (error: Error) => adviseHere(describe(error), remedy) },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }), log: fields => adviseHere(fields, remedy) },
    },
    stderr,
  )
}
