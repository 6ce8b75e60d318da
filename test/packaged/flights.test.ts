/** "What did the plugin print?": the packaged plugin's record of its runs, and `ipkeeperctl flights` that shows it. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { logs } from '../rigs/logs.ts'
import type { Flight, FlightsReply } from '../../shared/api/flight.schema.ts'
import { startDaemon } from '../rigs/daemon.ts'
import { distFolder, missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { runProgram, type Finished } from '../rigs/run-program.ts'
import { listenScripted } from '../rigs/scripted-socket.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')
const plugin = testedPlugin

/** A node with a state folder of its own; no daemon unless one is started. */
function makeSite(t: Test) {
  const folder = tempFolder(t)
  const socket = folder.file('s')
  const stateDir = folder.file('state')
  const env = { IPKEEPER_SOCKET: socket, IPKEEPER_STATE_DIR: stateDir }
  const config = (more: object = {}): object => ({
    cniVersion: '1.1.0',
    name: 'fixed',
    type: 'bridge',
    ipam: { type: 'ipkeeper', timeout: 10, ranges: [[{ subnet: '10.22.0.0/24' }]], ...more },
  })
  const call = (command: string, containerId: string, input: unknown = config()): Promise<Finished> =>
    runPlugin({
      ...{ plugin, command, containerId, config: input, env },
      ...{ netns: '/run/netns/none', ifname: 'eth0', path: '/opt/cni/bin' },
      args: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0',
    })
  const control = (...words: readonly string[]): Promise<Finished> =>
    runProgram(join(distFolder, 'ipkeeperctl'), ['flights', '--state-dir', stateDir, ...words], { env: {} })
  const flights = async (...words: readonly string[]): Promise<readonly Flight[]> => {
    const { exit, stdout, stderr } = await control('-o', 'json', ...words)
    if (exit !== 0 || stderr !== '') throw new Error(`exit ${String(exit)}: ${stderr}`)
    return (JSON.parse(stdout) as FlightsReply).flights
  }
  return { folder, socket, stateDir, env, config, call, control, flights }
}

t.test('what each run was asked, did and printed', { skip }, async t => {
  const { socket, stateDir, config, call, control, flights } = makeSite(t)
  const daemon = await startDaemon({ socket, stateDir })
  t.teardown(() => daemon.stop('SIGKILL'))
  const added = await call('ADD', 'c1')
  const steps: readonly (readonly [name: string, finished: Finished, flight: Partial<Flight>])[] = [
    [
      'ADD',
      added,
      { verb: 'ADD', exit: 0, addresses: ['10.22.0.2/24'], pod: 'shop/web-0', network: 'fixed' },
    ],
    ['CHECK', await call('CHECK', 'c1'), { verb: 'CHECK', exit: 0 }],
    ['ADD again', await call('ADD', 'c1'), { verb: 'ADD', exit: 1, code: 'IPK_ALREADY_ADDED', cniCode: 110 }],
    [
      'a broken configuration',
      await call('ADD', 'c2', '{'),
      { exit: 1, cniCode: 6, code: 'IPK_CONFIG_UNDECODABLE' },
    ],
    ['a bad environment', await call('ADD', '../c'), { exit: 1, cniCode: 4, containerId: '../c' }],
    ['no verb at all', await call('FLY', 'c1'), { verb: 'FLY', exit: 1, cniCode: 4 }],
    ['no ranges', await call('ADD', 'c3', config({ ranges: [] })), { exit: 1, cniCode: 7 }],
    ['DEL', await call('DEL', 'c1'), { verb: 'DEL', exit: 0 }],
    ['GC', await call('GC', ''), { verb: 'GC', exit: 0 }],
  ]
  // Polled, hence left out.
  for (const verb of ['STATUS', 'VERSION', '']) t.equal((await call(verb, '')).exit, 0, verb)
  await daemon.stop()
  const { exit, stdout } = await call('DEL', 'c1')
  t.match({ exit, stdout }, { exit: 0, stdout: '' }, 'a DEL without a daemon')

  const recorded = await flights()
  t.equal(recorded.length, steps.length + 1)
  for (const [index, [name, finished, expected]] of steps.entries()) {
    const flight = recorded[index]
    t.match(flight, expected, name)
    t.equal(flight?.exit, finished.exit, name)
    t.equal(flight?.printed, Buffer.byteLength(finished.stdout), `${name}: bytes`)
    if (finished.exit === 1)
      t.equal(flight?.message, (JSON.parse(finished.stdout) as { msg: string }).msg, name)
  }
  t.match(recorded.at(-1), {
    verb: 'DEL',
    exit: 0,
    queued: true,
    printed: 0,
    message: /there is no such socket/,
  })

  // The request ID is the one of the daemon's log.
  const { requestId = '' } = recorded[0] ?? {}
  t.match(requestId, /^[0-9a-f]{12}$/)
  await logs(t, daemon, `"reqId":"${requestId}"`)
  t.notOk(readdirSync(stateDir).includes('000001.jsonl'))

  t.strictSame(
    (await flights('--container', 'c1', '--verb', 'ADD')).map(flight => flight.exit),
    [0, 1],
  )
  t.equal((await flights('--failed')).length, 5)
  t.match(await control('--container', 'c1', '--failed', '--verb', 'ADD'), {
    exit: 0,
    stdout: /^AT +VERB +CONTAINER.*\n[^\n]* ADD +c1 +eth0 +shop\/web-0 +1 +IPK_ALREADY_ADDED [^\n]*\n$/,
  })
})

t.test('a run that was interrupted', { skip }, async t => {
  const { socket, env, config, flights } = makeSite(t)
  const asked = Promise.withResolvers<undefined>()
  const server = await listenScripted(socket, () => {
    asked.resolve(undefined)
  })
  t.teardown(() => server.close())
  const cni = { CNI_CONTAINERID: 'c1', CNI_NETNS: '/x', CNI_IFNAME: 'eth0', CNI_PATH: '/x' }
  const child = spawn(plugin, [], {
    env: { ...env, ...cni, CNI_COMMAND: 'ADD' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdout.resume()
  const ended = once(child, 'close')
  child.stdin.end(JSON.stringify(config()))
  await asked.promise
  child.kill('SIGTERM')
  t.strictSame(await ended, [1, null])
  t.match(await flights(), [
    { verb: 'ADD', exit: 1, code: 'IPK_INTERRUPTED', network: 'fixed', message: /SIGTERM/ },
  ])
})

t.test('an answer that stdout did not take', { skip }, async t => {
  const { env, flights } = makeSite(t)
  const full = openSync('/dev/full', 'w')
  t.teardown(() => {
    closeSync(full)
  })
  const { status } = spawnSync(plugin, [], {
    env: { ...env, CNI_COMMAND: 'VERSION' },
    stdio: ['ignore', full, 'ignore'],
  })
  t.equal(status, 1)
  t.match(await flights(), [{ verb: 'VERSION', exit: 1, printed: 0, message: /ENOSPC/ }])
})

t.test('many at once', { skip }, async t => {
  const { stateDir, call, flights } = makeSite(t)
  const ids = Array.from({ length: 30 }, (_, nth) => `c${nth}`)
  const ends = await Promise.all(ids.map(id => call('ADD', id, '{')))
  t.ok(ends.every(({ exit }) => exit === 1))
  const recorded = await flights('--limit', '1000')
  t.strictSame(recorded.map(flight => flight.containerId).sort(), ids.sort())
  t.strictSame(readdirSync(join(stateDir, 'flights')), ['000001.jsonl'])
  t.equal(statSync(join(stateDir, 'flights')).mode & 0o777, 0o700)
})

t.test('a folder that cannot be written, or is full of traps, changes nothing', { skip }, async t => {
  const answers = async (
    prepare: (flightsFolder: string, stateDir: string) => void,
  ): Promise<readonly unknown[]> => {
    const { stateDir, call } = makeSite(t)
    mkdirSync(stateDir)
    prepare(join(stateDir, 'flights'), stateDir)
    // A few seconds would be a run that waits for a pipe.
    const { exit, stdout, stderr } = await call('ADD', 'c1', '{')
    return [exit, stdout, stderr]
  }
  const expected = await answers(() => undefined)
  t.match(expected, [1, /error unmarshall network config/, ''])
  for (const [name, prepare] of Object.entries<(folder: string, stateDir: string) => void>({
    'a file in its place': folder => {
      writeFileSync(folder, '')
    },
    'a link in a circle': folder => {
      symlinkSync(folder, folder)
    },
    'a pipe': folder => {
      mkdirSync(folder)
      spawnSync('mkfifo', [join(folder, '000001.jsonl')])
    },
    'a device that is full': folder => {
      mkdirSync(folder)
      symlinkSync('/dev/full', join(folder, '000001.jsonl'))
    },
    'no state folder': (_, stateDir) => {
      spawnSync('rmdir', [stateDir])
      writeFileSync(stateDir, '')
    },
  }))
    t.strictSame(await answers(prepare), expected, name)
  const nowhere = await runPlugin({
    plugin,
    command: 'ADD',
    config: '{',
    env: { IPKEEPER_STATE_DIR: '/proc/none' },
  })
  t.match(nowhere, { exit: 1, stderr: '' }, 'below /proc')
})

t.test('nothing is made where a path is none', { skip }, async t => {
  const { folder, call, config } = makeSite(t)
  t.equal((await call('ADD', 'c1', config({ stateDir: 'relative' }))).exit, 1)
  t.equal((await call('ADD', 'c1', config({ stateDir: folder.file('no', 'parent'), timeout: 0.1 }))).exit, 1)
  t.notOk(existsSync('relative'))
  t.notOk(existsSync(folder.file('no')))
})
