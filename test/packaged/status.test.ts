/** STATUS as a runtime polls it: the packaged plugin with the packaged daemon, away, hanging, full and out of disk. */
import { existsSync, mkdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startDaemon, type Daemon, type DaemonOptions } from '../rigs/daemon.ts'
import { startPrivateHost, type PrivateHost } from '../rigs/private-host.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import type { Finished } from '../rigs/run-program.ts'
import { listenScripted, replyText, type Script } from '../rigs/scripted-socket.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')

/** A node with a socket and a state folder of its own. */
function makeSite(t: Test, host?: PrivateHost) {
  const folder = tempFolder(t)
  const socket = folder.file('s')
  const stateDir = folder.file('state')
  const call = (command: string, containerId: string, ipam: object = {}): Promise<Finished> =>
    runPlugin({
      ...{ plugin: testedPlugin, command, containerId, path: '/opt/cni/bin' },
      ...(command !== 'STATUS' && { netns: '/run/netns/none', ifname: 'eth0' }),
      config: {
        ...{ cniVersion: '1.1.0', name: 'fixed', type: 'bridge' },
        ipam: { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.22.0.0/24' }]], ...ipam },
      },
      ...(host && { host }),
    })
  /** undefined when all is well, else the error object. */
  const ask = async (ipam?: object): Promise<object | undefined> => {
    const { exit, stdout, stderr } = await call('STATUS', '', ipam)
    if (stderr !== '') throw new Error(stderr)
    if ((exit === 0) !== (stdout === '')) throw new Error(`exit ${String(exit)} with ${stdout}`)
    return stdout === '' ? undefined : (JSON.parse(stdout) as object)
  }
  const start = async (more: Partial<DaemonOptions> = {}): Promise<Daemon> => {
    const daemon = await startDaemon({ socket, stateDir, ...more, ...(host && { host }) })
    t.teardown(() => daemon.stop('SIGKILL'))
    return daemon
  }
  const stamp = join(stateDir, 'daemon-answered')
  /** As if the daemon had last answered so many seconds from now. */
  const moveStamp = (seconds: number): void => {
    utimesSync(stamp, new Date(), new Date(Date.now() + seconds * 1000))
  }
  return { folder, socket, stateDir, call, ask, start, stamp, moveStamp }
}

t.test('a rollout of the daemon is no news, its absence is', { skip }, async t => {
  const { ask, call, start, stamp, moveStamp, socket } = makeSite(t)
  const away = (why: string) => ({
    ...{ cniVersion: '1.1.0', code: 50, msg: `cannot reach ipkeeper-server on ${socket}: ${why}` },
    details: /systemctl restart ipkeeper.*\[IPK_NOT_AVAILABLE\]$/,
  })
  t.match(await ask(), away('there is no such socket'), 'no daemon ever')
  const daemon = await start()
  t.notOk(existsSync(stamp))
  t.equal(await ask(), undefined)
  t.ok(existsSync(stamp))
  await daemon.stop('SIGKILL')
  t.equal(await ask(), undefined, 'killed a moment ago')
  moveStamp(-40)
  t.match(await ask(), away('nothing listens on the socket'), 'killed 40 s ago')
  moveStamp(600)
  t.match(await ask(), { code: 50 }, 'a stamp of the future says nothing')
  const again = await start()
  t.equal((await call('ADD', 'c1')).exit, 0)
  await again.stop()
  t.equal(await ask(), undefined, 'any verb that was answered counts')
})

t.test('what the daemon says comes at once, grace or not', { skip }, async t => {
  const { ask, call, start } = makeSite(t)
  await start()
  const tiny = { ranges: [[{ subnet: '10.22.0.0/30' }]] }
  const told = { ...tiny, statusReportsExhaustion: true }
  t.equal(await ask(told), undefined)
  t.equal((await call('ADD', 'c1', tiny)).exit, 0)
  t.match(await ask(told), {
    code: 50,
    msg: 'failed to allocate for range 0: no IP addresses available in range set: 10.22.0.1-10.22.0.2',
    details:
      /pool fixed is full: 1 addresses, 1 in use.*; an ADD would get IPK_POOL_FULL; .*\[IPK_NOT_AVAILABLE, request /,
  })
  t.equal(await ask(tiny), undefined, 'full, but nobody asked to hear of it')
  t.match(await ask({ ranges: [] }), { code: 7, msg: 'no IP ranges specified' })
  t.match(await ask({ resolvConf: '/no/such/file' }), { code: 7, msg: /cannot read/ })
  t.match(await ask({ ...tiny, statusReportsExhaustion: 'yes' }), { code: 7 })
})

t.test('a daemon that uses another state folder would refuse every ADD', { skip }, async t => {
  const { folder, ask, call, start } = makeSite(t)
  await start({ stateDir: folder.file('other') })
  mkdirSync(folder.file('state'))
  const mismatch = /^state folders differ: the plugin uses .*state, ipkeeper-server on .* uses .*other$/
  t.match(await ask(), {
    code: 50,
    msg: mismatch,
    details: /"stateDir".*\[IPK_NOT_AVAILABLE, request [0-9a-f]+\]$/,
  })
  t.match(JSON.parse((await call('ADD', 'c1')).stdout), { code: 7, msg: mismatch })
})

t.test('daemons that misbehave', { skip }, async t => {
  const { socket, stateDir, ask, call, start, moveStamp } = makeSite(t)
  const daemon = await start()
  t.equal((await call('CHECK', 'c1')).exit, 1, 'a refusal is an answer, too')
  await daemon.stop()
  const refusal = { code: 'IPK_X', message: 'pods suffer', hint: '', retryable: true, details: '', stateDir }
  const cases: readonly (readonly [name: string, script: Script, grace: boolean, document: object])[] = [
    ['silence', () => undefined, true, { code: 50, msg: /did not answer STATUS within [0-9.]+ s/ }],
    [
      'rubbish',
      connection => {
        connection.end(replyText(200, '<html>'))
      },
      true,
      { code: 50, msg: /is no reply of ipkeeper-server/ },
    ],
    [
      '51',
      connection => {
        connection.end(replyText(503, { ...refusal, cniCode: 51, requestId: 'r-1' }))
      },
      false,
      { code: 51, msg: 'pods suffer', details: '[IPK_X, request r-1]' },
    ],
  ]
  for (const [name, script, grace, document] of cases) {
    const server = await listenScripted(socket, script)
    moveStamp(0)
    const recently = await ask()
    if (grace) t.equal(recently, undefined, `${name}, answered a moment ago`)
    else t.match(recently, document, `${name}, answered a moment ago`)
    moveStamp(-40)
    t.match(await ask(), document, `${name}, answered 40 s ago`)
    await server.close()
  }
})

t.test('a disk that is full, and then is not', { skip: missing('executables', 'namespaces') }, async t => {
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const { stateDir, ask, call, start } = makeSite(t, host)
  mkdirSync(stateDir)
  await host.must('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', stateDir])
  const daemon = await start()
  t.equal((await call('ADD', 'c1')).exit, 0)
  const filler = join(stateDir, 'filler')
  t.equal((await host.run('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k'])).exit, 1, 'the disk is full')
  // Until something is written nobody knows; the daemon may have tried by itself, or not.
  t.match(JSON.parse((await call('ADD', 'c2')).stdout), { code: 11, details: /IPK_STORE_FAILED/ })
  const failing = {
    code: 50,
    msg: /^the file system of .* is full \(ENOSPC\): pods are deleted, and none is added/,
    details: /an ADD would get IPK_STORE_FAILED; free space there, or inodes: df -h /,
  }
  for (const time of ['first', 'second']) t.match(await ask(), failing, time)
  await host.must('rm', [filler])
  // It tries again by itself every 5 s, and nobody adds meanwhile.
  const deadline = Date.now() + 60_000
  while ((await ask()) !== undefined && Date.now() < deadline) await delay(200)
  t.equal(await ask(), undefined, 'healed')
  t.equal((await call('ADD', 'c2')).exit, 0)
  t.equal((await daemon.boundLeases()).length, 2)
})
