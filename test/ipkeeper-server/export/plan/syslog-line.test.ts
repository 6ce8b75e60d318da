import fc from 'fast-check'
import t from 'tap'
import {
  entryLine,
  longestLine,
  prunedLine,
  readCopiedLine,
} from '../../../../ipkeeper-server/export/plan/syslog-line.ts'
import type { ExportedEntry } from '../../../../ipkeeper-server/ipam/records/exported-entry.ts'
import { exported } from '../linked-history.ts'

const [bound, held] = exported(2) as [ExportedEntry, ExportedEntry]
const container = { kind: 'container', network: 'net', containerId: 'c0ffee', ifname: 'eth0' } as const
const named = (name: string): ExportedEntry => ({
  ...bound,
  holder: { kind: 'pod', network: 'net', namespace: 'shop', name, ifname: 'eth0' },
})

t.test('a whole line', t => {
  const { link } = bound
  const entry = JSON.stringify(bound).replaceAll('"', '\\"')
  t.equal(
    entryLine(bound),
    '<134>1 2026-11-21T14:00:01.000Z n1 ipkeeper - bound [ipkeeper@32473 id="1" event="bound" address="10.22.0.50" ' +
      'segment="default" pool="net" network="net" namespace="shop" pod="web-0" uid="u-1" container="c1" ifname="eth0" ' +
      `node="n1" source="dynamic" link="${link}" previous="" entry="${entry}"] 10.22.0.50 was given to shop/web-0 on node n1`,
  )
  t.equal(
    prunedLine('n1', bound.at, 7, 9),
    '<132>1 2026-11-21T14:00:01.000Z n1 ipkeeper - pruned [ipkeeper@32473 from="7" to="9" entries="3"] 3 entries (IDs 7 ' +
      'to 9) were pruned from the history of node n1 before they could be sent (2026-11-21T14:00:01Z)',
  )
  t.match(prunedLine('n1', bound.at, 7, 7), ' 1 entry (ID 7) was pruned from ')
  t.end()
})

t.test('what it says', t => {
  for (const [patch, says] of [
    [{}, '10.22.0.50 was given to shop/web-0 on node n1'],
    [{ holder: container }, '10.22.0.50 was given to container c0ffee on node n1'],
    [{ event: 'moved' }, '10.22.0.50 is with a newer sandbox of shop/web-0 on node n1'],
    [{ event: 'held' }, '10.22.0.50 is kept for shop/web-0'],
    [{ event: 'held', by: 'del' }, '10.22.0.50 is kept for shop/web-0: its sandbox was deleted'],
    [
      { event: 'cooling', by: 'gc' },
      "10.22.0.50 was released by shop/web-0 and cools down: the runtime's list does not have its sandbox any more",
    ],
    [
      { event: 'cooling', by: 'sweeper' },
      '10.22.0.50 was released by shop/web-0 and cools down: its sandbox is gone',
    ],
    [{ event: 'free' }, '10.22.0.50 of shop/web-0 was released'],
    [{ event: 'undone' }, '10.22.0.50 was taken back from shop/web-0: its ADD was not answered'],
  ] as const)
    t.equal(entryLine({ ...bound, ...patch }).replace(/^.*"\] /, ''), says)
  t.end()
})

t.test('header and values', t => {
  for (const [what, patch, part] of [
    ['severity notice of what an operator did', { by: 'operator' }, /^<133>1 /],
    ['a clock that is beyond the format', { at: 1e15 }, /^<134>1 - n1 /],
    ['a clock before the epoch', { at: -1 }, /^<134>1 - n1 /],
    ['a node whose name has a space', { recorder: 'n 1\n' }, /^<134>1 \S+ n_1_ ipkeeper - bound \[/],
    ['no node', { recorder: '' }, /^<134>1 \S+ - ipkeeper /],
    [
      'an owner',
      { workload: { kind: 'StatefulSet', namespace: 'shop', name: 'web' } },
      / owner="StatefulSet\/web" /,
    ],
    ['until when it is kept', { until: 1_800_000_000_000 }, / until="2027-01-15T08:00:00\.000Z" /],
    ['what was pruned before it', { pruned: 3, previous: null }, / pruned="3" link="[^"]+" entry=/],
    ['who ended it', { by: 'sweeper' }, / by="sweeper" /],
  ] as const)
    t.match(entryLine({ ...bound, ...patch } as ExportedEntry), part, what)
  t.end()
})

t.test('nothing in a name breaks a line or its structured data', t => {
  for (const [name, value] of [
    ['a"b', 'a\\"b'],
    ['a\\b', 'a\\\\b'],
    ['a]b', 'a\\]b'],
    ['a\nb', 'a\\\\u000ab'],
    ['a\u0000b\u007f', 'a\\\\u0000b\\\\u007f'],
    ['é\u2028', '\\\\u00e9\\\\u2028'],
    ['\ud800', '\\\\ud800'],
    [' entry="{}"] ', ' entry=\\"{}\\"\\] '],
  ] as const) {
    const line = entryLine(named(name))
    t.ok(line.includes(` pod="${value}" `), value)
    t.match(line, /^[\x20-\x7e]+$/)
    t.strictSame(readCopiedLine(line), { kind: 'entry', entry: named(name) }, 'and it is read back')
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (name, recorder) => {
      const entry = { ...named(name), recorder }
      const line = entryLine(entry)
      const read = readCopiedLine(line)
      const isReadBack = read.kind === 'entry' && JSON.stringify(read.entry) === JSON.stringify(entry)
      return /^[\x20-\x7e]+$/.test(line) && line.length <= longestLine && isReadBack
    }),
  )
  t.end()
})

t.test('a line that would be too long has its values, and no entry', t => {
  const line = entryLine(named('x'.repeat(longestLine)))
  t.ok(line.length <= longestLine)
  t.match(line, ` pod="${'x'.repeat(256)}..." `)
  t.match(line, / cut="entry"\] 10\.22\.0\.50 was given to shop\/x+\.\.\. on node n1$/)
  t.strictSame(readCopiedLine(line), { kind: 'cut' })
  const worst = '\u0000'.repeat(20_000)
  const most = entryLine({ ...named(worst), pool: worst, source: worst, podUid: worst, containerId: worst })
  t.match(most, /^[\x20-\x7e]+$/)
  t.end()
})

t.test('what people read of a line is that of its entry', t => {
  const line = entryLine(held)
  for (const [what, altered, isAltered] of [
    ['as it was sent', line, undefined],
    ['another pod', line.replace(' pod="web-0"', ' pod="web-1"'), true],
    ['another reason', line.replace(' by="del"', ' by="operator"'), true],
    ['a second pod', line.replace(' pod="web-0"', ' pod="web-0" pod="web-1"'), true],
    ['another entry', line.replace(/entry=".*"\]/, /entry=".*"\]/.exec(entryLine(bound))?.[0] ?? ''), true],
    ['a value of another version', line.replace(' pod="web-0"', ' pod="web-0" zone="a"'), undefined],
    ['without a value', line.replace(' pod="web-0"', ''), undefined],
    ['no holder', line.replace(/\\"holder\\":\{.*?\},/, ''), true],
  ] as const)
    t.match(readCopiedLine(altered), { kind: 'entry', isAltered }, what)
  t.end()
})

t.test('lines of a copy', t => {
  for (const [what, line, kind] of [
    ['a JSON object', JSON.stringify(held), 'entry'],
    ['our own', entryLine(held), 'entry'],
    [
      'as a receiver writes it, without its header',
      `Nov 21 14:00:02 n1 ${entryLine(held).replace(/^.*?\[/, '[')}`,
      'entry',
    ],
    ['the end is missing', entryLine(held).slice(0, -300), 'cut'],
    ['the end of JSON is missing', JSON.stringify(held).slice(0, -5), 'cut'],
    ['of pruned entries', prunedLine('n1', 1, 7, 9), 'other'],
    ['of another program', '<13>1 - n1 su - - [other@1 entry="{}"] hello', 'other'],
    ['another object', '{"a":1}', 'other'],
    ['an entry without its node', JSON.stringify({ ...held, recorder: 1 }), 'other'],
    ['an entry without an ID', JSON.stringify({ ...held, id: 'x' }), 'other'],
    ['nothing', '', 'other'],
  ] as const)
    t.equal(readCopiedLine(line).kind, kind, what)
  t.end()
})
