import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { undoAdd } from '../../../ipkeeper-server/leases/verbs/undo-add.ts'
import { AnsweredMarks } from '../../../ipkeeper-server/reconcile/answered-marks.ts'
import { SettleAnswers, type SettlingPauses } from '../../../ipkeeper-server/reconcile/settle-answers.ts'
import { leaveMark } from '../../../plugin/answered-mark.ts'
import { until } from '../../rigs/poll.ts'
import { TestService, type PodWords } from '../leases/test-service.ts'
import { FragileStore } from '../store/fragile-store.ts'

/** Short, so that nothing is waited for; each order of events is made by the tests themselves. */
const brisk: SettlingPauses = { look: 5, longestLook: 20, grace: 30, keepMark: 40, retry: 5 }
/** As good as never. */
const never = 1e8

/** A state folder and a store that outlive their daemons. */
class Site {
  readonly stateDir: string
  readonly store = new FragileStore()
  readonly #t: Test

  constructor(test: Test) {
    this.#t = test
    this.stateDir = test.testdir({})
  }

  get marks(): string[] {
    const entries = readdirSync(join(this.stateDir, 'answered'), { withFileTypes: true })
    return entries.map(entry => `${entry.name} ${entry.isDirectory() ? 'daemon' : 'plugin'}`).sort()
  }

  mark(run: string): void {
    leaveMark(this.stateDir, run)
  }

  /** A daemon up to where it would open its socket. */
  async daemon(
    pauses: Partial<SettlingPauses> = {},
    marks = new AnsweredMarks(this.stateDir),
    kept: readonly string[] = [],
  ) {
    const story = await TestService.open(this.store)
    const undone: string[] = []
    const errors: unknown[] = []
    const answers = new SettleAnswers({
      service: story.service,
      marks,
      monotonic: () => performance.now(),
      hasResult: ({ containerId }) => Promise.resolve(kept.includes(containerId)),
      onUndone: ({ containerId }) => undone.push(containerId),
      onError: error => errors.push(error),
      pauses: { ...brisk, ...pauses },
    })
    this.#t.teardown(() => answers.stop())
    Object.assign(story.service, { wasAnswered: answers.wasAnswered.bind(answers) })
    await answers.begin()
    story.service.ledger.subscribe({
      unanswered: () => {
        answers.wake()
      },
    })
    const unanswered = (): string[] =>
      story.service.ledger.unanswered().map(({ containerId, unanswered: mark }) => {
        return `${containerId}${mark?.confirms === true ? '' : ' silently'}`
      })
    return { story, answers, undone, errors, unanswered, add: (words: PodWords) => story.add(words) }
  }
}

/** A container added by run-CONTAINER of the plugin. */
const confirmed = (container: string, more: Partial<PodWords> = {}): PodWords => ({
  container,
  invocation: `run-${container}`,
  confirms: true,
  ...more,
})

t.test('a mark is taken over into the record, and goes', async t => {
  const site = new Site(t)
  const { story, answers, add, unanswered, errors } = await site.daemon()
  answers.start()
  for (const container of ['a', 'b', 'c']) await add(confirmed(container))
  await add({ container: 'plain', invocation: 'run-plain' })
  t.strictSame(unanswered(), ['a', 'b', 'c'], 'who does not confirm is answered at once')
  let commits = 0
  site.store.delay = () => {
    commits++
    return Promise.resolve()
  }
  site.mark('run-a')
  site.mark('run-b')
  await until('a and b are answered', () => unanswered().join() === 'c')
  t.ok(commits <= 2, 'marks that are there together go into one commit')
  site.mark('run-c')
  await until('c is answered', () => unanswered().length === 0)
  await until('the marks are gone', () => site.marks.length === 0)
  t.equal(story.leases().length, 4)
  t.strictSame(errors, [])
  const [first] = story.service.ledger.attachments()
  t.strictSame([first?.answered, first?.generation], [1, 2], 'an undo for that very answer stays possible')
})

t.test('who has a result was answered, though an older folder does not have its mark', async t => {
  const site = new Site(t)
  const before = await site.daemon({ look: never })
  for (const container of ['kept', 'unmarked']) await before.add(confirmed(container))
  const after = await site.daemon({}, new AnsweredMarks(site.stateDir), ['kept'])
  after.answers.start()
  await until('it is settled', () => after.unanswered().length === 0)
  t.strictSame(after.undone, ['unmarked'])
  t.equal(after.story.leases().length, 1)
  t.strictSame(after.errors, [])
})

t.test('after a restart: who was answered stays, who was not goes, when its time is over', async t => {
  const site = new Site(t)
  const before = await site.daemon({ look: never })
  before.answers.start()
  for (const container of ['marked', 'unmarked', 'again', 'deleted', 'late'])
    await before.add(confirmed(container))
  await before.add({ container: 'plain' })
  site.mark('run-marked')
  await before.answers.stop()

  const after = await site.daemon({ grace: 300 })
  t.strictSame(
    after.unanswered(),
    ['unmarked', 'again', 'deleted', 'late'],
    'a mark counts before anything is served',
  )
  t.strictSame([site.marks, after.undone], [[], []])
  after.answers.start()
  t.equal(await after.add(confirmed('again')), '10.22.0.4', 'sent again: the same address')
  await after.story.del('deleted')
  site.mark('run-late')
  await until('the rest is undone', () => after.undone.length > 0)
  t.strictSame(after.undone, ['unmarked'])
  await until('the late mark is taken over', () => after.unanswered().join() === 'again')
  t.throws(() => {
    site.mark('run-unmarked')
  }, 'its plugin comes too late')
  site.mark('run-again')
  await until('all is settled', () => after.unanswered().length === 0)
  t.strictSame(
    after.story.leases().flatMap(text => (text.includes('bound') ? [text.split(' ').at(-1)] : [])),
    ['marked', 'again', 'late', 'plain'],
  )
  await until('no mark stays for ever', () => site.marks.length === 0)
  t.strictSame(after.errors, [])
})

t.test('a container that is added anew after the restart is not the one that was never answered', async t => {
  const site = new Site(t)
  const before = await site.daemon({ look: never })
  before.answers.start()
  await before.add(confirmed('again'))
  await before.add(confirmed('witness'))
  await before.answers.stop()

  const after = await site.daemon()
  await after.story.del('again')
  await after.add(confirmed('again', { invocation: 'run-2' }))
  after.answers.start()
  await until('the time of the others is over', () => after.undone.length > 0)
  t.strictSame(after.undone, ['witness'])
  site.mark('run-2')
  await until('its answer is noticed', () => after.unanswered().length === 0)
  t.strictSame(after.errors, [])
})

t.test('what the daemon itself has to answer for is undone before it serves', async t => {
  const site = new Site(t)
  const before = await site.daemon({ look: never })
  await before.add(confirmed('silent'))
  await before.add(confirmed('claimed'))
  await before.answers.stop()
  // As the main role records an ADD of a caller that does not confirm.
  const { ledger } = before.story.service
  const present = ledger.attachment({ network: 'net', containerId: 'silent', ifname: 'eth0' })
  if (!present) throw new Error('not recorded')
  const record = { ...present, generation: 2, unanswered: { confirms: false } }
  await ledger.commit([{ kind: 'attachment', key: '["net","silent","eth0"]', expect: 1, record }])
  // As a daemon leaves it that is killed between its claim and the undo.
  mkdirSync(join(site.stateDir, 'answered', 'run-claimed'))

  const after = await site.daemon()
  t.strictSame(
    [after.undone.sort(), after.unanswered(), after.story.leases()],
    [['claimed', 'silent'], [], []],
  )
  t.strictSame(site.marks, ['run-claimed daemon'], 'the plugin has to find it')
})

t.test('of another node, and of an earlier boot, nobody here says that nobody has the answer', async t => {
  const site = new Site(t)
  const before = await site.daemon({ look: never })
  await before.add(confirmed('elsewhere', { node: 'n2' }))
  await before.add(confirmed('earlier', { bootId: 'boot-0' }))
  await before.add(confirmed('here'))
  await before.answers.stop()
  const after = await site.daemon()
  after.answers.start()
  await until('what is ours is undone', () => after.undone.length > 0)
  t.strictSame([after.undone, after.unanswered()], [['here'], ['elsewhere', 'earlier']])
  site.mark('run-elsewhere')
  await after.add(confirmed('next'))
  await until('a mark counts for whom it names', () => !after.unanswered().includes('elsewhere'))
})

t.test('a folder that was taken away takes nobody with it', async t => {
  const site = new Site(t)
  const before = await site.daemon({ look: never })
  await before.add(confirmed('a'))
  await before.answers.stop()
  rmSync(join(site.stateDir, 'answered'), { recursive: true })
  const killed = await site.daemon()
  t.strictSame([killed.unanswered(), killed.undone, killed.story.leases().length], [[], [], 1])
})

t.test('nor does it where the store cannot say so at once', async t => {
  const site = new Site(t)
  const before = await site.daemon({ look: never })
  await before.add(confirmed('a'))
  await before.answers.stop()
  const folder = join(site.stateDir, 'answered')
  rmSync(folder, { recursive: true })
  site.store.fails = () => true
  for (const start of ['first', 'second']) {
    const { answers, errors, undone } = await site.daemon({ grace: 1 })
    answers.start()
    await until('it was tried several times', () => errors.length > 3)
    await answers.stop()
    t.strictSame(
      [undone, existsSync(folder)],
      [[], false],
      `${start}: no folder that looks as if nobody had answered`,
    )
  }
  site.store.fails = () => false
  const after = await site.daemon()
  t.strictSame([after.unanswered(), after.undone, existsSync(folder)], [[], [], true])
})

t.test('a folder that cannot be read: nothing is undone until it can', async t => {
  const site = new Site(t)
  const before = await site.daemon({ look: never })
  await before.add(confirmed('marked'))
  await before.add(confirmed('unmarked'))
  site.mark('run-marked')
  await before.answers.stop()
  const folder = join(site.stateDir, 'answered')
  rmSync(folder, { recursive: true })
  writeFileSync(folder, 'in the way')
  const later = await site.daemon()
  later.answers.start()
  await until('it is tried more than once', () => later.errors.length > 3)
  t.strictSame([later.undone, later.story.leases().length], [[], 2])
  rmSync(folder)
  leaveMark(site.stateDir, 'run-marked')
  await until('then it is', () => later.undone.join() === 'unmarked')
  t.strictSame(later.unanswered(), [])
})

t.test('a store that refuses: the mark stays until its record is durable', async t => {
  const site = new Site(t)
  const before = await site.daemon({ keepMark: 1 })
  before.answers.start()
  await before.add(confirmed('a'))
  site.store.fails = () => true
  site.mark('run-a')
  await until('it was tried several times', () => before.errors.length > 5)
  t.strictSame([site.marks, before.unanswered()], [['run-a plugin'], ['a']])
  await before.answers.stop()

  t.comment('a restart in the midst of it')
  const after = await site.daemon({ keepMark: 1, grace: 10 })
  after.answers.start()
  await until('it was tried several times', () => after.errors.length > 5)
  t.strictSame([site.marks, after.undone], [['run-a plugin'], []])
  site.store.fails = () => false
  await until('it is answered', () => after.unanswered().length === 0 && site.marks.length === 0)
  t.equal(after.story.leases().length, 1)
})

t.test('a store that refuses the undo: it is tried again, and the plugin stays too late', async t => {
  const site = new Site(t)
  const before = await site.daemon({ look: never })
  await before.add(confirmed('a'))
  await before.answers.stop()
  const after = await site.daemon({ keepMark: never })
  site.store.fails = () => true
  after.answers.start()
  await until('it was tried several times', () => after.errors.length > 3)
  t.throws(() => {
    site.mark('run-a')
  })
  t.strictSame([after.undone, after.unanswered()], [[], ['a']])
  site.store.fails = () => false
  await until('it is undone', () => after.undone.join() === 'a')
  t.strictSame(after.story.leases(), [])
})

t.test('whether an ADD was answered, to whoever ends it', async t => {
  const site = new Site(t)
  const { story, answers, add } = await site.daemon({ look: never, keepMark: 50 })
  const { ledger } = story.service
  const asked = async (container: string, more: object = {}) => {
    const record = ledger.attachment({ network: 'net', containerId: container, ifname: 'eth0' })
    if (!record) throw new Error(container)
    return await answers.wasAnswered({ ...record, ...more })
  }
  for (const container of ['marked', 'unmarked', 'late']) await add(confirmed(container))
  await add({ container: 'plain' })
  site.mark('run-marked')
  t.equal(await asked('plain'), true)
  t.equal(await asked('marked'), true, 'its mark is there, and nobody has looked for it yet')
  t.equal(await asked('unmarked'), false)
  t.throws(() => {
    site.mark('run-unmarked')
  }, 'from then on it cannot be answered any more')
  t.equal(await asked('unmarked'), false, 'asked again')
  t.equal(await asked('late', { bootId: 'boot-0' }), true, 'of another boot nobody can say')
  t.equal(await asked('late', { node: 'n2' }), true, 'nor of another node')
  t.equal(await asked('late', { unanswered: { confirms: false } }), false, 'the daemon had no answer for it')
  rmSync(join(site.stateDir, 'answered'), { recursive: true })
  t.equal(await asked('late'), true, 'who took the folder away took the marks away')
})

t.test('a disk that is full does not make an ADD answered', async t => {
  const site = new Site(t)
  class FullDisk extends AnsweredMarks {
    override async claim(): Promise<never> {
      return await Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))
    }
  }
  const { story, add } = await site.daemon({ look: never }, new FullDisk(site.stateDir))
  const { ledger, wasAnswered } = story.service
  for (const container of ['marked', 'unmarked']) await add(confirmed(container))
  site.mark('run-marked')
  t.strictSame(
    await Promise.all(ledger.unanswered().map(async one => [one.containerId, await wasAnswered(one)])),
    [
      ['marked', true],
      ['unmarked', false],
    ],
  )
})

t.test('marks of nobody go after their time, those that are young stay', async t => {
  const site = new Site(t)
  const { answers, errors } = await site.daemon({ keepMark: 200 })
  site.mark('run-stray')
  mkdirSync(join(site.stateDir, 'answered', 'run-claimed'))
  writeFileSync(join(site.stateDir, 'answered', 'README'), 'no mark')
  const started = performance.now()
  answers.start()
  answers.wake()
  await until('they are gone', () => site.marks.length === 1)
  t.ok(performance.now() - started >= 200, 'not before')
  t.strictSame([site.marks, errors], [['README plugin'], []])
})

t.test('nothing runs while all is answered, and after the end', async t => {
  const site = new Site(t)
  let looks = 0
  const watched = await site.daemon()
  const { ledger } = watched.story.service
  const settle = ledger.settle.bind(ledger)
  ledger.settle = () => {
    looks++
    return settle()
  }
  const timers = (): number => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const idle = timers()
  watched.answers.start()
  t.equal(timers(), idle, 'no timer')
  await watched.add(confirmed('a'))
  site.mark('run-a')
  await until('it is answered', () => watched.unanswered().length === 0 && site.marks.length === 0)
  await until('no timer any more', () => timers() <= idle)
  looks = 0
  await watched.add({ container: 'plain' })
  t.ok(timers() <= idle, 'nor for who does not confirm')

  await watched.add(confirmed('b'))
  await watched.answers.stop()
  looks = 0
  site.mark('run-b')
  watched.answers.wake()
  t.ok(timers() <= idle, 'none after the end')
  t.equal(looks, 0)
})

t.test('an ADD that was undone or deleted meanwhile is none of its business', async t => {
  const site = new Site(t)
  const { story, answers, add, unanswered } = await site.daemon()
  answers.start()
  await add(confirmed('undone'))
  const request = story.request(confirmed('undone'))
  await undoAdd(story.service, request, 1)
  await add(confirmed('deleted'))
  await story.del('deleted')
  t.strictSame(unanswered(), [])
  await add(confirmed('deleted', { invocation: 'run-2' }))
  t.throws(() => {
    site.mark('run-deleted')
  }, 'its plugin comes too late')
  site.mark('run-2')
  await until('the second one is answered', () => unanswered().length === 0)
  await until('and all marks go', () => site.marks.length === 0)
  t.notOk(existsSync(join(site.stateDir, 'answered', 'run-deleted')))
  t.equal(story.leases().filter(text => text.includes('bound')).length, 1)
})
