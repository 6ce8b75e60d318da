import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Owner } from '../../../../ipkeeper-server/ipam/records/pod-facts.ts'
import { OwnerWatch } from '../../../../ipkeeper-server/leases/tasks/owner-watch.ts'
import { release } from '../../../../ipkeeper-server/leases/verbs/release.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { owned } from '../story.ts'
import { TestService } from '../test-service.ts'

type Answer = 'exists' | 'gone' | 'unknown' | Error

/** Waits until it holds; fails the test after ten seconds. */
async function until(t: Test, what: string, holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!holds() && Date.now() < deadline) await delay(2)
  t.ok(holds(), what)
}

/** A watch with short pauses, on a cluster that gives each owner its answers one after the other, the last one for ever. */
async function watchOwners(t: Test, answers: Readonly<Record<string, readonly Answer[]>>, interval = 5) {
  const store = new FragileStore()
  const story = await TestService.open(store)
  const asked: string[] = []
  const released: string[] = []
  const errors: unknown[] = []
  /** What happens while an owner is asked for. */
  const during = { ask: async (): Promise<void> => Promise.resolve() }
  let underWay = 0
  let most = 0
  const election = { elected: true }
  const watch = new OwnerWatch({
    service: story.service,
    cluster: {
      ownerExists: async (namespace: string, { apiVersion, kind, name, uid }: Owner) => {
        most = Math.max(most, ++underWay)
        await delay(1)
        await during.ask()
        underWay--
        const before = asked.filter(text => text.startsWith(`${uid} `)).length
        asked.push(`${uid} ${namespace} ${apiVersion} ${kind}/${name}`)
        const list = answers[uid] ?? []
        const answer = list[before] ?? list.at(-1) ?? 'unknown'
        if (answer instanceof Error) throw answer
        return answer
      },
    },
    election: { isElected: () => election.elected },
    interval,
    onReleased: lease => released.push(lease.address),
    onError: error => errors.push(error),
  })
  const unsubscribe = story.service.ledger.subscribe({
    kept: () => {
      watch.wake()
    },
  })
  t.teardown(async () => {
    await watch.stop()
  })
  /** A pod that ran and is gone; its address is kept while its owner exists. */
  const keep = async (pod: string, owner: Owner | null | undefined, patch: object = {}): Promise<string> => {
    const words = { pod, container: pod, uid: `uid-${pod}`, retain: 'while-owner-exists', ...patch }
    const address = await story.add(owner === undefined ? words : { ...words, owner })
    await story.del(pod)
    return address
  }
  const passes = (uid: string): number => asked.filter(text => text.startsWith(`${uid} `)).length
  return {
    ...{ store, story, watch, unsubscribe, asked, released, errors, keep, passes, during, election },
    most: () => most,
  }
}

const web = owned('StatefulSet', 'web', 's1')

/** What the API says of the owner pass after pass, and whether its address is released once it was asked so often. */
const verdicts: readonly (readonly [
  name: string,
  answers: readonly Answer[],
  asked: number,
  released: boolean,
])[] = [
  ['it exists', ['exists'], 4, false],
  ['gone once', ['gone', 'exists'], 4, false],
  ['gone twice', ['gone', 'gone'], 2, true],
  ['gone, there again, gone', ['gone', 'exists', 'gone', 'exists'], 5, false],
  ['nobody can tell', ['unknown'], 4, false],
  ['gone, and then nobody can tell', ['gone', 'unknown'], 4, false],
  ['who cannot tell makes nothing undone', ['gone', 'unknown', 'gone'], 3, true],
  ['the API fails', [new Error('502')], 4, false],
  ['the API fails in between', ['gone', new Error('502'), 'gone'], 3, true],
]
for (const [name, answers, times, isReleased] of verdicts) {
  t.test(name, async t => {
    const { story, released, errors, keep, passes } = await watchOwners(t, { s1: answers })
    await keep('web-0', web)
    await until(t, 'asked often enough', () => passes('s1') >= times)
    if (isReleased) await until(t, 'released', () => released.length > 0)
    t.strictSame(released, isReleased ? ['10.22.0.2'] : [])
    t.strictSame(story.leases(), [`10.22.0.2 ${isReleased ? 'cooling' : 'held'} shop/web-0 -`])
    t.equal(
      errors.length > 0,
      answers.some(answer => answer instanceof Error),
    )
    if (isReleased) {
      t.equal(passes('s1'), times, 'not asked again')
      t.equal(story.service.ledger.counts().holder, 0)
    }
  })
}

t.test('one question for all pods of an owner, at most four at once', async t => {
  const owners = Array.from({ length: 9 }, (_, index) => owned('StatefulSet', `set${index}`, `s${index}`))
  const { unsubscribe, watch, asked, keep, most, passes } = await watchOwners(t, {}, 500)
  unsubscribe()
  for (const owner of owners) {
    for (const ordinal of [0, 1, 2]) await keep(`${owner.name}-${ordinal}`, owner)
  }
  watch.wake()
  await until(t, 'a pass is over', () => asked.length >= 9)
  t.equal(asked.length, 9)
  t.equal(passes('s3'), 1)
  t.ok(asked.includes('s3 shop apps/v1 StatefulSet/set3'))
  t.ok(most() <= 4, `${most()} at once`)
})

t.test('all addresses of an owner are released, and no others', async t => {
  const { story, released, keep } = await watchOwners(t, {
    s1: ['gone'],
    d1: ['exists'],
    'uid-printer': ['gone'],
  })
  await keep('web-0', web)
  await keep('web-1', web)
  await keep('api-6d4cf56db6-x2x5z', owned('Deployment', 'api', 'd1'))
  await keep('printer', null)
  await keep('db-0', undefined)
  await keep('lab-0', owned('StatefulSet', 'lab', 's2'), { retain: 'forever' })
  await story.add({ pod: 'web-2', container: 'c9', owner: web, retain: 'while-owner-exists' })
  await until(t, 'released', () => released.length === 3)
  t.strictSame(released.sort(), ['10.22.0.2', '10.22.0.3', '10.22.0.5'])
  t.strictSame(story.leases(), [
    '10.22.0.2 cooling shop/web-0 -',
    '10.22.0.3 cooling shop/web-1 -',
    '10.22.0.4 held shop/api-6d4cf56db6-x2x5z -',
    '10.22.0.5 cooling shop/printer -',
    '10.22.0.6 held shop/db-0 -',
    '10.22.0.7 held shop/lab-0 -',
    '10.22.0.8 bound shop/web-2 c9',
  ])
})

t.test('a pod that comes back for its address while the owner is asked for keeps it', async t => {
  const { story, released, keep, passes, during } = await watchOwners(t, { s1: ['gone'] })
  during.ask = async () => {
    if (passes('s1') === 1)
      await story.add({ pod: 'web-0', container: 'c2', owner: web, retain: 'while-owner-exists' })
  }
  await keep('web-0', web)
  await until(t, 'asked twice', () => passes('s1') === 2)
  await delay(30)
  t.equal(passes('s1'), 2, 'nothing is kept any more')
  t.strictSame(released, [])
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c2'])
})

t.test(
  'an address that went to another owner while the first is asked for is not released with it',
  async t => {
    const { story, released, keep, passes, during } = await watchOwners(t, { s1: ['gone'], s2: ['exists'] })
    const other = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's2' }
    let moved = ''
    during.ask = async () => {
      if (passes('s1') !== 1 || moved !== '') return
      moved = 'on its way'
      await release(story.service, 'default', '10.22.0.2')
      story.now += 1
      // Its record has the same generation as the one that is gone.
      moved = await keep('db-0', other)
    }
    t.equal(await keep('web-0', web), '10.22.0.2')
    await until(t, 'asked twice', () => passes('s1') === 2)
    await until(t, 'and the other one as well', () => passes('s2') > 1)
    t.equal(moved, '10.22.0.2')
    t.strictSame(released, [])
    t.strictSame(story.leases(), ['10.22.0.2 held shop/db-0 -'])
  },
)

t.test('nothing is asked while nothing is kept for an owner', async t => {
  const { story, watch, asked, keep } = await watchOwners(t, { s1: ['gone'] })
  watch.wake()
  await story.add({ pod: 'a', container: 'c1', retain: '30m' })
  await story.del('c1')
  await keep('db-0', undefined)
  await delay(30)
  t.strictSame(asked, [])
})

t.test('what was kept before the start is looked at once somebody wakes it', async t => {
  const { unsubscribe, released, keep, watch } = await watchOwners(t, { s1: ['gone'] })
  unsubscribe()
  await keep('web-0', web)
  await delay(20)
  t.strictSame(released, [])
  watch.wake()
  await until(t, 'released', () => released.length === 1)
})

t.test('a store that refuses is told of, and tried again at the next pass', async t => {
  const { store, story, released, errors, keep } = await watchOwners(t, { s1: ['gone'] })
  await keep('web-0', web)
  store.fails = () => true
  await until(t, 'told', () => errors.length > 0)
  t.match(errors[0], { code: 'IPK_STORE_FAILED' })
  t.strictSame(story.leases(), ['10.22.0.2 held shop/web-0 -'])
  store.fails = () => false
  await until(t, 'released', () => released.length === 1)
})

t.test('stopped is stopped: nothing is written after it', async t => {
  const { story, watch, released, keep, passes, during } = await watchOwners(t, { s1: ['gone'] })
  during.ask = async () => {
    if (passes('s1') === 1) await watch.stop()
  }
  await keep('web-0', web)
  await until(t, 'asked twice', () => passes('s1') === 2)
  watch.wake()
  await delay(30)
  t.equal(passes('s1'), 2)
  t.strictSame(released, [])
  t.strictSame(story.leases(), ['10.22.0.2 held shop/web-0 -'])
})

t.test('who is not elected asks for nobody, and begins anew when it is', async t => {
  const { watch, asked, released, keep, passes, election } = await watchOwners(t, { s1: ['gone'] })
  election.elected = false
  const address = await keep('web-0', web)
  t.strictSame(asked, [])
  election.elected = true
  watch.wake()
  await until(t, 'asked once', () => passes('s1') === 1)
  election.elected = false
  await until(t, 'nothing is asked any more', () => asked.length === 1)
  t.strictSame(released, [])
  election.elected = true
  watch.wake()
  await until(t, 'released', () => released.length === 1)
  t.strictSame(released, [address])
})
