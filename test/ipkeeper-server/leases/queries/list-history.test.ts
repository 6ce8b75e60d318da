import t from 'tap'
import type { TenureItem } from '../../../../shared/api/address.schema.ts'
import { undoAdd } from '../../../../ipkeeper-server/leases/verbs/undo-add.ts'
import { listHistory } from '../../../../ipkeeper-server/leases/queries/list-history.ts'
import { release } from '../../../../ipkeeper-server/leases/verbs/release.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { TestService } from '../test-service.ts'

const minute = 60_000
const fifty = { segment: 'default', address: '10.22.0.50' }

const clock = (time: string | null): string => (time === null ? 'now' : time.slice(11, 16))

/** "00:00-00:10 bound shop/a c1: deleted" per tenure. */
const told = (tenures: readonly TenureItem[]): string[] =>
  tenures.map(({ from, to, state, pod, containerId, ended }) => {
    const who = [pod ? `${pod.namespace}/${pod.name}` : '-', containerId ?? '-'].join(' ')
    return `${clock(from)}-${clock(to)} ${state} ${who}${ended === null ? '' : `: ${ended}`}`
  })

const history = async (story: TestService, limit = 100): Promise<string[]> =>
  told((await listHistory(story.service, fifty, { limit })).history)

t.test('who had an address at any moment can be read straight off', async t => {
  const story = await TestService.open()
  const after = (minutes: number): void => {
    story.now += minutes * minute
  }
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.50', retain: '30m' })
  after(10)
  await story.del('c1')
  after(5)
  await story.add({ pod: 'a', container: 'c2', ip: '10.22.0.50' })
  after(5)
  story.dead.add('c2')
  await story.add({ pod: 'a', container: 'c3', ip: '10.22.0.50' })
  after(5)
  await story.del('c3')
  after(5)
  await story.add({ pod: 'b', container: 'c4', ip: '10.22.0.50', retain: '1h' })
  after(5)
  await story.del('c4')
  after(90)
  await story.add({ pod: 'c', container: 'c5', ip: '10.22.0.50' })
  const tenures = (await listHistory(story.service, fifty, { limit: 100 })).history
  t.strictSame(told(tenures), [
    '02:05-now bound shop/c c5',
    '00:35-01:35 held shop/b -: time over',
    '00:30-00:35 bound shop/b c4: deleted, kept',
    '00:25-00:30 cooling shop/a -: given to shop/b',
    '00:20-00:25 bound shop/a c3: deleted',
    '00:15-00:20 bound shop/a c2: taken over by a newer sandbox',
    '00:10-00:15 held shop/a -: shop/a came back',
    '00:00-00:10 bound shop/a c1: deleted, kept',
  ])
  t.match(tenures[4], {
    ...{ segment: 'default', address: '10.22.0.50', pool: 'net', network: 'net', ifname: 'eth0', node: 'n1' },
    ...{ pod: { uid: 'uid-of-c3' }, source: 'annotation ipkeeper.io/ip', until: null },
    ...{ from: '2026-01-01T00:20:00.000Z', holderSince: '2026-01-01T00:00:00.000Z' },
  })
  t.equal(tenures[1]?.until, '2026-01-01T01:35:00.000Z')
})

t.test('page after page: what ended the first tenure of a page is known', async t => {
  const story = await TestService.open()
  for (let index = 0; index < 5; index++) {
    await story.add({ pod: 'a', container: `c${index}`, ip: '10.22.0.50', retain: 'forever' })
    story.now += minute
    await story.del(`c${index}`)
    story.now += minute
    if (index % 2 === 0) await release(story.service, 'default', '10.22.0.50')
  }
  const whole = (await listHistory(story.service, fifty, { limit: 100 })).history
  t.equal(whole.length, 10)
  t.notOk(whole.slice(1).some(({ ended }) => ended === null))
  for (const size of [1, 3, 10]) {
    const pages: TenureItem[] = []
    for (let page = (await listHistory(story.service, fifty, { limit: size })).history; page.length > 0;) {
      t.ok(page.length <= size)
      pages.push(...page)
      page = (await listHistory(story.service, fifty, { limit: size, before: pages.at(-1)?.id })).history
    }
    t.strictSame(pages, whole, `pages of ${size}`)
  }
})

t.test('an ADD whose answer did not arrive', async t => {
  const story = await TestService.open()
  const words = { pod: 'a', container: 'c1', ip: '10.22.0.50' }
  await story.add(words)
  story.now += minute
  await undoAdd(story.service, story.request(words), 1)
  t.strictSame(await history(story), ['00:00-00:01 bound shop/a c1: ADD undone'])
})

t.test('a container without a pod', async t => {
  const story = await TestService.open()
  await story.add({ container: 'c1', ip: '10.22.0.50', retain: 'forever' })
  await story.del('c1')
  t.strictSame(await history(story), ['00:00-now held - c1', '00:00-00:00 bound - c1: deleted, kept'])
})

t.test('what the store refused never happened', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  store.fails = () => true
  t.equal(await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.50' }), 'IPK_STORE_FAILED')
  t.strictSame(await history(story), [])
  store.fails = () => false
  await story.add({ pod: 'b', container: 'c2', ip: '10.22.0.50' })
  t.strictSame(await history(story), ['00:00-now bound shop/b c2'])
})

t.test('an answer that is repeated is no event', async t => {
  const story = await TestService.open()
  const words = { pod: 'a', container: 'c1', ip: '10.22.0.50', invocation: 'i1' }
  await story.add(words)
  await story.add(words)
  t.equal((await history(story)).length, 1)
})

t.test('filters and order, also where most of a long history is left out', async t => {
  const story = await TestService.open()
  const addAndDelete = async (pod: string, container: string, more: object = {}): Promise<void> => {
    await story.add({ pod, container, ip: '10.22.0.50', ...more })
    story.now += minute
    await story.del(container)
    story.now += 20 * minute
  }
  await addAndDelete('b', 'first', { namespace: 'lab' })
  for (let count = 0; count < 600; count++) await addAndDelete('a', `c${count}`)
  await addAndDelete('b', 'last', { namespace: 'lab' })
  const of = async (
    limit: number,
    terms: Omit<Parameters<typeof listHistory>[2], 'limit'>,
  ): Promise<readonly (string | null)[]> =>
    (await listHistory(story.service, fifty, { limit, ...terms })).history.map(({ containerId, state }) =>
      state === 'bound' ? containerId : state,
    )
  t.strictSame(await of(10, { filters: { namespace: 'lab', state: 'bound' } }), ['last', 'first'])
  t.strictSame(await of(1, { filters: { pod: 'lab/b', state: 'bound' } }), ['last'])
  const [newest] = (
    await listHistory(story.service, fifty, {
      limit: 1,
      filters: { pod: 'b', state: 'bound' },
    })
  ).history
  t.strictSame(await of(1, { before: newest?.id, filters: { pod: 'b', state: 'bound' } }), ['first'])
  t.strictSame(await of(2, { sort: 'oldest', filters: { state: 'bound' } }), ['c599', 'last'])
  t.strictSame(await of(2, { filters: { node: 'n2' } }), [])
  t.strictSame(await of(1, { filters: { pool: 'net' } }), ['cooling'])
  t.equal((await of(1000, { filters: { pod: 'shop/a', state: 'bound' } })).length, 600)
  await t.rejects(of(1, { filters: { namespace: 'lab', pod: 'shop/a' } }), { code: 'IPK_REQUEST_INVALID' })
})

t.test('who had it at a moment, and what a pod or an owner had', async t => {
  const story = await TestService.open()
  const life = async (pod: string, container: string, ip: string): Promise<void> => {
    await story.add({ pod, container, ip })
    story.now += 10 * minute
    await story.del(container)
    story.now += 20 * minute
  }
  const begin = story.now
  await life('web-0', 'c1', '10.22.0.50')
  await life('db', 'c2', '10.22.0.50')
  await life('web-0', 'c3', '10.22.0.51')
  const had = async (key: typeof fifty | null, terms: object): Promise<readonly string[]> =>
    (await listHistory(story.service, key, { limit: 100, ...terms })).history.map(
      ({ address, state, pod, from }) => `${clock(from)} ${address} ${state} ${pod?.name ?? '-'}`,
    )
  const at = (minutes: number): object => {
    const moment = begin + minutes * minute
    return { since: moment, until: moment }
  }
  const cases: readonly (readonly [key: typeof fifty | null, terms: object, had: readonly string[]])[] = [
    [fifty, at(0), ['00:00 10.22.0.50 bound web-0']],
    [fifty, at(9), ['00:00 10.22.0.50 bound web-0']],
    [fifty, at(10), ['00:10 10.22.0.50 cooling web-0']],
    [fifty, at(35), ['00:30 10.22.0.50 bound db']],
    [fifty, at(-1), []],
    [fifty, { ...at(35), filters: { pod: 'shop/web-0' } }, []],
    [fifty, { until: begin + 5 * minute }, ['00:00 10.22.0.50 bound web-0']],
    [fifty, { since: begin + 35 * minute, filters: { state: 'bound' } }, ['00:30 10.22.0.50 bound db']],
    [
      null,
      { filters: { pod: 'shop/web-0', state: 'bound' } },
      ['01:00 10.22.0.51 bound web-0', '00:00 10.22.0.50 bound web-0'],
    ],
    [null, { filters: { owner: 'web', state: 'bound' }, limit: 1 }, ['01:00 10.22.0.51 bound web-0']],
    [null, { filters: { namespace: 'lab' } }, []],
  ]
  for (const [key, terms, wanted] of cases)
    t.strictSame(await had(key, terms), wanted, JSON.stringify({ key, terms }))
})
