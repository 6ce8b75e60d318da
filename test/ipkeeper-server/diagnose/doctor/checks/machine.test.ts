import t from 'tap'
import type { NodeView } from '../../../../../ipkeeper-server/diagnose/doctor/probe-node.ts'
import { oldBootCheck } from '../../../../../ipkeeper-server/diagnose/doctor/checks/machine.ts'

const future = '2099-01-01T00:00:00.000Z'
const past = '2001-01-01T00:00:00.000Z'
const cases = {
  'of this boot, by a clock that was set ahead since': [{ bootId: 'now', since: past }, 'ok'],
  'of an earlier boot, by a clock that was set back since': [{ bootId: 'then', since: future }, 'warn'],
  'of a boot that nobody knows': [{ bootId: null, since: past }, 'ok'],
  'of another node': [{ node: 'n2', bootId: 'then', since: past }, 'ok'],
  'told by a daemon that tells no boots': [{ since: past }, 'skip'],
} as const

for (const [what, [attachment, state]] of Object.entries(cases)) {
  t.test(what, async t => {
    const node = {
      now: Date.now,
      status: () => Promise.resolve({ node: 'n1', bootId: 'now', version: '0.1.0' }),
      ask: () => Promise.resolve({ attachments: [{ node: 'n1', ...attachment }] }),
    } as unknown as NodeView
    t.equal((await oldBootCheck.run(node)).state, state)
  })
}
