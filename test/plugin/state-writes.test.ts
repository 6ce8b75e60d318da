import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { AskAside } from '../../plugin/run-child.ts'
import { StateWrites, writeAside, type StateWrite } from '../../plugin/state-writes.ts'

interface Site {
  readonly stateDir: string
  readonly writes: StateWrites
  /** What another process was asked to do. */
  readonly asked: { readonly wanted: StateWrite; readonly timeoutMs: number }[]
  readonly hasMark: () => boolean
  /** Milliseconds go by. */
  readonly pass: (ms: number) => void
}

/** @param told what the other process answers */
function makeSite(t: Test, beats: boolean, told: Awaited<ReturnType<AskAside>>): Site {
  const stateDir = t.testdir({ answered: {} })
  const asked: Site['asked'] = []
  let nowMs = 0
  const writes = new StateWrites({
    saidAt: () => (beats ? 0 : undefined),
    askAside: (word, stdin, timeoutMs) => {
      t.equal(word, 'write-state')
      asked.push({ wanted: JSON.parse(stdin) as StateWrite, timeoutMs })
      return Promise.resolve(told)
    },
    now: () => nowMs,
    sleep: () => Promise.reject(new Error('nobody waits')),
  })
  const pass = (ms: number): void => {
    nowMs += ms
  }
  return { stateDir, writes, asked, hasMark: () => existsSync(join(stateDir, 'answered', 'run-1')), pass }
}

const mark = (stateDir: string): StateWrite => ({ what: 'mark', stateDir, invocationId: 'run-1' })
const del = (stateDir: string): StateWrite => ({
  ...{ what: 'del', stateDir },
  entry: { name: 'c1.json', writer: 'w', text: '{}', brief: '{}' },
})

t.test('a folder that takes writes is written to by the run itself', async t => {
  const { stateDir, writes, asked, hasMark } = makeSite(t, true, undefined)
  await writes.write(mark(stateDir))
  t.ok(hasMark())
  await t.rejects(writes.write(mark(stateDir)), { code: 'IPK_ANSWER_UNMARKED' })
  const { withdraw } = await writes.write(del(stateDir))
  t.strictSame(readdirSync(join(stateDir, 'deferred-dels')), ['c1.json'])
  await withdraw()
  t.strictSame(readdirSync(join(stateDir, 'deferred-dels')), [])
  t.strictSame(asked, [])
})

t.test('what the daemon has said counts for a moment', async t => {
  const { stateDir, writes, asked, hasMark, pass } = makeSite(t, true, '{}\n')
  pass(249)
  t.ok(writes.takesWrites())
  pass(1)
  t.notOk(writes.takesWrites())
  await writes.write(mark(stateDir))
  t.notOk(hasMark(), 'another process is to write')
  t.equal(asked.length, 1)
})

t.test('of any other another process says how it went', async t => {
  const { stateDir, writes, asked, hasMark, pass } = makeSite(t, false, '{}\n')
  await writes.write(mark(stateDir))
  pass(250)
  const { withdraw } = await writes.write(del(stateDir), 7000)
  pass(250)
  await withdraw()
  t.notOk(hasMark(), 'which is not this one')
  t.strictSame(asked, [
    { wanted: mark(stateDir), timeoutMs: 1000 },
    { wanted: del(stateDir), timeoutMs: 7000 },
    { wanted: { what: 'undel', stateDir, name: 'c1.json' }, timeoutMs: 500 },
  ])
  const told = JSON.stringify({ code: 'IPK_DEL_NOT_QUEUED', message: 'no', details: 'd', hint: 'h' })
  const failing = makeSite(t, false, told)
  await t.rejects(failing.writes.write(del(failing.stateDir)), {
    ...{ code: 'IPK_DEL_NOT_QUEUED', message: 'no', details: 'd', hint: 'h' },
  })
})

t.test('what another process has just written says that the folder takes writes', async t => {
  const { stateDir, writes, asked, pass } = makeSite(t, false, '{}\n')
  const other = join(stateDir, 'other')
  mkdirSync(join(stateDir, 'flights'))
  const flight = (folder: string): StateWrite => ({ what: 'flight', stateDir: folder, line: 'x' })
  await writes.write(mark(stateDir))
  pass(249)
  await writes.write(flight(stateDir))
  t.equal(readdirSync(join(stateDir, 'flights')).length, 1, 'the run itself')
  await writes.write(flight(other))
  t.equal(asked.length, 2, 'another folder is another question')
  await writes.write(mark(stateDir))
  pass(250)
  await writes.write(flight(stateDir))
  t.equal(asked.length, 4, 'and it is asked again after a while')
})

t.test('one that does not answer in time is not waited for, and no further one is asked', async t => {
  const { stateDir, writes, asked } = makeSite(t, false, false)
  await t.rejects(writes.write(del(stateDir)), {
    code: 'IPK_DEL_NOT_QUEUED',
    message: `the DEL cannot be queued in ${stateDir}: its file system does not answer`,
    hint: /findmnt -T /,
  })
  await t.rejects(writes.write(mark(stateDir)), { code: 'IPK_ANSWER_UNMARKED', message: /does not answer$/ })
  t.equal(asked.length, 1)
})

t.test('where none can be started the run writes itself', async t => {
  const { stateDir, writes, hasMark } = makeSite(t, false, undefined)
  await writes.write(mark(stateDir))
  t.ok(hasMark())
})

t.test('the other process', t => {
  const stateDir = t.testdir({ answered: {} })
  const marks = (): readonly string[] => readdirSync(join(stateDir, 'answered'))
  let told = ''
  const tell = (text: string): void => {
    told = text
  }
  const nobody = (): void => {
    throw new Error('EPIPE')
  }
  writeAside(JSON.stringify(mark(stateDir)), tell)
  t.strictSame([told, marks()], ['{}\n', ['run-1']])
  writeAside(JSON.stringify(mark(stateDir)), tell)
  t.match(JSON.parse(told), { code: 'IPK_ANSWER_UNMARKED', message: /was restarted/, hint: String })
  writeAside(JSON.stringify(mark(stateDir)), nobody)
  t.strictSame(marks(), ['run-1'], 'a mark of somebody else stays')
  writeAside(JSON.stringify({ ...mark(stateDir), what: 'unmark' }), tell)
  t.strictSame(marks(), [])
  writeAside(JSON.stringify(mark(stateDir)), nobody)
  t.strictSame(marks(), [], 'an ADD that has failed meanwhile has none')
  writeAside(JSON.stringify(del(stateDir)), nobody)
  t.strictSame(readdirSync(join(stateDir, 'deferred-dels')), ['c1.json'], 'a DEL waits')
  writeAside(JSON.stringify({ what: 'undel', stateDir, name: 'c1.json' }), tell)
  t.strictSame(readdirSync(join(stateDir, 'deferred-dels')), [])
  mkdirSync(join(stateDir, 'flights'), { recursive: true })
  writeAside(JSON.stringify({ what: 'flight', stateDir, line: 'x' }), nobody)
  const [file = ''] = readdirSync(join(stateDir, 'flights'))
  t.equal(readFileSync(join(stateDir, 'flights', file), 'utf8'), 'x\n')
  t.end()
})
