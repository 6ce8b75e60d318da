import { pino, type Logger } from 'pino'
import { Problem } from '../../shared/problem/problem.ts'

export type { Logger }

/** Bytes of lines that wait until they can be written; what is beyond is lost. */
const longestBacklog = 1024 * 1024

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
 */
export function createLogger(level: pino.Level, node: string): Logger {
  const stderr = pino.destination({ fd: 2, sync: true, maxLength: longestBacklog })
  // A log on a disk that is full, or that nobody reads any more, is no reason to serve no pods: it goes on when it can.
  stderr.on('error', () => undefined)
  return pino(
    {
      level,
      base: { node },
      serializers: { err: describe },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
    },
    stderr,
  )
}
