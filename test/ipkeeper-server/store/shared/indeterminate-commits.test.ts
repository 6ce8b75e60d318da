import t from 'tap'
import { IndeterminateCommits } from '../../../../ipkeeper-server/store/shared/indeterminate-commits.ts'
import type { PendingWrite } from '../../../../ipkeeper-server/store/shared/pending-write.ts'

const hour = 3_600_000
const name = { kind: 'lease', key: '["default","10.22.0.2"]' } as const
const pending: PendingWrite = { ...name, expected: ['{"tried":1}'], want: null }

t.test('a commit that comes late is known as long as it is remembered, whenever it is heard of', t => {
  let uptime = 50 * hour
  const commits = new IndeterminateCommits(() => uptime, 'boot-1')
  const [note] = commits.resolved(pending)
  const restarted = (bootId: string): IndeterminateCommits => {
    const next = new IndeterminateCommits(() => uptime, bootId)
    next.found(note?.text ?? '')
    return next
  }
  const isKnown = (to: IndeterminateCommits): boolean =>
    to.pendingAfter(name, '{"tried":1}')?.want === null && to.pendingAfter(name, '{"tried":2}') === undefined
  t.ok(isKnown(commits))
  uptime += 23 * hour
  t.ok(isKnown(commits), 'the engine may not have been heard for so long')
  t.ok(isKnown(restarted('boot-1')), 'after a restart too')
  uptime = 23 * hour
  t.ok(isKnown(restarted('boot-2')), 'after a reboot: how long that took is unknown')
  t.end()
})

t.test('what is older than a day is forgotten with the next one', t => {
  const other: PendingWrite = { ...pending, key: '["default","10.22.0.3"]' }
  for (const [bootId, at, isForgotten] of [
    ['boot-1', 10 * hour, false],
    ['boot-1', 6 * hour, true],
    ['boot-0', 10 * hour, true],
    [undefined, 1_700_000_000_000, false],
  ] as const) {
    const commits = new IndeterminateCommits(() => 30 * hour, 'boot-1')
    commits.found(JSON.stringify({ ...pending, at, bootId }))
    const notes = commits.resolved(other)
    const forgotten = notes.filter(({ text }) => text === null).map(({ key }) => key)
    t.strictSame(
      forgotten,
      isForgotten ? ['lease ["default","10.22.0.2"]'] : [],
      `${bootId ?? 'an earlier version'} ${at}`,
    )
    t.equal(commits.pendingAfter(name, '{"tried":1}') === undefined, isForgotten)
  }
  t.end()
})

t.test("a node's record that comes late stays: others would take it for lost if it went", t => {
  const commits = new IndeterminateCommits(() => 0, 'boot-1')
  const node = { kind: 'node', key: 'n3' } as const
  const [claimed, placeholder] = [
    '{"name":"n3","addresses":[],"claim":{"id":"i"}}',
    '{"name":"n3","addresses":[]}',
  ]
  commits.resolved({ ...node, expected: [claimed, placeholder], want: null })
  t.equal(commits.pendingAfter(node, claimed), undefined)
  t.equal(commits.pendingAfter(node, placeholder)?.want, null, 'but for one that says nothing')
  t.end()
})
