import fc from 'fast-check'
import t from 'tap'
import { Ledger } from '../../ipkeeper-server/leases/ledger/ledger.ts'
import { listLeases } from '../../ipkeeper-server/leases/queries/listing.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { usageOf } from '../../ipkeeper-server/ipam/pools/usage.ts'
import { poolFrom, TestService, type PodWords } from '../ipkeeper-server/leases/test-service.ts'
import { assertTrueHistory } from '../ipkeeper-server/leases/ledger/true-history.ts'
import { FragileStore } from '../ipkeeper-server/store/fragile-store.ts'

/**
 * Random histories of a few pods on a small pool, several operations at once, on a store that sometimes refuses, with
 * restarts between. After each batch a small model that knows only what was acknowledged is compared with the ledger.
 */

interface Live {
  readonly words: PodWords
  readonly addresses: readonly string[]
}

type Operation =
  | {
      readonly kind: 'add'
      readonly pod: number
      readonly uid: number
      readonly address: number | undefined
      readonly retain: boolean
      readonly fallback: boolean
      readonly gone: boolean
    }
  | { readonly kind: 'del'; readonly pick: number }
  | { readonly kind: 'late-del'; readonly pick: number }
  | { readonly kind: 'dies'; readonly pick: number }

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      pod: fc.nat(4),
      uid: fc.nat(1),
      address: fc.option(fc.integer({ min: 2, max: 7 }), { nil: undefined, freq: 2 }),
      retain: fc.nat(4).map(value => value === 0),
      fallback: fc.nat(3).map(value => value === 0),
      gone: fc.nat(9).map(value => value === 0),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('del' as const), pick: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('late-del' as const), pick: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('dies' as const), pick: fc.nat(20) }) },
)

const batch = fc.record({
  operations: fc.array(operation, { minLength: 1, maxLength: 4 }),
  wait: fc.constantFrom(0, 0, 1000, 61_000, 700_000),
  restart: fc.nat(5).map(value => value === 0),
  failures: fc.array(
    fc.nat(5).map(value => value === 0),
    { minLength: 1, maxLength: 7 },
  ),
})

async function run(
  history: readonly (typeof batch extends fc.Arbitrary<infer T> ? T : never)[],
): Promise<void> {
  const store = new FragileStore()
  let story = await TestService.open(store)
  const pool = poolFrom('net', ['10.22.0.0/29'])
  story.pool = pool
  const live = new Map<string, Live>()
  const all: string[] = []
  let next = 0

  for (const { operations, wait, restart, failures } of history) {
    let turn = 0
    store.fails = () => failures[turn++ % failures.length] ?? false
    // A DEL that races its own ADD may come before or after it; the model follows those of earlier batches.
    const settled = [...all]
    // What a dead sandbox had, its holder's next ADD keeps, moves or frees, also when that ADD is abandoned.
    const adding = new Set(operations.map(step => (step.kind === 'add' ? `p${step.pod}` : undefined)))
    const pick = (index: number): string | undefined => settled[index % Math.max(settled.length, 1)]

    await Promise.all(
      operations.map(async step => {
        if (step.kind === 'add') {
          const container = `c${next++}`
          const words: PodWords = {
            pod: `p${step.pod}`,
            uid: `u${step.uid}`,
            container,
            invocation: container,
            ...(step.address !== undefined && { ip: `10.22.0.${step.address}` }),
            ...(step.retain && { retain: 'forever' }),
            ...(step.fallback && { fallback: 'dhcp' }),
          }
          all.push(container)
          const answer = await story.add(words, { gone: () => step.gone })
          // What a dead sandbox had is its holder's again: kept, moved or freed by the holder's next ADD.
          for (const [other, { words: theirs }] of live) {
            if (theirs.pod === words.pod && story.dead.has(other)) live.delete(other)
          }
          // When the store refuses the undo too, the takeover stands until the DEL that a runtime sends after a failed ADD.
          if (step.gone && answer === 'IPK_STORE_FAILED') {
            for (const [other, { words: theirs }] of live) if (theirs.pod === words.pod) live.delete(other)
          }
          if (answer.startsWith('IPK_')) return
          if (step.gone) throw new Error('an ADD whose client had gone was answered')
          if (answer === 'left to dhcp') {
            if (!step.fallback || step.retain || words.ip !== undefined)
              throw new Error(`${container} asks for something and was left to the fallback`)
            live.set(container, { words, addresses: [] })
            return
          }
          if (words.ip !== undefined && answer !== words.ip)
            throw new Error(`asked ${words.ip}, got ${answer}`)
          // The holder's older attachment gives way only to the same pod or when it is dead; others never do.
          for (const [other, { words: theirs, addresses }] of live) {
            if (!addresses.includes(answer)) continue
            const freed = story.dead.has(other) && adding.has(theirs.pod)
            const mayTake = freed || (theirs.pod === words.pod && theirs.uid === words.uid)
            if (!mayTake)
              throw new Error(
                `${answer} of ${other} (${theirs.pod}) was given to ${container} (${words.pod})`,
              )
            live.delete(other)
          }
          live.set(container, { words, addresses: [answer] })
        } else {
          const container = pick(step.pick)
          if (container === undefined) return
          if (step.kind === 'dies') story.dead.add(container)
          else {
            // Once a DEL was asked for, the runtime is giving the sandbox up, also when the store refuses: it will ask again.
            live.delete(container)
            await story.del(container).catch((error: unknown) => {
              if (!(error instanceof Problem && error.code === 'IPK_STORE_FAILED')) throw error
            })
          }
        }
      }),
    )

    store.fails = () => false
    const listed = listLeases(story.service)
    for (const [container, { addresses }] of live) {
      if (story.dead.has(container)) continue
      const key = { network: pool.name, containerId: container, ifname: 'eth0' }
      const left = story.service.ledger.attachment(key)?.delegatedTo !== undefined
      if (left !== (addresses.length === 0)) throw new Error(`${container} was left to the fallback, or not?`)
      for (const address of addresses) {
        const lease = listed.find(candidate => candidate.address === address)
        if (lease?.state !== 'bound' || lease.containerId !== container) {
          throw new Error(`${address} was acknowledged to ${container}, but is ${JSON.stringify(lease)}`)
        }
      }
    }
    const used = usageOf(story.service.ledger, pool, story.now)
    if (used.used + used.held + used.free !== used.capacity || used.free < 0n)
      throw new Error('usage does not add up')

    await assertTrueHistory(story.service.ledger, story.now, 'after the batch')

    // What memory says is what the store says: a fresh ledger lists the same and would choose the same.
    const fresh = await Ledger.open(store)
    const again = listLeases({ ...story.service, ledger: fresh })
    if (JSON.stringify(again) !== JSON.stringify(listed)) throw new Error('ledger and store differ')
    fresh.expire(story.now)
    story.service.ledger.expire(story.now)
    for (let first = 0x0a160002n; first <= 0x0a160006n; first++) {
      const [left, right] = [fresh, story.service.ledger].map(
        ledger => ledger.lowestFree('default', 4, { first, last: 0x0a160006n })?.value,
      )
      if (left !== right)
        throw new Error(`index differs from a fresh one at ${first}: ${String(left)} and ${String(right)}`)
    }

    story.now += wait
    story.service.ledger.expire(story.now)
    if (restart) {
      const { dead, time } = story
      story = await TestService.open(store, undefined, undefined, undefined, time)
      for (const container of dead) story.dead.add(container)
      story.pool = pool
    }
  }
}

t.test('no address twice, nothing acknowledged lost, memory and store agree', async t => {
  await t.resolves(
    fc.assert(fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 12 }), run), { numRuns: 2000 }),
  )
})
