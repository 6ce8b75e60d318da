/**
 * Tries the properties of test/fuzz with ever other cases, in rounds of as many as `make test` tries. Ends with exit 1
 * after a round in which one did not hold, having said how to see that again.
 *
 *   node scripts/fuzz.ts
 *
 *   FUZZ_RUNS=50         rounds
 *   FUZZ_SECONDS=600     or: rounds until so many seconds have passed
 *   FUZZ_SEED=1          seed of the first round, each later one has the next; random when absent
 *   FUZZ_ONLY=dispatcher only the property of this name
 *   FUZZ_PATH=12:0:3     only this case of it
 */
import { startDaemon } from '../test/rigs/daemon.ts'
import { makeTempFolder } from '../test/rigs/temp-folder.ts'
import { executableRuns } from '../test/fuzz/executable.ts'
import { properties } from '../test/fuzz/properties.ts'
import { replayCommand, type Property } from '../test/fuzz/property.ts'

/** A whole number from the environment; undefined when absent or empty. */
function numberFrom(name: string): number | undefined {
  const text = process.env[name] ?? ''
  if (text === '') return undefined
  if (!/^-?[0-9]{1,10}$/.test(text)) {
    console.error(`fuzz: ${name} is no number: "${text}"`)
    process.exit(2)
  }
  return Number(text)
}

const only = process.env['FUZZ_ONLY'] ?? ''
const path = process.env['FUZZ_PATH'] ?? ''
const seconds = numberFrom('FUZZ_SECONDS')
const firstSeed = numberFrom('FUZZ_SEED') ?? Math.floor(Math.random() * 2 ** 31)
const rounds = path === '' ? (numberFrom('FUZZ_RUNS') ?? (seconds === undefined ? 50 : Infinity)) : 1

const started = performance.now()
const elapsed = (): number => (performance.now() - started) / 1000
const failed = new Set<Property>()
let total = 0

/** Tries one property; says what failed. Returns the number of cases. */
async function tryOne(property: Property, seed: number): Promise<number> {
  const verdict = await property.run({ seed, ...(path !== '' && { path }) })
  if (verdict.failure !== undefined) {
    failed.add(property)
    const replay = replayCommand(property, seed, verdict)
    console.log(`FAIL ${property.name}, seed ${seed}\n${verdict.failure}\nreplay: ${replay}`)
  }
  return verdict.cases
}

const folder = makeTempFolder()
const daemon = await startDaemon({ socket: folder.file('s'), stateDir: folder.file('state') })
try {
  const chosen = [...properties, executableRuns(daemon)].filter(({ name }) => only === '' || name === only)
  if (chosen.length === 0) throw new Error(`FUZZ_ONLY: there is no property "${only}"`)
  console.log(`fuzz: ${chosen.length} properties, first seed ${firstSeed}`)
  for (let round = 0; round < rounds && failed.size === 0; round++) {
    if (seconds !== undefined && elapsed() >= seconds) break
    for (const property of chosen) total += await tryOne(property, firstSeed + round)
    console.log(
      `fuzz: round ${round + 1}, seed ${firstSeed + round}: ${total} cases in ${elapsed().toFixed(0)} s`,
    )
  }
} finally {
  await daemon.stop()
  folder.remove()
}
console.log(
  `fuzz: ${failed.size === 0 ? 'all properties hold' : `failed: ${[...failed].map(({ name }) => name).join(', ')}`}`,
)
process.exitCode = failed.size === 0 ? 0 : 1
