import t from 'tap'
import { LateCommits } from '../../../../ipkeeper-server/store/shared/indeterminate-commits.ts'
import type { OwedRecord } from '../../../../ipkeeper-server/store/shared/pending-write.ts'

const minute = 60_000
const name = { kind: 'lease', key: '["default","10.22.0.2"]' } as const
const owed: OwedRecord = { ...name, expected: ['{"tried":1}'], want: null }

t.test('a commit may come late for ten minutes of the clock that nobody sets', t => {
  let uptime = 50 * minute
  const late = new LateCommits(() => uptime, 'boot-1')
  const [note] = late.settled(owed)
  t.match(late.owedAfter(name, '{"tried":1}'), { want: null })
  uptime += 10 * minute - 1
  t.match(late.owedAfter(name, '{"tried":1}'), { want: null })

  const restarted = (bootId: string): LateCommits => {
    const next = new LateCommits(() => uptime, bootId)
    next.found(note?.text ?? '')
    return next
  }
  t.ok(restarted('boot-1').owedAfter(name, '{"tried":1}'), 'after a restart too')
  uptime += 1
  t.notOk(late.owedAfter(name, '{"tried":1}'))
  t.notOk(restarted('boot-1').owedAfter(name, '{"tried":1}'))

  uptime = 10 * minute - 1
  t.ok(restarted('boot-2').owedAfter(name, '{"tried":1}'), 'after a reboot: how long that took, nobody knows')
  uptime = 10 * minute
  t.notOk(restarted('boot-2').owedAfter(name, '{"tried":1}'))
  t.end()
})

t.test('a record of old, whose moment is of a clock that is set, counts from when it was found', t => {
  let uptime = 5 * minute
  const late = new LateCommits(() => uptime, 'boot-1')
  late.found(JSON.stringify({ ...owed, at: 1_700_000_000_000 }))
  t.ok(late.owedAfter(name, '{"tried":1}'))
  uptime += 10 * minute
  t.notOk(late.owedAfter(name, '{"tried":1}'))
  t.end()
})
