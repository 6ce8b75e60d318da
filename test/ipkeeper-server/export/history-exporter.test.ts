import t from 'tap'
import { HistoryExporter } from '../../../ipkeeper-server/export/history-exporter.ts'
import { readCopiedLine } from '../../../ipkeeper-server/export/plan/syslog-line.ts'
import { nothingSent, type Sent } from '../../../ipkeeper-server/export/sent-file.ts'
import { exportedEntries } from '../../../ipkeeper-server/ipam/records/exported-entry.ts'
import type { HistoryEntry } from '../../../ipkeeper-server/ipam/records/history-entry.ts'
import { TestTimers } from '../../rigs/test-timers.ts'
import { linkedHistory } from './linked-history.ts'

/** "3", or "pruned 4-6", of each line that was taken. */
function told(line: string): string {
  const copied = readCopiedLine(line)
  if (copied.kind === 'entry') return String(copied.entry.id)
  const [, from, to] = / pruned \[\S+ from="(\d+)" to="(\d+)"/.exec(line) ?? []
  return `pruned ${from}-${to}`
}

/** A ledger and a receiver, both of which a test changes. */
function site(history: readonly HistoryEntry[], sent: Sent = nothingSent) {
  const timers = new TestTimers()
  const now = {
    history,
    /** What the receiver does: takes all, nothing, or breaks when it is to say that it has read all. */
    receiver: 'takes' as 'takes' | 'away' | 'breaks' | 'hangs',
    disk: 'well' as 'well' | 'full',
  }
  const taken: string[][] = []
  const [pruned, replaced, saves, saved]: [number[], number[], Sent[], unknown[]] = [[], [], [], []]
  const exporter: HistoryExporter = new HistoryExporter({
    timers,
    read: ({ after, limit }) => {
      const found = now.history.filter(({ id }) => id > after).slice(0, limit)
      const before = now.history.find(({ id }) => id === after)
      const known = after === 0 ? undefined : (before ?? { id: after, link: null })
      return Promise.resolve({ before, entries: exportedEntries(found, known, 'n1') })
    },
    newest: () => Promise.resolve(now.history.at(-1)),
    begin: () => {
      const gap = now.history.findLastIndex(({ id }, index) => now.history[index - 1]?.id !== id - 1)
      return Promise.resolve(now.history[gap]?.id ?? 0)
    },
    open: async signal => {
      await Promise.resolve()
      if (now.receiver === 'away') throw new Error('away')
      const lines: string[] = []
      const hangs = new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('given up'))
        })
      })
      hangs.catch(() => undefined)
      return {
        send: async some => {
          if (now.receiver === 'hangs') await hangs
          lines.push(...some)
        },
        finish: async () => {
          if (now.receiver === 'breaks') throw new Error('broken')
          taken.push(lines.map(told))
          await Promise.resolve()
        },
        abort: () => undefined,
      }
    },
    sent,
    save: async one => {
      if (now.disk === 'full') throw new Error('full')
      saves.push(one)
      await Promise.resolve()
    },
    now: () => 0,
    send: () => exporter.sendAll().catch(() => undefined),
    onPruned: entries => pruned.push(entries),
    onReplaced: from => replaced.push(from),
    onSaved: error => saved.push(error),
  })
  return { timers, now, exporter, taken, pruned, replaced, saves, saved }
}

const range = (from: number, to: number): string[] =>
  Array.from({ length: to + 1 - from }, (_, index) => String(from + index))
const five = linkedHistory(5)
const sentTo = (id: number, history = five): Sent => ({
  marks: [{ id, link: history[id - 1]?.link ?? null }],
  begin: 1,
})

t.test('all that there is, and then what comes, in order', async t => {
  const { timers, now, exporter, taken, saves } = site(five)
  await exporter.sendAll()
  t.strictSame(taken, [range(1, 5)])
  await exporter.sendAll()
  t.equal(taken.length, 1, 'no connection where there is nothing to say')
  now.history = linkedHistory(8)
  exporter.recorded()
  exporter.recorded()
  await timers.pass(900)
  t.equal(taken.length, 1, 'a burst is waited for')
  await timers.pass(100)
  t.strictSame(taken[1], range(6, 8))
  t.match(saves.at(-1)?.marks[0], { id: 5 }, 'not written each time')
  t.match(await exporter.figures(), { unsent: 0, oldestUnsent: undefined, sent: 8, pruned: 0 })
  await exporter.stop()
  t.match(saves.at(-1)?.marks[0], { id: 8, link: now.history[7]?.link })
  t.equal(timers.waiting, 0)
})

t.test('a long history has several connections, and pages', async t => {
  const { exporter, taken, saves } = site(linkedHistory(4_321))
  await exporter.sendAll()
  t.strictSame(
    taken.map(lines => lines.length),
    [2000, 2000, 321],
  )
  t.strictSame(taken.flat(), range(1, 4_321))
  await exporter.stop()
  t.match(saves.at(-1)?.marks[0], { id: 4_321 })
})

for (const receiver of ['away', 'breaks'] as const)
  t.test(`a receiver that is ${receiver} gets all of it later`, async t => {
    const { now, exporter, taken } = site(five)
    now.receiver = receiver
    await t.rejects(exporter.sendAll())
    t.match(await exporter.figures(), { unsent: 5, oldestUnsent: five[0]?.at, sent: 0 })
    now.receiver = 'takes'
    await exporter.sendAll()
    t.strictSame(taken, [range(1, 5)])
  })

t.test('one that hangs keeps nobody from stopping', async t => {
  const { now, exporter, saves } = site(five)
  now.receiver = 'hangs'
  const sending = exporter.sendAll()
  await new Promise(setImmediate)
  await exporter.stop()
  await sending
  t.strictSame(saves.at(-1), { marks: [], begin: 1 })
})

t.test('another daemon goes on behind what was sent', async t => {
  const { exporter, taken, replaced } = site(five, sentTo(3))
  t.match(await exporter.figures(), { unsent: 2, oldestUnsent: five[3]?.at })
  await exporter.sendAll()
  t.strictSame([taken, replaced], [[range(4, 5)], []])
})

const otherWay = linkedHistory(6, { pool: 'other' })
/** As pruning leaves it. */
const prunedTo = (last: number, history = five): HistoryEntry[] =>
  history.slice(last).map((entry, index) => ({
    ...entry,
    ...(index === 0 && { follows: history[last - 1]?.link }),
  }))

const places: readonly (readonly [
  what: string,
  history: readonly HistoryEntry[],
  sent: Sent,
  taken: readonly string[],
  told: { readonly replaced?: readonly number[]; readonly pruned?: readonly number[] },
])[] = [
  ['another ledger', otherWay, sentTo(3), range(1, 6), { replaced: [1] }],
  ['an empty ledger', [], sentTo(3), [], { replaced: [1] }],
  [
    'a ledger that was put back',
    five.slice(0, 2),
    { marks: [...sentTo(5).marks, ...sentTo(2).marks, ...sentTo(1).marks], begin: 1 },
    [],
    { replaced: [3] },
  ],
  [
    'one that was put back and went another way',
    [...five.slice(0, 2), ...otherWay.slice(2)],
    { marks: [...sentTo(5).marks, ...sentTo(1).marks], begin: 1 },
    range(2, 6),
    { replaced: [2] },
  ],
  ['what was sent is pruned', prunedTo(3), sentTo(3), range(4, 5), {}],
  [
    'other entries in place of what was pruned',
    prunedTo(3, otherWay),
    sentTo(3),
    ['4', '5', '6'],
    { replaced: [1] },
  ],
  ['what was not sent is pruned', prunedTo(4), sentTo(2), ['pruned 3-4', '5'], { pruned: [2] }],
  ['what was pruned before the export began is missed by nobody', prunedTo(3), nothingSent, range(4, 5), {}],
  [
    'and neither is what pruning had spared',
    [...five.slice(0, 1), ...prunedTo(3)],
    nothingSent,
    ['1', '4', '5'],
    {},
  ],
]

for (const [what, history, sent, lines, { replaced = [], pruned = [] }] of places)
  t.test(what, async t => {
    const one = site(history, sent)
    await one.exporter.sendAll()
    t.strictSame(one.taken.flat(), lines)
    t.strictSame([one.replaced, one.pruned], [replaced, pruned])
    await one.exporter.sendAll()
    t.strictSame(one.taken.flat(), lines, 'once')
  })

t.test('what is pruned while the receiver is away is counted once, and told when it is back', async t => {
  const { now, exporter, taken, pruned } = site(five)
  now.receiver = 'breaks'
  await t.rejects(exporter.sendAll())
  now.history = prunedTo(2)
  await t.rejects(exporter.sendAll())
  await t.rejects(exporter.sendAll())
  now.history = prunedTo(3)
  await t.rejects(exporter.sendAll())
  t.strictSame(pruned, [2, 1])
  now.receiver = 'takes'
  await exporter.sendAll()
  t.strictSame(taken, [['pruned 1-3', '4', '5']])
  t.match(await exporter.figures(), { sent: 2, pruned: 3 })
})

t.test('a disk that is full costs repetitions alone', async t => {
  const { timers, now, exporter, saves, saved } = site(five)
  now.disk = 'full'
  await exporter.sendAll()
  await timers.pass(0)
  t.match(saved.at(-1), { message: 'full' })
  now.disk = 'well'
  now.history = linkedHistory(6)
  await exporter.sendAll()
  await timers.pass(10_000)
  t.match([saves.at(-1)?.marks[0], saved.at(-1)], [{ id: 6 }, undefined])
})
