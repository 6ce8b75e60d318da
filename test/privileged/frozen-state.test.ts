/**
 * The packaged plugin while the file system of its state folder hangs: each verb ends in its own time with what CNI wants, with a
 * daemon that hangs as well, with one that answers from memory, and with none; and when it goes on nothing is lost or left.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { makeLoopDisk, type LoopDisk } from '../rigs/loop-disk.ts'
import { until } from '../rigs/poll.ts'
import { startPrivateHost, type PrivateHost } from '../rigs/private-host.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import type { Finished } from '../rigs/run-program.ts'
import { tempFolder, type TempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables', 'namespaces', 'loop-devices')

/** Seconds that the configuration gives. */
const timeout = 3
/** Milliseconds beyond what a verb has: for writing aside, undoing, and a machine that has much to do. */
const grace = 5000

interface Run extends Finished {
  readonly ms: number
}

interface Site {
  readonly host: PrivateHost
  /** Not on the disk; plugins are looked for in it, too. */
  readonly folder: TempFolder
  readonly ipam: object
  readonly disk: LoopDisk
  start(args?: readonly string[]): Promise<Daemon>
  plugin(command: string, container: string, more?: object): Promise<Run>
  /** Two pods, "c0" and "c1", whose ADDs the daemon knows to be answered. */
  addTwo(): Promise<void>
  /** Processes of plugins that have not ended. */
  left(): Promise<number>
}

async function makeSite(t: Test): Promise<Site> {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  const disk = await makeLoopDisk(host, folder, 'disk', 32)
  t.teardown(() => host.close())
  const [stateDir, socket, plugin] = [`${disk.path}/state`, folder.file('s'), folder.file('ipkeeper')]
  // Of this site alone, to be counted.
  await host.must('cp', [testedPlugin, plugin])
  const ipam = { type: 'ipkeeper', subnet: '10.22.0.0/16', socket, stateDir, timeout }
  const site: Site = {
    ...{ host, disk, folder, ipam },
    addTwo: async () => {
      for (const container of ['c0', 'c1'])
        t.equal((await site.plugin('ADD', container)).exit, 0, `ADD ${container}`)
      await until(
        'marks are taken over',
        async () => (await host.run('ls', [`${stateDir}/answered`])).stdout === '',
      )
    },
    start: async args => {
      const daemon = await startDaemon({ socket, stateDir, host, ...(args && { args }) })
      t.teardown(() => {
        daemon.kill('SIGKILL')
      })
      return daemon
    },
    plugin: async (command, container, more = {}) => {
      const begun = performance.now()
      const finished = await runPlugin({
        ...{ plugin, command, host, containerId: container, timeoutMs: 60_000 },
        ...{ netns: '/run/netns/none', ifname: 'eth0', path: `/opt/cni/bin:${folder.path}` },
        config: {
          ...{ cniVersion: '1.1.0', name: 'net', type: 'bridge', 'cni.dev/valid-attachments': [] },
          ...{ prevResult: { cniVersion: '1.1.0', ips: [{ address: '10.22.0.2/16' }] } },
          ipam,
          ...more,
        },
      })
      return { ...finished, ms: performance.now() - begun }
    },
    left: async () => {
      const { stdout } = await host.run('sh', [
        '-c',
        `ls -l /proc/[0-9]*/exe 2>/dev/null | grep -c '${plugin}$'`,
      ])
      return Number(stdout)
    },
  }
  return site
}

/** Whether stdout is what CNI wants of a failure. */
function isFailure(t: Test, { exit, stdout }: Run, text: RegExp, name: string): void {
  t.equal(exit, 1, name)
  t.match(JSON.parse(stdout), { cniVersion: '1.1.0', code: Number, msg: text }, name)
}

const bound = async (daemon: Daemon): Promise<readonly string[]> =>
  (await daemon.boundLeases()).map(({ containerId }) => containerId ?? '').sort()

/** Verbs that run while it hangs: what they are to say, and within how many milliseconds; undefined: success. */
type Row = readonly [
  command: string,
  container: string,
  within: number,
  says: RegExp | undefined,
  more?: object,
]

async function whileFrozen(t: Test, site: Site, rows: readonly Row[]): Promise<void> {
  await site.disk.frozenDuring(async () => {
    await Promise.all(
      rows.map(async ([command, container, within, says, more]) => {
        const run = await site.plugin(command, container, more)
        const name = `${command} ${container}: ${Math.round(run.ms)} ms, ${run.stdout}`
        t.ok(run.ms < within + grace, name)
        if (says) isFailure(t, run, says, name)
        else t.strictSame([run.exit, run.stdout], [0, ''], name)
      }),
    )
  })
}

/** What hung has gone on, nothing is left, and the node works. */
async function goesOn(t: Test, site: Site, daemon: Daemon, before: readonly string[]): Promise<void> {
  await until('no process is left', async () => (await site.left()) === 0)
  await until(
    'what nobody has the answer of is undone',
    async () => JSON.stringify(await bound(daemon)) === JSON.stringify(before),
    30_000,
  )
  t.equal((await site.plugin('ADD', 'next')).exit, 0)
  t.equal((await site.plugin('DEL', 'next')).exit, 0)
  t.strictSame(await bound(daemon), before)
}

const limit = timeout * 1000

t.test('a daemon that hangs, too', { skip }, async t => {
  const site = await makeSite(t)
  const daemon = await site.start()
  await site.addTwo()
  await whileFrozen(t, site, [
    ['ADD', 'c2', limit, /did not answer ADD within/],
    ['DEL', 'c0', limit, /cannot be queued .*: its file system does not answer/],
    ['CHECK', 'c1', limit, /did not answer CHECK within/],
    ['ADD', 'c3', limit, /incompatible CNI versions/, { cniVersion: '9.9.9' }],
  ])
  // The DEL was asked for, and may or may not have been queued; a runtime sends it again.
  t.equal((await site.plugin('DEL', 'c0')).exit, 0)
  await goesOn(t, site, daemon, ['c1'])
})

t.test('a daemon that answers from memory', { skip }, async t => {
  const site = await makeSite(t)
  const daemon = await site.start(['--store', 'memory:'])
  await site.addTwo()
  await whileFrozen(t, site, [
    ['ADD', 'c2', limit, /cannot be noted in .*: its file system does not answer/],
    ['DEL', 'c1', limit, undefined],
    ['CHECK', 'c0', limit, undefined],
    ['CHECK', 'c9', limit, /./],
    ['STATUS', '', 2000, undefined],
  ])
  await goesOn(t, site, daemon, ['c0'])
})

t.test('a disk that hangs only after the daemon has said that it does not', { skip }, async t => {
  const site = await makeSite(t)
  const daemon = await site.start(['--store', 'memory:'])
  await site.addTwo()
  const [called, frozen] = [site.folder.file('called'), site.folder.file('frozen')]
  const slow = `#!/bin/sh\n: >${called}\nwhile [ ! -e ${frozen} ]; do sleep 0.1; done\nsleep 0.5\n`
  writeFileSync(site.folder.file('slow'), slow, { mode: 0o755 })
  const deleting = site.plugin('DEL', 'c9', { ipam: { ...site.ipam, fallback: { type: 'slow' } } })
  await until('the fallback runs', () => existsSync(called))
  await site.disk.frozenDuring(async () => {
    writeFileSync(frozen, '')
    const run = await Promise.race([deleting, delay(limit + grace, undefined, { ref: false })])
    t.match(run, { exit: 0, stdout: '' }, 'it does not wait for the line of its flight record')
  })
  await deleting
  await goesOn(t, site, daemon, ['c0', 'c1'])
})

t.test('no daemon', { skip }, async t => {
  const site = await makeSite(t)
  let daemon = await site.start()
  await site.addTwo()
  await daemon.stop()
  await whileFrozen(t, site, [
    ['ADD', 'c2', limit, /cannot reach ipkeeper-server/],
    ['DEL', 'c0', limit, /cannot be queued .*: its file system does not answer/],
    ['GC', '', 5000, /cannot reach ipkeeper-server/],
  ])
  daemon = await site.start()
  // What was queued after its runtime had heard of a failure is carried out as well.
  t.equal((await site.plugin('DEL', 'c0')).exit, 0)
  await goesOn(t, site, daemon, ['c1'])
})
