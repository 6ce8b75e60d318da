/**
 * Faults that were mended are put back one by one (faults.ts): the seed that finds one is refused with it, and clean without it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { faults, type FoundBy } from './faults.ts'
import { historyOf } from './history-of.ts'
import { playHistory } from './play-history.ts'
import { unmended } from './put-back.ts'

const root = join(import.meta.dirname, '..', '..')

t.jobs = 2

/** What make simulate prints of one history, in a process that has the fault. */
async function playWith(fault: string, { kind, seed }: FoundBy): Promise<string> {
  const child = spawn(process.execPath, [join(root, 'scripts', 'simulate.ts')], {
    env: { ...process.env, FAULT: fault, KIND: kind, SEED: String(seed), SHRINK: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const parts: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => {
      parts.push(part.toString())
    })
  await once(child, 'close')
  return parts.join('')
}

t.test('each can be put back: its place is in the product exactly once', async t => {
  for (const [name, fault] of Object.entries(faults)) {
    const text = readFileSync(join(root, fault.file), 'utf8')
    t.not(unmended(text, fault), text, name)
  }
  t.throws(() => unmended('twice, twice', { file: 'a.ts', from: 'twice', to: '' }), /a\.ts has 2 times/)
  t.throws(() => unmended('never', { file: 'a.ts', from: 'twice', to: '' }), /a\.ts has 0 times/)
  return Promise.resolve()
})

t.test('each is found by a seed, or by a test that there is; at least 20 by a seed', async t => {
  for (const [name, { found, unseen }] of Object.entries(faults)) {
    t.equal(found === undefined, unseen !== undefined, name)
    if (unseen) t.ok(existsSync(join(root, unseen.test)), unseen.test)
  }
  t.ok(Object.values(faults).filter(({ found }) => found).length >= 20)
  return Promise.resolve()
})

t.test('the page on the simulation has each of them, as it is found', async t => {
  const page = readFileSync(join(root, 'docs', 'contributing', 'simulation.md'), 'utf8')
  for (const [name, { was, found, unseen }] of Object.entries(faults)) {
    const how = found ? `\`${found.kind}\` ${found.seed} | ` : ''
    t.ok(page.includes(`| \`${name}\` | ${was} | ${how}`), name)
    if (unseen) t.ok(page.includes(unseen.test), unseen.test)
  }
  return Promise.resolve()
})

t.test('without them the same histories are clean', async t => {
  const seeds = new Map(
    Object.values(faults).flatMap(({ found }) => (found ? [[`${found.kind} ${found.seed}`, found]] : [])),
  )
  for (const [name, { kind, seed }] of seeds)
    t.strictSame((await playHistory(historyOf(kind, seed))).violations, [], name)
})

for (const [name, { was, found }] of Object.entries(faults))
  if (found)
    t.test(`${name}: ${was}`, async t => {
      const told = await playWith(name, found)
      t.ok(told.includes(` WRONG: ${found.says}: `), found.says, { told: told.slice(-1000) })
    })
