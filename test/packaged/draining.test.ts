/** A pool of the daemon's file that is emptied. */
import t from 'tap'
import { configuredDaemon } from '../rigs/configured-daemon.ts'
import { missing } from '../rigs/requirements.ts'

const open = 'pools:\n  - name: prod\n    subnet: 10.22.0.0/24\n'
const drains = `${open}    draining: true\n`
const oneRange =
  'pools:\n  - name: prod\n    ranges: [[{ subnet: 10.22.0.0/24, draining: true }, { subnet: 10.23.0.0/24 }]]\n'

t.test('a pool of the file that drains', { skip: missing('executables') }, async t => {
  const { add, del, write, restart, logged, daemon } = await configuredDaemon(t, open)
  t.equal(await add('web-0', 'prod'), '10.22.0.2/24')
  write(drains)
  await logged('configuration reloaded')
  t.equal(await add('web-1', 'prod'), 182, 'no new pod')
  const { stdout } = await daemon.control('pools')
  t.match(stdout, /^prod +default +IPv4 +1 +1 +0 +0 +- +- /m, 'and it is not full')
  t.match(
    stdout,
    /\nprod is draining: 1 left, and no new pod gets an address from it\nnext: ipkeeperctl leases --socket \S+ --pool prod\n/,
  )
  t.match(
    (await daemon.control('doctor')).stdout,
    /^skip +pools +every pool is draining$/m,
    'what is emptied on purpose is no finding',
  )
  await restart(() => {
    write(oneRange)
  })
  t.equal(await add('web-1', 'prod'), '10.23.0.2/24', 'but of another range')
  t.equal(await add('web-2', 'prod'), '10.23.0.3/24')
  await del('web-0')
  t.equal(await add('web-0', 'prod'), '10.23.0.4/24', 'a pod that asked for nothing moves on')
})

t.test('an address of a pool that drains is moved', { skip: missing('executables') }, async t => {
  const { add, del, write, logged, daemon } = await configuredDaemon(t, open)
  t.equal(await add('web-0', 'prod'), '10.22.0.2/24')
  write(drains)
  await logged('configuration reloaded')
  const moved = await daemon.control('move', '10.22.0.2', 'shop/web-9', '--yes')
  t.match(moved, { exit: 0, stdout: /1 address moved/ })
  t.equal(await add('web-9', 'prod'), 182, 'not while the other one lives')
  await del('web-0')
  t.equal(await add('web-0', 'prod'), 182)
  t.equal(await add('web-9', 'prod'), '10.22.0.2/24')
})
