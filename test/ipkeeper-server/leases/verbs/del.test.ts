import { join } from 'node:path'
import t from 'tap'
import type { SharedStore } from '../../../../ipkeeper-server/store/shared/shared-store.ts'
import { EngineDouble } from '../../../rigs/engine-double.ts'
import { openSharedLeases, openSharedStore } from '../../../rigs/shared-store.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import type { LeaseService } from '../../../../ipkeeper-server/leases/verbs/service.ts'
import { delAttachment, endStray, endStrays } from '../../../../ipkeeper-server/leases/verbs/del.ts'
import { collectGarbage } from '../../../../ipkeeper-server/leases/verbs/gc.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { sampleConfig as main } from '../../network/plan/sample-job.ts'
import { assertSound } from '../ledger/sound-ledger.ts'
import { TestService, type PodWords } from '../test-service.ts'
import {
  leaseKey,
  type FormerClaim,
  type LeaseRecord,
  type NodeClaim,
  type NodeRecord,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { until } from '../../../rigs/poll.ts'
import { nodeText } from '../../../rigs/records.ts'
import { Site } from '../several-nodes.ts'

const key = (containerId: string) => ({ network: 'net', containerId, ifname: 'eth0' })
const leftIn = { netns: '/run/netns/c1' }
const pod = { pod: 'web-0', uid: 'u1', container: 'c1', main }

t.test('the wiring goes before the lease is anybody else’s', async t => {
  const story = await TestService.open()
  await story.add(pod)
  const unwire = story.network.unwire.bind(story.network)
  story.network.unwire = async (attachment, leases) => {
    t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'])
    t.match(leases, [{ address: '10.22.0.2' }])
    await unwire(attachment, leases)
  }
  await delAttachment(story.service, key('c1'), undefined, leftIn)
  t.strictSame(story.network.calls, ['wire', 'unwire'])
  t.strictSame(story.leases(), ['10.22.0.2 cooling shop/web-0 -'])
  await delAttachment(story.service, key('c1'), undefined, leftIn)
  t.strictSame(story.network.calls.at(-1), 'unwire unknown', 'a second one finds nobody')
})

t.test('a wiring that stays keeps its address', async t => {
  const story = await TestService.open()
  await story.add(pod)
  story.network.unwire = () => Promise.reject(new Problem('IPK_WIRING_FAILED', 'busy'))
  await t.rejects(delAttachment(story.service, key('c1'), undefined, leftIn), { code: 'IPK_WIRING_FAILED' })
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'], 'the runtime will send its DEL again')
})

t.test('of an attachment that nobody knows', async t => {
  const story = await TestService.open()
  const asked: unknown[] = []
  story.network.unwireUnknown = (...args) => {
    asked.push(args)
    return Promise.resolve()
  }
  await delAttachment(story.service, key('c9'), undefined)
  t.strictSame(asked, [], 'the IPAM role has no links')
  t.strictSame(await delAttachment(story.service, key('c9'), undefined, leftIn), { late: 'unknown' })
  t.strictSame(asked, [[key('c9'), leftIn.netns]], 'in the main role its names tell')
})

t.test('one that began before the ADD leaves it wired', async t => {
  const story = await TestService.open()
  await story.add({ ...pod, startedAt: 2000 })
  await delAttachment(story.service, key('c1'), { bootId: 'boot-1', startedAt: 1000 }, leftIn)
  t.strictSame(story.network.calls, ['wire'])
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'])
})

t.test('what the IPAM role gave has no wiring', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'web-0', uid: 'u1', container: 'c1' })
  await delAttachment(story.service, key('c1'), undefined, leftIn)
  t.strictSame(story.network.calls, [])
})

interface Row {
  readonly name: string
  /** Sandboxes a, b and c are of one pod, each takes over from the one before. */
  readonly before: (story: TestService) => Promise<unknown>
  /** What there is after the DEL of b. */
  readonly left: readonly string[]
  readonly undone: boolean
}

const web = { pod: 'web-0', uid: 'u1', ip: '10.22.0.9' }
const answered = (container: string): PodWords => ({ ...web, container, invocation: `run-${container}` })
const unanswered = (container: string): PodWords => ({ ...answered(container), confirms: true })

const rows: readonly Row[] = [
  {
    name: 'an ADD that took over and was never answered',
    before: async story => {
      await story.add(answered('a'))
      await story.add(unanswered('b'))
    },
    left: ['10.22.0.9 bound shop/web-0 a'],
    undone: true,
  },
  {
    name: 'one that was answered, though no record says so yet',
    before: async story => {
      await story.add(answered('a'))
      await story.add(unanswered('b'))
      story.marks.add('run-b')
    },
    left: ['10.22.0.9 cooling shop/web-0 -'],
    undone: false,
  },
  {
    name: 'one that was never answered, from one that was deleted meanwhile',
    before: async story => {
      await story.add(answered('a'))
      await story.add(unanswered('b'))
      await story.del('a')
    },
    left: ['10.22.0.9 cooling shop/web-0 -'],
    undone: true,
  },
  {
    name: 'one that was never answered, and was taken over from by one that was',
    before: async story => {
      await story.add(answered('a'))
      await story.add(unanswered('b'))
      await story.add(answered('c'))
    },
    left: ['10.22.0.9 bound shop/web-0 c'],
    undone: true,
  },
  {
    name: 'one that was never answered, after that of its heir, which was not either',
    before: async story => {
      await story.add(answered('a'))
      await story.add(unanswered('b'))
      await story.add(unanswered('c'))
      await story.del('c')
    },
    left: ['10.22.0.9 bound shop/web-0 a'],
    undone: true,
  },
  {
    name: 'one that took nothing over and was never answered',
    before: story => story.add(unanswered('b')),
    left: [],
    undone: true,
  },
  {
    name: 'one that had what was kept for its pod, and was never answered',
    before: async story => {
      await story.add({ ...answered('a'), retain: 'forever' })
      await story.del('a')
      await story.add(unanswered('b'))
    },
    left: ['10.22.0.9 held shop/web-0 -'],
    undone: true,
  },
  {
    name: 'one that was sent again, and never answered',
    before: async story => {
      await story.add(answered('a'))
      await story.add(unanswered('b'))
      await story.add(unanswered('b'))
    },
    left: ['10.22.0.9 bound shop/web-0 a'],
    undone: true,
  },
]

for (const { name, before, left, undone } of rows) {
  t.test(`DEL of ${name}`, async t => {
    const story = await TestService.open()
    await before(story)
    const outcome = await delAttachment(story.service, key('b'), { bootId: 'boot-1', startedAt: 1e12 })
    t.equal(outcome.undone ?? false, undone)
    t.match(outcome, { ended: { containerId: 'b' }, delegatedTo: null })
    t.strictSame(story.leases(), left)
    t.ok(story.service.tombstones.has(key('b')), 'its ADD, should it come again, comes too late')
    assertSound(story.service.ledger, name)
    // What the older sandbox has back it gives up by its own DEL.
    for (const id of ['a', 'c']) await story.del(id)
    t.notMatch(story.leases().join(), 'bound')
    assertSound(story.service.ledger, 'after all DELs')
  })
}

t.test('so it is for everybody who ends an attachment: GC, and what is proved dead', async t => {
  const story = await TestService.open()
  await story.add({ ...answered('a'), startedAt: 1 })
  await story.add({ ...unanswered('b'), startedAt: 2 })
  story.time.pass(1)
  const valid = [{ containerId: 'a', ifname: 'eth0' }]
  const began = { bootId: 'boot-1', startedAt: Math.floor(story.time.monotonic * 1000) }
  const { ended } = await collectGarbage(story.service, { network: 'net', valid, began }, 1e6)
  t.match(ended, [{ containerId: 'b' }])
  t.strictSame(story.leases(), ['10.22.0.9 bound shop/web-0 a'])
})

t.test('in the main role its links go first', async t => {
  const story = await TestService.open()
  await story.add({ ...answered('a'), main })
  await story.add({ ...unanswered('b'), main })
  const unwire = story.network.unwire.bind(story.network)
  story.network.unwire = async (attachment, leases) => {
    t.strictSame(story.leases(), ['10.22.0.9 bound shop/web-0 b'])
    await unwire(attachment, leases)
  }
  t.match(await delAttachment(story.service, key('b'), undefined, leftIn), { undone: true })
  t.strictSame(story.network.calls, ['wire', 'wire', 'unwire'])
  t.strictSame(story.leases(), ['10.22.0.9 bound shop/web-0 a'])
})

t.test('a DEL that began before the ADD asks nobody', async t => {
  const story = await TestService.open()
  await story.add({ ...unanswered('b'), startedAt: 2000 })
  Object.assign(story.service, { wasAnswered: () => Promise.reject(new Error('asked')) })
  await delAttachment(story.service, key('b'), { bootId: 'boot-1', startedAt: 1000 })
  t.strictSame(story.leases(), ['10.22.0.9 bound shop/web-0 b'])
})

/** A commit that was repeated, since its first answer was lost, and is carried out a second time when its record has gone. */
for (const [whose, isEnded] of [
  ['ended here', true],
  ['is not known here', false],
  ['was of a machine that had the name, and was gone before', true],
  ['was of a machine that had the name, and was gone before that', false],
  ['is of the machine that has the name since this one was declared gone', false],
] as const) {
  t.test(`a lease appears again whose sandbox ${whose}`, async t => {
    const endedHere = whose === 'ended here'
    const site = new Site()
    const isNoMoreOurs = whose.startsWith('is of')
    const mine: NodeClaim = { id: 'this one', session: 'this-1', bootId: 'boot-1', since: 0 }
    const terms = { byTime: undefined, offlineGrace: 300_000 }
    const { world } = await site.join(t, 'n1', terms, { claim: mine })
    const strays: string[] = []
    world.service.ledger.subscribe({
      stray: key => {
        strays.push(key.containerId)
      },
    })
    endStrays(world.service, error => t.error(error))
    const address = await world.add({ pod: 'a', container: 'a' })
    const key = leaseKey({ segment: 'default', address })
    const text = site.engine.get('lease', key)?.text ?? ''
    await world.del('a')
    site.engine.put('lease', key, null)
    const given = { ...(JSON.parse(text) as LeaseRecord) }
    const attachment = { network: 'net', containerId: 'theirs', ifname: 'eth0' }
    if (isNoMoreOurs || whose.startsWith('was of')) {
      const gone = { since: given.since - (isEnded || isNoMoreOurs ? 0 : 1), by: 'n2' }
      const other: NodeClaim = { id: 'it', session: 'it-1', bootId: 'b0', since: 0 }
      const [claim, before] = isNoMoreOurs ? [other, mine] : [mine, other]
      const formers: readonly FormerClaim[] = [{ ...before, gone }]
      site.engine.put('node', 'n1', nodeText('n1', { generation: 99, claim, formers }))
      await until('that is heard of', () => world.service.ledger.node('n1')?.formers !== undefined)
    }
    site.engine.put('lease', key, JSON.stringify(endedHere ? given : { ...given, attachment }))
    await until('it is noticed', () => strays.length > 0)
    const state = (): string => (JSON.parse(site.engine.get('lease', key)?.text ?? '{}') as LeaseRecord).state
    if (isEnded) await until('it is ended', () => state() === 'cooling')
    else {
      await world.add({ pod: 'later', container: 'later' })
      t.equal(state(), 'bound', 'another daemon of this name may have it')
    }
    t.strictSame([...new Set(strays)], [endedHere ? 'a' : 'theirs'])
  })
}

for (const name of ['n1', 'n2'])
  t.test(
    `a sandbox ended here while another node had its address, which gives it back while nobody is here, under the name ${name}`,
    async t => {
      const site = new EngineDouble()
      const journal = join(t.testdir({}), 'journal.db')
      const run = async (): Promise<{ readonly world: TestService; readonly store: SharedStore }> => {
        const store = openSharedStore(t, site.connect(), journal, { retryAfter: 5 })
        return { world: await TestService.open(store, 'release', 'n1'), store }
      }
      const first = await run()
      const address = await first.world.add({ pod: 'a', container: 'a' })
      const key = leaseKey({ segment: 'default', address })
      const given = JSON.parse(site.get('lease', key)?.text ?? '') as LeaseRecord
      const attachment = { network: 'net', containerId: 'b', ifname: 'eth0' }
      const taken: LeaseRecord = { ...given, generation: given.generation + 1, node: 'n2', attachment }
      site.put('lease', key, JSON.stringify(taken))
      const { ledger } = first.world.service
      await until('it is heard of', () => ledger.lease(given)?.node === 'n2')
      await first.world.del('a')
      t.match(JSON.parse(site.get('lease', key)?.text ?? ''), taken, "the other node's sandbox has it still")
      await first.store.close()
      site.put('lease', key, JSON.stringify({ ...given, generation: given.generation + 2, node: name }))
      const { world } = await run()
      endStrays(world.service, error => t.error(error))
      await until('it is ended', () => site.get('lease', key)?.text.includes('"cooling"') === true)
    },
  )

t.test('one that was added anew while it was to be ended stays', async t => {
  const world = await TestService.open()
  await world.add({ container: 'a', startedAt: 4 })
  await world.del('a', undefined, undefined, { bootId: 'boot-1', startedAt: 5 })
  const address = await world.add({ container: 'a', startedAt: 6 })
  await endStray(world.service, { network: 'net', containerId: 'a', ifname: 'eth0' }, error => t.error(error))
  t.strictSame(
    world.leases().filter(line => line.includes('bound')),
    [`${address} bound - a`],
  )
})

/** Its runtime has the other machine's sandboxes on its list, as after the disk of that was copied. */
t.test('what a runtime says of a sandbox that another machine may run', async t => {
  const claim = (id: string, more: object = {}): NodeClaim => ({
    id,
    session: id,
    bootId: id,
    since: 0,
    ...more,
  })
  interface Row {
    readonly own: string
    readonly ends: boolean
    readonly record?: Partial<NodeRecord>
    readonly more?: Partial<LeaseService>
  }
  const rows: Readonly<Record<string, Row>> = {
    'the other one has another name': { own: 'n2', ends: false },
    'the other one had the name before': {
      ...{ own: 'n1', ends: false },
      record: { claim: claim('two'), formers: [claim('one')] },
    },
    'it is this machine in this boot, whose journal was lost': {
      ...{ own: 'n1', ends: true },
      record: { claim: claim('two', { bootId: 'b' }), formers: [claim('one', { bootId: 'b' })] },
    },
    'the other one was declared gone for good': { own: 'n2', ends: true, more: { isForgotten: () => true } },
    'the API says that the other one is lost': { own: 'n2', ends: true, more: { lostNode: () => 'gone' } },
  }
  for (const [name, { own, record, more, ends }] of Object.entries(rows))
    await t.test(name, async t => {
      const folder = tempFolder(t)
      const site = new EngineDouble()
      const open = (node: string, file: string): Promise<TestService> =>
        openSharedLeases(t, site.connect(), folder.file(`${file}.db`), { node, retryAfter: 5 })
      const one = await open('n1', 'one')
      const address = await one.add({ pod: 'a', container: 'c1' })
      const key = { segment: 'default', address }
      const two = await open(own, 'two')
      if (record) {
        site.put('node', 'n1', nodeText('n1', { generation: 9, ...record }))
        await until('it is heard', () => two.service.ledger.node('n1')?.formers !== undefined)
      }
      await until('it is heard', () => two.service.ledger.lease(key)?.state === 'bound')
      const service: LeaseService = { ...two.service, ...more }
      const attachment = { network: 'net', containerId: 'c1', ifname: 'eth0' }
      for (let sent = 0; sent < 2; sent++)
        await delAttachment(service, attachment, { bootId: 'boot', startedAt: 1000 + sent })
      t.equal(service.ledger.lease(key)?.attachment?.containerId, ends ? undefined : 'c1')
      if (ends) return
      t.equal(service.tombstones.has(attachment), false)
      await one.del('c1')
      t.notMatch(one.service.ledger.lease(key), { state: 'bound' })
    })
})
