import t from 'tap'
import { collectGarbage, type GcOutcome } from '../../../../ipkeeper-server/leases/verbs/gc.ts'
import { countAsAnswered } from '../../../../ipkeeper-server/leases/verbs/attachment-notes.ts'
import { RecentAnswers } from '../../../../ipkeeper-server/leases/verbs/recent-verbs.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { TestService, type PodWords } from '../test-service.ts'

const minute = 60_000
/** As the sweeper's, unless configured. */
const minAgeUnproved = 5 * minute

const valid = (...ids: readonly string[]) => ids.map(containerId => ({ containerId, ifname: 'eth0' }))

/** The moment in the microseconds by which a plugin dates its run. */
const date = (story: TestService): number => Math.floor(story.time.monotonic * 1000)

/** An ADD whose run begins a millisecond from now. */
async function add(story: TestService, container: string, more: Partial<PodWords> = {}): Promise<string> {
  story.time.pass(1)
  const startedAt = date(story)
  story.time.pass(1)
  return await story.add({ container, startedAt, invocation: `run-${container}`, ...more })
}

/** A GC whose run begins at this moment, unless it is said when, or that it is not (null). */
async function gc(
  story: TestService,
  ids: readonly string[] = [],
  startedAt: number | null = date(story),
  bootId = 'boot-1',
): Promise<GcOutcome> {
  const began = startedAt === null ? undefined : { bootId, startedAt }
  return await collectGarbage(story.service, { network: 'net', valid: valid(...ids), began }, minAgeUnproved)
}

const c1 = { network: 'net', containerId: 'c1', ifname: 'eth0' }

const bound = (story: TestService): string[] =>
  story
    .leases()
    .filter(line => line.includes(' bound '))
    .map(line => line.split(' ').at(-1) ?? '')

t.test('ends what is not in the list: of this network, this interface, before it began', async t => {
  const story = await TestService.open()
  await add(story, 'keep')
  await add(story, 'stale')
  await add(story, 'keep', { ifname: 'net1', invocation: 'run-net1' })
  story.time.pass(1)
  const began = date(story)
  await add(story, 'younger')
  const { ended, problems } = await gc(story, ['keep'], began)
  t.strictSame(ended.map(({ containerId, ifname }) => `${containerId} ${ifname}`).sort(), [
    'keep net1',
    'stale eth0',
  ])
  t.strictSame(problems, [])
  t.strictSame(story.leases(), [
    '10.22.0.2 bound - keep',
    '10.22.0.3 cooling - -',
    '10.22.0.4 cooling - -',
    '10.22.0.5 bound - younger',
  ])
  const elsewhere = { network: 'other', valid: [], began: { bootId: 'boot-1', startedAt: date(story) } }
  t.strictSame((await collectGarbage(story.service, elsewhere, minAgeUnproved)).ended, [])
})

interface Row {
  readonly name: string
  /** Makes the attachment c1; whatever happens after the GC has begun comes behind `begin`. */
  readonly story: (story: TestService, begin: () => void) => Promise<unknown>
  /** When the GC began: as `begin` was called, in another boot, or it does not say. */
  readonly gc?: 'of another boot' | 'undated'
  readonly ends: boolean
}

const rows: readonly Row[] = [
  {
    name: 'answered before the GC began',
    story: async (story, begin) => {
      await add(story, 'c1')
      story.time.pass(1)
      begin()
    },
    ends: true,
  },
  {
    name: 'begun after the GC, and answered before it is carried out',
    story: async (story, begin) => {
      begin()
      await add(story, 'c1')
    },
    ends: false,
  },
  {
    name: 'begun before the GC, and answered after it had begun',
    story: async (story, begin) => {
      const startedAt = date(story)
      story.time.pass(5)
      begin()
      story.time.pass(5)
      await story.add({ container: 'c1', startedAt })
    },
    ends: false,
  },
  {
    name: 'recorded before the GC, and wired until after it had begun',
    story: async (story, begin) => {
      await add(story, 'c1')
      story.time.pass(1)
      begin()
      story.time.pass(1)
      story.service.answers.note(
        { network: 'net', containerId: 'c1', ifname: 'eth0' },
        story.service.monotonic(),
      )
    },
    ends: false,
  },
  {
    name: 'answered before the GC, and once more after it had begun',
    story: async (story, begin) => {
      const startedAt = date(story)
      await story.add({ container: 'c1', startedAt, invocation: 'run-1' })
      story.time.pass(1)
      begin()
      story.time.pass(1)
      await story.add({ container: 'c1', startedAt, invocation: 'run-1' })
    },
    ends: false,
  },
  {
    name: 'dead, and added anew under its key after the GC had begun',
    story: async (story, begin) => {
      await add(story, 'c1')
      story.time.pass(1)
      begin()
      story.dead.add('c1')
      await add(story, 'c1', { invocation: 'run-2' })
      story.dead.delete('c1')
    },
    ends: false,
  },
  {
    name: 'of a boot that is over, whatever it was dated by',
    story: async (story, begin) => {
      await add(story, 'c1', { bootId: 'boot-0', startedAt: 1e15 })
      begin()
    },
    ends: true,
  },
  {
    name: 'of a run that another clock dates, as in a time namespace',
    story: async (story, begin) => {
      await story.add({ container: 'c1', startedAt: date(story) - 3_600_000_000 })
      begin()
    },
    ends: true,
  },
  {
    name: 'left to the fallback, and confirmed after the GC had begun',
    story: async (story, begin) => {
      const words = { container: 'c1', startedAt: date(story), invocation: 'run-1', fallback: 'dhcp' }
      await story.add(words)
      story.time.pass(1)
      begin()
      story.time.pass(1)
      await story.add({ ...words, given: ['192.0.2.7/24'] })
    },
    ends: false,
  },
  {
    name: 'undated, though it was there before',
    story: async (story, begin) => {
      await story.add({ container: 'c1' })
      story.time.pass(minAgeUnproved - 2)
      begin()
    },
    ends: false,
  },
  {
    name: 'undated, and old',
    story: async (story, begin) => {
      await story.add({ container: 'c1' })
      story.time.pass(minAgeUnproved)
      begin()
    },
    ends: true,
  },
  {
    name: 'undated, and proved dead',
    story: async (story, begin) => {
      await story.add({ container: 'c1' })
      story.dead.add('c1')
      begin()
    },
    ends: true,
  },
  {
    name: 'young, and the GC is undated',
    story: async (story, begin) => {
      await add(story, 'c1')
      story.time.pass(minAgeUnproved - 3)
      begin()
    },
    gc: 'undated',
    ends: false,
  },
  {
    name: 'old by a clock that was set forward, and the GC is undated',
    story: async (story, begin) => {
      await add(story, 'c1')
      story.time.set(24 * 60 * minute)
      begin()
    },
    gc: 'undated',
    ends: false,
  },
  {
    name: 'old, the clock was set back, and the GC is undated',
    story: async (story, begin) => {
      await add(story, 'c1')
      story.time.pass(minAgeUnproved)
      story.time.set(-24 * 60 * minute)
      begin()
    },
    gc: 'undated',
    ends: true,
  },
  {
    name: 'dead, and the GC is undated',
    story: async (story, begin) => {
      await add(story, 'c1')
      story.dead.add('c1')
      begin()
    },
    gc: 'undated',
    ends: true,
  },
  {
    name: 'answered before the GC began, which was found out after that',
    story: async (story, begin) => {
      await add(story, 'c1', { confirms: true })
      story.time.pass(1)
      begin()
      story.time.pass(1)
      await countAsAnswered(story.service, [c1])
    },
    ends: true,
  },
  {
    name: 'the same, and it was an earlier daemon that answered',
    story: async (story, begin) => {
      await add(story, 'c1', { confirms: true })
      story.time.pass(1)
      begin()
      story.time.pass(1)
      await countAsAnswered({ ...story.service, answers: new RecentAnswers() }, [c1])
    },
    ends: false,
  },
  {
    name: 'young, and the GC is dated by another boot',
    story: async (story, begin) => {
      await add(story, 'c1')
      begin()
    },
    gc: 'of another boot',
    ends: false,
  },
]

for (const row of rows) {
  t.test(`${row.name}: ${row.ends ? 'ended' : 'left alone'}`, async t => {
    const story = await TestService.open()
    let began = 0
    await row.story(story, () => (began = date(story)))
    story.time.pass(1)
    await gc(story, [], row.gc === 'undated' ? null : began, row.gc && 'boot-0')
    t.strictSame(story.service.ledger.counts().attachment, row.ends ? 0 : 1)
  })
}

t.test('a record of an older daemon, which did not note when it answered', async t => {
  for (const [age, ends] of [
    [minAgeUnproved - 1, false],
    [minAgeUnproved, true],
  ] as const) {
    const story = await TestService.open()
    await story.add({ container: 'c1' })
    const { ledger } = story.service
    const [record] = [...ledger.attachments()]
    if (!record) throw new Error('no attachment')
    const { answeredAt, ...old } = record
    t.equal(answeredAt, date(story))
    const key = JSON.stringify(['net', 'c1', 'eth0'])
    const moved = { ...old, generation: record.generation + 1 }
    await ledger.commit([{ kind: 'attachment', key, expect: record.generation, record: moved }])
    story.time.pass(age)
    await gc(story)
    t.equal(bound(story).length, ends ? 0 : 1, `the daemon is up for ${age} ms`)
  }
})

t.test('what is added again under its key while GC is at work is left alone', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  await add(story, 'c1')
  await add(story, 'c2')
  story.time.pass(1)
  // The first commit of GC waits, and meanwhile the runtime makes c2 anew.
  let release: () => void = () => undefined
  store.delay = () => new Promise(resolve => (release = resolve))
  const collecting = gc(story)
  while (bound(story).length > 1) await new Promise(resolve => setImmediate(resolve))
  store.delay = async () => Promise.resolve()
  story.time.pass(1)
  const deleted = story.del('c2', 'eth0', 'net', { bootId: 'boot-1', startedAt: date(story) })
  const again = add(story, 'c2', { invocation: 'run-2' })
  release()
  await deleted
  t.equal(await again, '10.22.0.4')
  const { ended, problems } = await collecting
  t.strictSame(
    ended.map(attachment => attachment.containerId),
    ['c1'],
  )
  t.strictSame(problems, [])
  t.strictSame(story.leases(), ['10.22.0.2 cooling - -', '10.22.0.3 cooling - -', '10.22.0.4 bound - c2'])
})

t.test('one that is answered once more while GC waits for its turn is left alone', async t => {
  const story = await TestService.open()
  const words = { startedAt: date(story), invocation: 'run-1' }
  await story.add({ container: 'c1', ...words })
  story.time.pass(1)
  let release: () => void = () => undefined
  const busy = story.service.serial.run(
    JSON.stringify(['net', 'c1', 'eth0']),
    () => new Promise<void>(resolve => (release = resolve)),
  )
  const again = story.add({ container: 'c1', ...words })
  const collecting = gc(story)
  story.time.pass(1)
  release()
  await busy
  t.equal(await again, '10.22.0.2')
  t.strictSame((await collecting).ended, [])
  t.strictSame(bound(story), ['c1'])
})

t.test('goes on after an error, and says how many', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  for (const container of ['c1', 'c2', 'c3']) await add(story, container)
  story.time.pass(1)
  let turn = 0
  store.fails = () => ++turn === 2
  const { ended, problems } = await gc(story)
  t.equal(ended.length, 2)
  t.strictSame(
    problems.map(problem => problem.code),
    ['IPK_STORE_FAILED'],
  )
  t.equal(bound(story).length, 1)
})
