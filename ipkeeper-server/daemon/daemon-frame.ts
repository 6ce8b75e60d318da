import { resolve } from 'node:path'
import { toProblem } from '../../shared/problem/problem.ts'
import type { DaemonConfig } from '../config/load-config.ts'
import { WatchedConfig } from '../config/watch-config.ts'
import { Clock } from '../host/clock.ts'
import { createLogger, type Logger } from '../host/logger.ts'
import { MetricRegistry } from '../metrics/metric-registry.ts'
import { type StopOrder, openStopOrder } from './stop-order.ts'

export interface ServeOptions {
  readonly socket: string
  readonly stateDir: string
  readonly config: string
  /** Whether --config was given: then the file must be there. */
  readonly configNamed: boolean
  /** See parseStoreSpec; default: sqlite in the state folder. */
  readonly store: string | undefined
  /** This node's name where the configuration has none; undefined: the hostname. */
  readonly standardNode: string | undefined
}

/** What every part of a daemon is put together with. */
export interface DaemonFrame {
  readonly clock: Clock
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds of CLOCK_MONOTONIC. */
  readonly startedMonotonic: number
  readonly stateDir: string
  readonly socket: string
  readonly watched: WatchedConfig
  /** Of the start. */
  readonly config: DaemonConfig
  readonly logger: Logger
  readonly registry: MetricRegistry
  /** Each part registers here how it ends. */
  readonly stops: StopOrder
  /** Resolves when the daemon is told to stop. */
  readonly stopped: Promise<NodeJS.Signals>
}

/** Follows signals, reads the configuration and begins the log. */
export function openFrame(options: ServeOptions): DaemonFrame {
  const clock = new Clock()
  const startedAt = clock.now()
  const startedMonotonic = clock.monotonic()
  // Who else may read what: nobody. SQLite makes its files by the umask.
  process.umask(0o077)
  // Asked for from the start: a signal while leases are read or DELs drained ends the daemon with exit 0 as well.
  const stopped = stopSignal()
  const stateDir = resolve(options.stateDir)
  const socket = resolve(options.socket)
  const watched = WatchedConfig.open(
    resolve(options.config),
    options.configNamed,
    clock.now,
    options.standardNode,
  )
  const config = watched.current
  // From the start, since a hang-up would end the process.
  const onHangUp = (): void => void watched.reload()
  process.on('SIGHUP', onHangUp)
  const stops = openStopOrder()
  stops.configuration.defer(() => {
    process.off('SIGHUP', onHangUp)
  })
  const logger = createLogger(config.logLevel, config.node)
  dieOnBugs(logger)
  return {
    ...{ clock, startedAt, startedMonotonic, stateDir, socket, watched, config, logger, stops, stopped },
    registry: new MetricRegistry(),
  }
}

async function stopSignal(): Promise<NodeJS.Signals> {
  return await new Promise(resolve_ => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve_)
  })
}

/** What a bug that nobody caught looks like: one fatal line, and the process ends so that its supervisor starts it afresh. */
function dieOnBugs(logger: Pick<Logger, 'fatal'>): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      logger.fatal({ err: toProblem(error) }, 'internal error; stopping')
      process.exit(70)
    })
  }
}
