/**
 * The properties, with as many cases as fit into a test run, and always the same ones: what fails here fails because of a
 * change, not by chance. `make fuzz` tries others.
 */
import t from 'tap'
import { startOwnDaemon } from '../rigs/daemon.ts'
import { missing } from '../rigs/requirements.ts'
import { executableRuns } from './executable.ts'
import { properties } from './properties.ts'
import { replayCommand, showOutcomes, type Property } from './property.ts'

const seed = 20_261_121

/** What every test run tries, without the executables. */
const promisedCases = 10_000

async function hold(property: Property): Promise<string> {
  const verdict = await property.run({ seed })
  if (verdict.failure === undefined) return `${verdict.cases} cases: ${showOutcomes(verdict.outcomes)}`
  throw new Error(`${verdict.failure}\nreplay: ${replayCommand(property, seed, verdict)}`)
}

t.test('there are as many cases as promised, and each property has its name', t => {
  t.ok(properties.reduce((sum, { runs }) => sum + runs, 0) >= promisedCases)
  t.equal(new Set(properties.map(({ name }) => name)).size, properties.length)
  t.end()
})

for (const property of properties) {
  t.test(property.name, async t => {
    t.pass(await hold(property))
  })
}

t.test('the executables', { skip: missing('executables') }, async t => {
  const { daemon } = await startOwnDaemon(t)
  t.pass(await hold(executableRuns(daemon)))
})
