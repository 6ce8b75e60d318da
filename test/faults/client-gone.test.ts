/** The plugin goes away while the real daemon works, and DELs that overtake their ADDs: no lease is left behind. */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { startProcess } from '../rigs/plugin-process.ts'
import {
  attachment,
  configFor,
  each,
  failsProperly,
  hasOneEnd,
  newPath,
  runVerb,
} from '../rigs/plugin-under-fault.ts'
import { missing } from '../rigs/requirements.ts'
import { hangMs } from '../rigs/poll.ts'

const skip = missing('executables')

interface Served {
  readonly daemon: Daemon
  readonly config: object
}

async function serve(t: Test): Promise<Served> {
  const [socket, stateDir] = [newPath(), newPath()]
  const daemon = await startDaemon({ socket, stateDir })
  t.teardown(() => daemon.stop('SIGKILL'))
  return { daemon, config: configFor(socket, { stateDir, ranges: [[{ subnet: '10.22.0.0/16' }]] }) }
}

const containerEnv = (name: string) => ({ env: { CNI_CONTAINERID: name } })

/** Asks until it holds; the daemon undoes in its own time. */
async function eventually(t: Test, name: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + hangMs
  while (!(await holds())) {
    if (performance.now() > deadline) {
      t.fail(`${name}: not within 20 s`)
      return
    }
    await delay(50)
  }
  t.pass(name)
}

t.test('gone while the daemon does not get to it', { skip }, async t => {
  const { daemon, config } = await serve(t)
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    daemon.kill('SIGSTOP')
    const runs = Array.from({ length: 4 }, (_, nth) =>
      startProcess('ADD', config, containerEnv(`${signal}-${nth}`)),
    )
    // The socket takes connections while nobody accepts them; a run that has no socket open yet is as good.
    await delay(300)
    for (const run of runs) run.child.kill(signal)
    for (const run of runs) {
      const finished = await run.finished
      if (signal === 'SIGKILL') t.match(finished, { exit: null, stdout: '' })
      else hasOneEnd(t, signal, finished)
    }
    daemon.kill('SIGCONT')
    await eventually(t, `${signal}: no lease is left`, async () => (await daemon.leases()).length === 0)
  }
  // The daemon may list its leases before it gets to those ADDs.
  let asked = 0
  await eventually(t, 'the first address is free again', async () => {
    const env = containerEnv(`next-${asked++}`)
    const { stdout } = await runVerb('ADD', config, env)
    if (stdout.includes('"10.22.0.2/16"')) return true
    await runVerb('DEL', config, env)
    return false
  })
})

t.test('signals at any moment of an ADD', { skip }, async t => {
  const { daemon, config } = await serve(t)
  const { ms: usualMs } = await startProcess('STATUS', config).finished
  const count = 120
  const added = new Set<string>()
  await each(
    Array.from({ length: count }, (_, nth) => nth),
    async nth => {
      const container = `c${nth}`
      const run = startProcess('ADD', config, containerEnv(container))
      await delay(usualMs * (0.4 + nth / count))
      run.child.kill('SIGTERM')
      if (hasOneEnd(t, container, await run.finished) === 'result') added.add(container)
    },
  )
  const leased = async (): Promise<ReadonlySet<string>> =>
    new Set((await daemon.boundLeases()).map(({ containerId }) => containerId ?? ''))
  await eventually(t, 'who has a result has a lease, nobody else', async () => {
    const has = await leased()
    return has.size === added.size && [...added].every(container => has.has(container))
  })
})

t.test('the daemon is stopped longer than the plugin waits', { skip }, async t => {
  const { daemon, config } = await serve(t)
  const impatient = { ...config, ipam: { ...(config as { ipam: object }).ipam, timeout: 1 } }
  daemon.kill('SIGSTOP')
  failsProperly(t, 'ADD', await runVerb('ADD', impatient), { code: 11, details: /IPK_DAEMON_TIMEOUT/ })
  daemon.kill('SIGCONT')
  await eventually(t, 'no lease is left', async () => (await daemon.leases()).length === 0)
})

t.test('a DEL that overtakes its ADD', { skip }, async t => {
  const { daemon, config } = await serve(t)
  const now = (): number => Math.floor(Number(process.hrtime.bigint()) / 1000)
  const request = (startedAt: number, nth: number) => ({
    invocationId: `run-${nth}`,
    startedAt,
    bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
    ...attachment,
    args: '',
    config,
  })
  const addBegan = now()
  const delBegan = now() + 1
  t.equal((await daemon.ask('POST', '/v1/cni/del', request(delBegan, 1))).status, 200)
  const late = await daemon.ask('POST', '/v1/cni/add', request(addBegan, 2))
  t.equal(late.status, 409)
  t.match(JSON.parse(late.body), {
    code: 'IPK_DEL_OVERTOOK',
    cniCode: 113,
    message: 'container c1 was deleted while its ADD was under way',
  })
  t.same(await daemon.leases(), [])
  t.equal((await runVerb('ADD', config)).exit, 0, 'an ADD that begins later is served')
  t.equal((await daemon.boundLeases()).length, 1)
  t.equal((await daemon.ask('POST', '/v1/cni/del', request(addBegan, 3))).status, 200)
  t.equal((await daemon.boundLeases()).length, 1, 'a DEL that began before it leaves it alone')
})

t.test('a DEL overtakes an ADD whose stdin comes slowly', { skip }, async t => {
  const { daemon, config } = await serve(t)
  const slow = startProcess('ADD')
  // More than the kernel keeps: once it is written the plugin reads, so its run has begun.
  await new Promise(taken => slow.child.stdin?.write(' '.repeat(4_000_000), taken))
  t.match(await runVerb('DEL', config), { exit: 0, stdout: '' })
  slow.child.stdin?.end(JSON.stringify(config))
  failsProperly(t, 'ADD', await slow.finished, { code: 113, msg: /was deleted while its ADD was under way/ })
  t.same(await daemon.leases(), [])
})
