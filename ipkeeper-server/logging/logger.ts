import { pino, type Logger } from 'pino'

export type { Logger }

/**
 * JSON lines on stderr, written at once: no worker thread, which a packaged executable cannot start, and nothing that a
 * crash could swallow.
 */
export function createLogger(level: pino.Level, node: string): Logger {
  return pino(
    {
      level,
      base: { node },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
    },
    pino.destination({ fd: 2, sync: true }),
  )
}
