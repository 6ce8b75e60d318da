import { createHmac } from 'node:crypto'
import t, { type Test } from 'tap'
import { readMachineMarks } from '../../../ipkeeper-server/identity/machine-evidence.ts'

const id = '3d1219c7c4c5404aaa1f6d2a48adfda4'
const uuid = '4c4c4544-0042-3510-8056-b4c04f4d3132'
/** The same as other firmware shows it: the first three parts with their bytes in the other order. */
const swapped = '44454c4c-4200-1035-8056-b4c04f4d3132'

interface Machine {
  readonly machineId?: string
  readonly mounts?: string
  readonly uuid?: string
  readonly serial?: string
}

function marksOf(test: Test, { machineId, mounts, uuid: dmi, serial }: Machine) {
  const root = test.testdir({
    etc: machineId === undefined ? {} : { 'machine-id': machineId },
    proc: { self: mounts === undefined ? {} : { mountinfo: mounts } },
    sys: {
      class: { dmi: { id: dmi === undefined ? {} : { product_uuid: dmi } } },
      firmware: { devicetree: { base: serial === undefined ? {} : { 'serial-number': serial } } },
    },
  })
  return readMachineMarks(root)
}

const mountOf = (root: string, kind: string): string =>
  `512 96 0:25 ${root} /etc/machine-id ro,nosuid - ${kind} ${kind} rw\n513 96 0:26 / /tmp rw - tmpfs tmpfs rw\n`

const table: readonly (readonly [what: string, machine: Machine, knows: string])[] = [
  ['both', { machineId: `${id}\n`, uuid: `${uuid}\n` }, 'machineId hardware'],
  ['in capital letters', { machineId: `${id.toUpperCase()}\n` }, 'machineId'],
  ['no files', {}, ''],
  ['an empty machine ID', { machineId: '' }, ''],
  ['an image before its first boot', { machineId: 'uninitialized\n' }, ''],
  ['zeros', { machineId: '0'.repeat(32) }, ''],
  ['too short', { machineId: id.slice(1) }, ''],
  ['made up for this boot', { machineId: id, mounts: mountOf('/machine-id', 'tmpfs') }, ''],
  ['mounted into a container', { machineId: id, mounts: mountOf('/etc/machine-id', 'ext4') }, 'machineId'],
  ['mounted from another tmpfs', { machineId: id, mounts: mountOf('/x/machine-id', 'tmpfs') }, 'machineId'],
  ['hardware without a name', { uuid: '00000000-0000-0000-0000-000000000000' }, ''],
  ['hardware whose maker did not care', { uuid: '03000200-0400-0500-0006-000700080009' }, ''],
  ['hardware that says something else', { uuid: 'Not Settable' }, ''],
  ['a board', { serial: '10000000a3b2c1d0\0' }, 'hardware'],
]
for (const [what, machine, knows] of table) {
  t.test(what, t => {
    t.equal(Object.keys(marksOf(t, machine)).join(' '), knows)
    t.end()
  })
}

t.test('nothing is told as it is', t => {
  const marks = marksOf(t, { machineId: `${id}\n`, uuid })
  t.notMatch(JSON.stringify(marks), new RegExp(`${id}|${uuid}|${id.slice(0, 8)}`))
  t.equal(
    marks.machineId,
    createHmac('sha256', id).update('ipkeeper.io/node-identity').digest('hex').slice(0, 32),
    'by a key of the machine, and always the same',
  )
  t.end()
})

t.test('one machine shows its UUID in two ways', t => {
  t.equal(marksOf(t, { uuid }).hardware, marksOf(t, { uuid: swapped }).hardware)
  t.end()
})
