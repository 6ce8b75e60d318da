/**
 * Faults that were mended are put back one by one (faults.ts): an episode finds each, and is clean without it. They are played with
 * SOAK_PROOF=1 alone, since each takes a build and a minute: make test-all does that.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { missing } from '../rigs/requirements.ts'
import { unmended } from '../simulation/put-back.ts'
import { faultKinds, planEpisode } from './fault-kinds.ts'
import { soakFaults, type SoakFault } from './faults.ts'
import { soakNeeds } from './needs.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8')
const all: readonly (readonly [string, SoakFault])[] = Object.entries(soakFaults)

t.test('each can be put back: its places are in the product exactly once', t => {
  for (const [name, { mends }] of all) {
    t.ok(mends.length > 0, name)
    for (const mend of mends) t.not(unmended(read(mend.file), mend), read(mend.file), mend.file)
  }
  t.end()
})

t.test('the episode of its seed has the kinds of faults that it is found by, and no other', t => {
  for (const [name, { kinds, seed }] of all) {
    t.ok(
      kinds.every(kind => faultKinds.some(known => known.kind === kind)),
      name,
    )
    t.strictSame(planEpisode(seed, { only: kinds }).kinds, kinds, name)
  }
  t.end()
})

t.test('the page on the simulation has each of them, as it is found', t => {
  const page = read('docs', 'contributing', 'simulation.md')
  for (const [name, { was, kinds, seed, broken }] of all)
    t.ok(page.includes(`| \`${name}\` | ${was} | ${kinds.join(', ')} | ${seed} | ${broken} |`), name)
  t.end()
})

/** Exit and output of scripts/soak.ts. */
async function soak(env: Readonly<Record<string, string>>): Promise<{ exit: unknown; told: string }> {
  const child = spawn(process.execPath, [join(root, 'scripts', 'soak.ts')], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const parts: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => {
      parts.push(part.toString())
    })
  const [exit] = (await once(child, 'close')) as [unknown]
  return { exit, told: parts.join('') }
}

const skip = missing(...soakNeeds)
const played = process.env['SOAK_PROOF'] === '1' ? all : []

for (const [name, { was, seed, kinds, says }] of played) {
  t.test(`${name}: ${was}`, { skip, timeout: 300_000 }, async t => {
    const { exit, told } = await soak({ FAULT: name, SEED: String(seed), SOAK_MINUTES: '2' })
    t.equal(exit, 1, 'it is found', { told: told.slice(-2000) })
    t.match(told, says)
  })
  t.test(`the same seed without ${name}`, { skip, timeout: 180_000 }, async t => {
    const { exit, told } = await soak({ SEED: String(seed), SOAK_FAULTS: kinds.join(', ') })
    t.equal(exit, 0, 'all promises kept', { told: told.slice(-2000) })
  })
}
