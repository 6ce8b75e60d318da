import { resolve } from 'node:path'
import { Problem, toProblem } from '../../shared/problem/problem.ts'
import type { DaemonConfig } from '../config/load-config.ts'
import { runtimeBinDirs } from '../conf-dir/runtime-bin-dirs.ts'
import { ConfigKeeper, readKeptConfig, type KeptConfig } from '../config/kept-config.ts'
import { WatchedConfig } from '../config/watch-config.ts'
import { Clock } from '../host/clock.ts'
import { createLogger, type Logger } from '../host/logger.ts'
import { OptionalParts } from '../host/optional-part.ts'
import { MetricRegistry } from '../metrics/metric-registry.ts'
import { daemonPlace, type DaemonPlace } from './daemon-place.ts'
import { alsoSaying } from './refused-twice.ts'
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
  readonly place: DaemonPlace
  readonly watched: WatchedConfig
  /** Of what is in force, for the next start. */
  readonly keeper: ConfigKeeper
  /** Of the start. */
  readonly config: DaemonConfig
  readonly logger: Logger
  readonly registry: MetricRegistry
  /** Where the runtime looks for plugins: as it is told, or by the runtime's configuration. */
  readonly binDirs: readonly string[]
  /** What may fail without a pod that notices. */
  readonly parts: OptionalParts
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
  const place = daemonPlace({ socket, stateDir })
  const { kept, problem } = lookForKept(stateDir)
  const watched = openConfig(options, clock, kept, problem)
  const config = watched.current
  // From the start, since a hang-up would end the process.
  const onHangUp = (): void => void watched.reload()
  process.on('SIGHUP', onHangUp)
  const stops = openStopOrder()
  stops.configuration.defer(() => {
    process.off('SIGHUP', onHangUp)
  })
  const logger = createLogger(config.logLevel, config.node, place.remedy)
  dieOnBugs(logger)
  return {
    ...{ clock, startedAt, startedMonotonic, stateDir, socket, place, watched, config },
    ...{ logger, stops, stopped },
    keeper: openKeeper(stateDir, kept, problem, logger),
    registry: new MetricRegistry(),
    binDirs: config.conflist.binDirs ?? runtimeBinDirs(),
    parts: openParts(clock, logger),
  }
}

function openParts({ now }: Clock, logger: Logger): OptionalParts {
  return new OptionalParts({
    now,
    onBroken: (part, { code, message, hint }) => {
      logger.error({ part, code, hint }, `${message}; pods are served all the same, and it is tried again`)
    },
    onMended: part => {
      logger.info({ part }, 'works again')
    },
  })
}

/** A copy that cannot be used is none: the file alone decides whether the daemon starts. */
function lookForKept(stateDir: string): {
  readonly kept?: KeptConfig | undefined
  readonly problem?: Problem
} {
  try {
    return { kept: readKeptConfig(stateDir) }
  } catch (error) {
    return { problem: toProblem(error) }
  }
}

function openConfig(
  { config, configNamed, standardNode }: ServeOptions,
  { now }: Clock,
  kept: KeptConfig | undefined,
  problem: Problem | undefined,
): WatchedConfig {
  try {
    return WatchedConfig.open(resolve(config), configNamed, now, standardNode, kept)
  } catch (error) {
    throw problem && error instanceof Problem ? alsoSaying(error, problem.message) : error
  }
}

function openKeeper(
  stateDir: string,
  kept: KeptConfig | undefined,
  problem: Problem | undefined,
  logger: Logger,
): ConfigKeeper {
  const tell = (news: Problem | undefined): void => {
    if (news) logger.error({ code: news.code, hint: news.hint }, news.message)
    else logger.info('the copy of the configuration is up to date again')
  }
  if (problem) tell(problem)
  return new ConfigKeeper({ stateDir, kept, problem, onProblem: tell })
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
