import t from 'tap'
import { IndeterminateCommits } from '../../../../ipkeeper-server/store/shared/indeterminate-commits.ts'
import type { PendingWrite } from '../../../../ipkeeper-server/store/shared/pending-write.ts'

const minute = 60_000
const name = { kind: 'lease', key: '["default","10.22.0.2"]' } as const
const pending: PendingWrite = { ...name, expected: ['{"tried":1}'], want: null }

t.test('a commit may come late for ten minutes of the monotonic clock', t => {
  let uptime = 50 * minute
  const commits = new IndeterminateCommits(() => uptime, 'boot-1')
  const [note] = commits.resolved(pending)
  t.match(commits.pendingAfter(name, '{"tried":1}'), { want: null })
  uptime += 10 * minute - 1
  t.match(commits.pendingAfter(name, '{"tried":1}'), { want: null })

  const restarted = (bootId: string): IndeterminateCommits => {
    const next = new IndeterminateCommits(() => uptime, bootId)
    next.found(note?.text ?? '')
    return next
  }
  t.ok(restarted('boot-1').pendingAfter(name, '{"tried":1}'), 'after a restart too')
  uptime += 1
  t.notOk(commits.pendingAfter(name, '{"tried":1}'))
  t.notOk(restarted('boot-1').pendingAfter(name, '{"tried":1}'))

  uptime = 10 * minute - 1
  t.ok(restarted('boot-2').pendingAfter(name, '{"tried":1}'), 'after a reboot: how long that took is unknown')
  uptime = 10 * minute
  t.notOk(restarted('boot-2').pendingAfter(name, '{"tried":1}'))
  t.end()
})

t.test(
  'a record of an earlier version, whose moment is of a clock that is set, counts from when it was found',
  t => {
    let uptime = 5 * minute
    const commits = new IndeterminateCommits(() => uptime, 'boot-1')
    commits.found(JSON.stringify({ ...pending, at: 1_700_000_000_000 }))
    t.ok(commits.pendingAfter(name, '{"tried":1}'))
    uptime += 10 * minute
    t.notOk(commits.pendingAfter(name, '{"tried":1}'))
    t.end()
  },
)
