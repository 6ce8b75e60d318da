/**
 * Plays one episode after the other, each by a seed: daemons as processes, a real etcd or real files, and what goes wrong
 * in a cluster's life; test/soak/episode.ts. Ends with exit 1 when something was wrong, having told the story of it and how
 * to see it again, or when a kind of fault that it promises never happened. Needs root.
 *
 *   node scripts/soak.ts
 *
 *   SOAK_MINUTES=10          no new episode after so many minutes
 *   SEED=1                   seed of the first episode, each later one has the next; random when absent. With a seed, and
 *                            without SOAK_MINUTES, this one episode alone
 *   SOAK_FAULTS="a, b"       only faults of these kinds; also those that are known not to be survived
 *   SOAK_PODS="a, b"         only pods that live so; likewise
 *   SOAK_PENDING=1           also what is known not to be survived
 *   SOAK_DIST=FOLDER         executables of another build
 *   FAULT=empty-ledger       executables with a fault that was mended put back: a name of test/soak/faults.ts. Only its kinds
 *                            of faults unless SOAK_FAULTS is set, from SEED (0 unless set) on, until an episode is wrong
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildWithFault } from '../test/soak/build-with-fault.ts'
import { livesFor, playEpisode, type Verdict } from '../test/soak/episode.ts'
import {
  cycle,
  faultKinds,
  nameIn,
  planEpisode,
  promised,
  type PlanOptions,
} from '../test/soak/fault-kinds.ts'
import { soakFaults, type SoakFault } from '../test/soak/faults.ts'
import { distFolder, missing } from '../test/rigs/requirements.ts'
import { lives } from '../test/soak/lives.ts'
import { soakNeeds } from '../test/soak/needs.ts'
import { tellStory, wholeStory } from '../test/soak/story.ts'

const given = (name: string): string => process.env[name] ?? ''

/** A number from the environment; undefined when absent or empty. */
function numberFrom(name: string): number | undefined {
  if (given(name) === '') return undefined
  if (/^[0-9]{1,10}(\.[0-9]+)?$/.test(given(name))) return Number(given(name))
  console.error(`soak: ${name} is no number: "${given(name)}"`)
  process.exit(2)
}

const lacking = missing(...soakNeeds)
if (lacking !== false) {
  console.error(`soak: ${lacking}`)
  process.exit(2)
}

/** Kinds from a list in the environment; undefined when absent or empty. */
function kindsFrom(name: string, known: readonly { readonly kind: string }[]): readonly string[] | undefined {
  const kinds = given(name)
    .split(',')
    .map(kind => kind.trim())
    .filter(kind => kind !== '')
  const stranger = kinds.find(wanted => !known.some(({ kind }) => kind === wanted))
  if (stranger !== undefined) {
    console.error(
      `soak: ${name}: there is no "${stranger}"; there are: ${known.map(({ kind }) => kind).join(', ')}`,
    )
    process.exit(2)
  }
  return kinds.length > 0 ? kinds : undefined
}

/** The one that is to be put back; undefined when absent or empty. */
function faultFrom(name: string): SoakFault | undefined {
  if (given(name) === '') return undefined
  const fault = Object.hasOwn(soakFaults, given(name)) ? soakFaults[given(name)] : undefined
  if (fault && given('SOAK_DIST') === '') return fault
  const names = Object.keys(soakFaults).join(', ')
  console.error(
    fault
      ? `soak: ${name} builds executables of its own; SOAK_DIST names others`
      : `soak: ${name}: there is no fault ${given(name)}; there are ${names}`,
  )
  process.exit(2)
}

const fault = faultFrom('FAULT')
const wantedFaults = kindsFrom('SOAK_FAULTS', faultKinds)
const only = wantedFaults ?? fault?.kinds
const pods = kindsFrom('SOAK_PODS', lives)
const seed = numberFrom('SEED')
const minutes = numberFrom('SOAK_MINUTES') ?? (seed === undefined ? 10 : 0)
const first = seed ?? (fault ? 0 : Math.floor(Math.random() * 2 ** 31))
const pending = given('SOAK_PENDING') === '1'
const plans: PlanOptions = { pending, ...(only && { only }), ...(pods && { pods }) }
const givenDist = given('SOAK_DIST') === '' ? undefined : resolve(given('SOAK_DIST'))

const replay = (ofSeed: number): string =>
  [
    'make soak',
    `SEED=${ofSeed}`,
    ...(fault ? [`FAULT=${given('FAULT')}`] : []),
    ...(wantedFaults ? [`SOAK_FAULTS="${wantedFaults.join(', ')}"`] : []),
    ...(pods ? [`SOAK_PODS="${pods.join(', ')}"`] : []),
    ...(pending ? ['SOAK_PENDING=1'] : []),
    ...(givenDist === undefined ? [] : [`SOAK_DIST=${givenDist}`]),
  ].join(' ')

const total = new Map<string, number>()
const add = (counts: ReadonlyMap<string, number>, name: (kind: string) => string): void => {
  for (const [kind, count] of counts) total.set(name(kind), (total.get(name(kind)) ?? 0) + count)
}
const happened = new Set<string>()
const failed: Verdict[] = []

function tellWrong(verdict: Verdict): void {
  failed.push(verdict)
  const folder = join(import.meta.dirname, '..', '.cache', 'soak')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `seed-${verdict.seed}.txt`)
  writeFileSync(file, wholeStory(verdict))
  console.log(`\nFAIL ${tellStory(verdict, replay(verdict.seed))}\nwith every line, and the logs: ${file}\n`)
}

/** Seeds from the first on; with a fault, only those whose episodes have what it is found by. */
function* seeds(): Generator<number, never> {
  for (let next = first; ; next++)
    if (fault === undefined || seed === next || planEpisode(next, plans).kinds.length > 0) yield next
}

if (fault) console.log(`soak: builds executables with a fault: ${fault.was}`)
const dist = fault ? (await buildWithFault(fault.mends)).file('dist') : (givenDist ?? distFolder)
const began = performance.now()
const elapsed = (): number => (performance.now() - began) / 60_000
console.log(`soak: seed ${first}${minutes > 0 ? `, ${minutes} minutes` : ''}`)
let episodes = 0
for (const next of seeds()) {
  episodes++
  const verdict = await playEpisode({ seed: next, dist, ...plans })
  const { plan, faults, mishaps } = verdict
  add(verdict.lives, kind => `pod: ${kind}`)
  add(mishaps, kind => `fault: ${nameIn(kind, plan.store)}`)
  add(verdict.refusals, kind => `refused: ${kind}`)
  for (const kind of mishaps.keys()) happened.add(nameIn(kind, plan.store))
  console.log(
    `soak: ${elapsed().toFixed(1)} min: seed ${verdict.seed} (${plan.store}): ${verdict.evidence.events.length} events, ` +
      `${[...mishaps].map(([kind, count]) => (count > 1 ? `${kind} ${count} times` : kind)).join(', ')}: ` +
      `${faults.length === 0 ? 'all promises kept' : `${faults.length} WRONG`} in ${(verdict.took / 1000).toFixed(0)} s`,
  )
  if (faults.length > 0) tellWrong(verdict)
  if (elapsed() >= minutes || (fault && failed.length > 0)) break
}

for (const [what, count] of [...total].sort()) console.log(`soak: ${what}: ${count}`)
// Two cycles have every kind whatever the first seed is.
const never = [
  ...promised(plans).filter(kind => !happened.has(kind)),
  ...livesFor(plans).flatMap(({ kind }) => (total.has(`pod: ${kind}`) ? [] : [`pod: ${kind}`])),
]
const short = episodes >= 2 * cycle ? never : []
if (never.length > 0) console.log(`soak: never happened: ${never.join(', ')}`)
console.log(
  `soak: ${episodes} episodes in ${elapsed().toFixed(1)} min: ` +
    (failed.length === 0 ? 'all promises kept' : `WRONG: seeds ${failed.map(({ seed }) => seed).join(', ')}`),
)
process.exitCode = failed.length === 0 && short.length === 0 ? 0 : 1
