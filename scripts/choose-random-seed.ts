/**
 * Chooses the `--random-seed` that the plugin is started with. V8 searches for primes at each start to scramble its hashes;
 * how long that takes is luck, from 2 to 6 ms of a start, and with a seed it is always the same luck. A seed is good for one
 * version of Node. Those on record are in scripts/random-seeds.json; for another Node it is measured, for half a minute.
 *
 *   node scripts/choose-random-seed.ts [NODE]     measures for this Node and prints what it found
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const record = join(import.meta.dirname, 'random-seeds.json')
const candidates = 256
const finalists = 12

/** The seed on record for a version of Node, such as "24.21.0". */
export function recordedSeed(version: string): number | undefined {
  return (JSON.parse(readFileSync(record, 'utf8')) as Partial<Record<string, number>>)[version]
}

/** The least of some starts: whatever else the machine does only adds to it. */
const least = (node: string, options: readonly string[], runs: number): number =>
  Math.min(...Array.from({ length: runs }, () => processorMs(node, options)))

function processorMs(node: string, options: readonly string[]): number {
  const printed = execFileSync(node, [
    ...options,
    '-p',
    'const { user, system } = process.cpuUsage(); user + system',
  ])
  return Number(printed.toString()) / 1000
}

/** Milliseconds of processor time of a start with the seed that was found, the least of some, and without one, the median. */
export interface MeasuredSeed {
  readonly seed: number
  readonly withSeed: number
  readonly without: number
}

/** Measures what seeds do to the start of a Node, the path of its executable. */
export function measureSeeds(node: string): MeasuredSeed {
  const optionOf = (seed: number): readonly string[] => [`--random-seed=${seed}`]
  const first = Array.from({ length: candidates }, (_, index) => index + 1)
    .map(seed => ({ seed, ms: least(node, optionOf(seed), 3) }))
    .sort((one, other) => one.ms - other.ms)
    .slice(0, finalists)
  const [best] = first
    .map(({ seed }) => ({ seed, ms: least(node, optionOf(seed), 15) }))
    .sort((one, other) => one.ms - other.ms)
  if (best === undefined) throw new Error('no seed was tried')
  const without = Array.from({ length: 21 }, () => processorMs(node, [])).sort((one, other) => one - other)
  return { seed: best.seed, withSeed: best.ms, without: without[10] ?? NaN }
}

/** The option that makes the start of the plugin as quick as V8's luck allows. */
export function seedOption(version: string, node: string, measure = measureSeeds, say = console.log): string {
  const known = recordedSeed(version)
  if (known !== undefined) return `--random-seed=${known}`
  say(`build: choosing a random seed for Node ${version}, which has none on record`)
  const { seed, withSeed, without } = measure(node)
  say(
    `build: ${seed}, with which it starts in ${withSeed} ms of processor time (without ${without}); put it into scripts/random-seeds.json`,
  )
  return `--random-seed=${seed}`
}

if (import.meta.main) {
  const { seed, withSeed, without } = measureSeeds(process.argv[2] ?? process.execPath)
  console.log(`--random-seed=${seed}: ${withSeed} ms of processor time; without a seed ${without} ms`)
}
