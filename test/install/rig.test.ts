/** The machine inside the machine keeps to itself, and goes whatever ends its test. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startCleanMachine } from '../rigs/clean-machine.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('clean-machine')
const rig = join(import.meta.dirname, '..', 'rigs', 'clean-machine.ts')

t.test('nothing that is written inside is seen outside', { skip }, async t => {
  const machine = await startCleanMachine()
  t.teardown(() => machine.close())
  const name = `ipkeeper-rig-${process.pid}`
  const places = ['/etc', '/usr/local/bin', '/var/lib', '/root', '/tmp', '/run', '/var/tmp']
  await machine.must(`for place in ${places.join(' ')} .; do echo x >"$place/${name}"; done; rm Makefile`)
  t.strictSame(
    [...places, '.'].filter(place => existsSync(join(place, name))),
    [],
  )
  t.ok(existsSync(join(import.meta.dirname, '..', '..', 'Makefile')))
  // Its systemd makes the folders of X.
  t.equal(await machine.must('ls -A /tmp | grep -v unix'), `${name}\n`, 'nor what is outside, inside')
  t.equal(await machine.must('cat /proc/1/comm'), 'systemd\n')
})

t.test('a test that is killed leaves nothing that runs', { skip }, async t => {
  const script = `
    const { startCleanMachine } = await import(${JSON.stringify(rig)})
    await startCleanMachine()
    console.log('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const mine = new RegExp(`/ipkeeper-rig-${String(child.pid)}-`)
  const inside = (): readonly string[] =>
    globSync('/proc/[0-9]*/cgroup').filter(path => {
      try {
        return mine.test(readFileSync(path, 'utf8'))
      } catch {
        return false
      }
    })
  t.ok(inside().length > 0)
  child.kill('SIGKILL')
  await once(child, 'close')
  await until('all ended', () => inside().length === 0)
})
