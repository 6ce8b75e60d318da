import { join } from 'node:path'
import { stateFiles } from '../../shared/paths.ts'
import { BackgroundTask, type Timers } from '../host/background-task.ts'
import { writeDurably } from '../host/durable-file.ts'
import { readRegularFileSync } from '../host/regular-file.ts'
import type { PoolUseNow, MeasuredUse } from '../ipam/pools/forecast-full.ts'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]

/** Milliseconds between two samples, and how long each of them stays; older ones stay one an hour. */
const interval = 10 * minute
const fine = day
const oldest = 14 * day

/** So many series are kept: pools by their names, with a series for each family. */
const mostSeries = 200

/** What so many series of the longest kind need, and twice that. */
const sizeLimit = 16 * 1024 * 1024

export interface PoolUseSamplesOptions {
  readonly stateDir: string
  /** By name of their pools. */
  readonly measure: () => Promise<readonly PoolUseNow[]>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly onError: (error: unknown) => void
  readonly timers?: Timers
}

type Series = ReadonlyMap<string, readonly MeasuredUse[]>

const keyOf = ({ name, family }: Pick<PoolUseNow, 'name' | 'family'>): string => `${name} IPv${family}`

/**
 * How full pools were, in the state folder of each node: a figure for people, which is no part of the ledger and may be lost.
 * A file that is damaged is begun anew.
 */
export class PoolUseSamples {
  readonly #options: PoolUseSamplesOptions
  readonly #path: string
  readonly #task: BackgroundTask
  #series: Series

  constructor(options: PoolUseSamplesOptions) {
    const { stateDir, onError, timers } = options
    this.#options = options
    this.#path = join(stateDir, stateFiles.poolUse)
    this.#series = readSeries(this.#path)
    this.#task = new BackgroundTask({
      ...(timers && { timers }),
      round: async () => {
        await this.#sample()
        return interval
      },
      onError,
      retryAfter: interval,
    })
  }

  /** The oldest first; a sample of now is not among them. */
  of(pool: Pick<PoolUseNow, 'name' | 'family'>): readonly MeasuredUse[] {
    return this.#series.get(keyOf(pool)) ?? []
  }

  /** One sample now, and again every ten minutes. Never rejects. */
  async start(): Promise<void> {
    await this.#task.run()
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #sample(): Promise<void> {
    const { measure, now } = this.#options
    const pools = await measure()
    const at = now()
    const present = pools.map(pool => {
      const sample = { at, used: Number(pool.used), held: Number(pool.held) }
      return [keyOf(pool), withSample(this.of(pool), sample)] as const
    })
    // A daemon that starts while its store is away does not know every pool yet.
    const known = new Set(present.map(([key]) => key))
    const absent = [...this.#series].filter(
      ([key, samples]) => !known.has(key) && at - (samples.at(-1)?.at ?? -Infinity) <= oldest,
    )
    this.#series = new Map([...present, ...absent].slice(0, mostSeries))
    await writeDurably(this.#path, textOf(this.#series), { mode: 0o600 })
  }
}

/** The samples to keep when this one is added. Of a start soon after the last sample there is none more. */
export function withSample(past: readonly MeasuredUse[], present: MeasuredUse): readonly MeasuredUse[] {
  // What a clock that ran ahead has left would stand in the way for long.
  const known = past.filter(({ at }) => at <= present.at && present.at - at <= oldest)
  const kept = known.filter(({ at }, index) => {
    const before = known[index - 1]
    return (
      present.at - at <= fine ||
      before === undefined ||
      Math.floor(at / hour) !== Math.floor(before.at / hour)
    )
  })
  const newest = kept.at(-1)
  return newest && present.at - newest.at < interval / 2 ? kept : [...kept, present]
}

function textOf(series: Series): string {
  const pools = Object.fromEntries(
    Array.from(series, ([key, samples]) => [key, samples.map(({ at, used, held }) => [at, used, held])]),
  )
  return `${JSON.stringify({ version: 1, pools })}\n`
}

function readSeries(path: string): Series {
  try {
    const { version, pools } = JSON.parse(readRegularFileSync(path, { most: sizeLimit }).toString()) as {
      version: unknown
      pools: Readonly<Record<string, readonly (readonly unknown[])[]>>
    }
    if (version !== 1) return new Map()
    return new Map(
      Object.entries(pools).map(([key, samples]) => [
        key,
        samples.flatMap(([at, used, held]) =>
          typeof at === 'number' && typeof used === 'number' && typeof held === 'number'
            ? [{ at, used, held }]
            : [],
        ),
      ]),
    )
  } catch {
    return new Map()
  }
}
