import type { RunFigures } from './plugin-runner.ts'

/** Of one series of measurements; milliseconds. */
export interface Summary {
  readonly count: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

/** Of whole processes; what is not time by the clock is a median. */
export interface RunSummary extends Summary {
  readonly processorMs: number
  readonly pageFaults: number
  readonly peakMebibytes: number
}

/** Value below which this fraction (0 to 1) of the sorted samples lies, interpolated between neighbours. */
function quantile(sorted: readonly number[], fraction: number): number {
  const position = (sorted.length - 1) * fraction
  const below = Math.floor(position)
  const low = sorted[below] ?? NaN
  const high = sorted[below + 1] ?? low
  return low + (high - low) * (position - below)
}

export function median(samples: readonly number[]): number {
  return quantile(ascending(samples), 0.5)
}

export function summarize(samples: readonly number[]): Summary {
  const sorted = ascending(samples)
  const at = (fraction: number): number => rounded(quantile(sorted, fraction))
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}

export function summarizeRuns(runs: readonly RunFigures[]): RunSummary {
  const middle = (figure: 'processorMs' | 'pageFaults' | 'peakMebibytes'): number =>
    rounded(median(runs.map(run => run[figure])))
  return {
    ...summarize(runs.map(run => run.ms)),
    processorMs: middle('processorMs'),
    pageFaults: middle('pageFaults'),
    peakMebibytes: middle('peakMebibytes'),
  }
}

const ascending = (samples: readonly number[]): number[] => [...samples].sort((a, b) => a - b)

/** To microseconds when given milliseconds: what lies below is noise, and makes results hard to read. */
export function rounded(value: number): number {
  return Math.round(value * 1e3) / 1e3
}
