/**
 * What the ledger costs with 1,000 nodes and 100 pods on each: a cost model, and a simulation of how often nodes meet.
 *
 *   node bench/scale/main.ts               writes docs/operations/scale.generated.md; half a minute
 *   node bench/scale/main.ts --check       exits 1 when that file is stale, and writes nothing
 *   node bench/scale/main.ts --measure     first measures anew what the model takes for given (memory of a daemon, sizes of
 *                                          records), into bench/scale/measured.json; needs the packaged executables and
 *                                          an API server
 *
 * Apart from what is measured, the same comes out each time.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { simulateFree, simulateResting } from './collisions.ts'
import { measure, type Measured } from './measure.ts'
import { scaleTables } from './tables.ts'

const { values: options } = parseArgs({
  options: { measure: { type: 'boolean', default: false }, check: { type: 'boolean', default: false } },
})
const measuredFile = join(import.meta.dirname, 'measured.json')
const docsFile = join(import.meta.dirname, '..', '..', 'docs', 'operations', 'scale.generated.md')

if (options.measure) {
  const figures = await measure(line => {
    console.error(`scale: ${line}`)
  })
  writeFileSync(measuredFile, `${JSON.stringify(figures, null, 2)}\n`)
}
const measured = JSON.parse(readFileSync(measuredFile, 'utf8')) as Measured
const text = scaleTables(measured, simulateFree(), simulateResting())
if (!options.check) {
  writeFileSync(docsFile, text)
  process.stdout.write(text)
} else if (readFileSync(docsFile, 'utf8') !== text) {
  console.error('docs/operations/scale.generated.md is stale. Run: node bench/scale/main.ts')
  process.exitCode = 1
}
