import t from 'tap'
import { judgeMachine, type MachineSight } from '../../../../ipkeeper-server/identity/plan/judge-machine.ts'

const sight: MachineSight = { marks: { machineId: 'm1', hardware: 'h1' }, bootId: 'b1', folder: '1:2' }
const rebooted = { bootId: 'b2' }
const copied = { folder: '1:9' }
const marks = (machineId?: string, hardware?: string): Pick<MachineSight, 'marks'> => ({
  marks: {
    ...(machineId !== undefined && { machineId }),
    ...(hardware !== undefined && { hardware }),
  },
})

const table: readonly (readonly [what: string, now: Partial<MachineSight>, same: boolean])[] = [
  ['a restart of the daemon', {}, true],
  ['a machine ID made anew under a running system', marks('m2', 'h1'), true],
  ['a mount of the machine ID that was forgotten', marks(), true],
  ['a folder that was moved to another disk', copied, true],
  ['a copy in another container of the machine', { ...copied, ...marks('m2', 'h1') }, false],
  ['a copy where no machine ID is seen', { ...copied, ...marks(undefined, 'h1') }, true],
  ['a reboot', rebooted, true],
  ['a reboot without a machine ID', { ...rebooted, ...marks(undefined, 'h1') }, true],
  ['a reboot without anything', { ...rebooted, ...marks() }, true],
  ['a reboot that makes up another machine ID', { ...rebooted, ...marks('m2', 'h1') }, true],
  ['a disk in another machine', { ...rebooted, ...marks('m1', 'h2') }, false],
  ['a disk in another machine that makes up a machine ID', { ...rebooted, ...marks('m2', 'h2') }, false],
  ['another machine whose hardware is not seen', { ...rebooted, ...marks('m2') }, false],
  ['a reboot whose hardware is not seen', { ...rebooted, ...marks('m1') }, true],
]
for (const [what, now, same] of table) {
  t.test(what, t => {
    const verdict = judgeMachine(sight, { ...sight, ...now })
    t.equal(verdict.same, same, verdict.why)
    t.end()
  })
}

t.test('where nothing was known before', t => {
  t.equal(judgeMachine({ ...sight, ...marks() }, { ...sight, ...rebooted }).same, true)
  t.equal(
    judgeMachine({ ...sight, ...marks('m1') }, { ...sight, ...rebooted, ...marks('m2', 'h1') }).same,
    false,
  )
  t.end()
})
