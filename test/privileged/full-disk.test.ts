/**
 * The packaged daemon and plugin on a small disk of their own that is full to the last byte, has no file left, or has become
 * read-only: pods end, also while the daemon is away; none is added; every text says what to type; and with room all goes on.
 */
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { makeLoopDisk, type LoopDisk } from '../rigs/loop-disk.ts'
import { logs } from '../rigs/logs.ts'
import { readPage, valueOf } from '../rigs/metrics-page.ts'
import { until } from '../rigs/poll.ts'
import { startPrivateHost, type PrivateHost } from '../rigs/private-host.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import type { Finished } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables', 'namespaces', 'loop-devices')

interface Site {
  readonly host: PrivateHost
  readonly disk: LoopDisk
  readonly stateDir: string
  /** @param config of the daemon */
  start(config?: object): Promise<Daemon>
  plugin(command: string, container: string, more?: object): Promise<Finished>
  /** ADDs of so many pods, "c0" and on. */
  addAll(count: number): Promise<void>
  status(daemon: Daemon): Promise<StatusReply>
  /** What is kept is there, all of it. */
  kept(daemon: Daemon): Promise<void>
}

/**
 * @param files how many the disk can have
 * @param forRoot percent of it that only root can use
 */
async function makeSite(t: Test, files?: number, mebibytes = 24, forRoot = 0): Promise<Site> {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  const disk = await makeLoopDisk(host, folder, 'disk', mebibytes, files, forRoot)
  t.teardown(() => host.close())
  const stateDir = `${disk.path}/state`
  const [socket, configFile] = [folder.file('s'), folder.file('c.yaml')]
  const site: Site = {
    ...{ host, disk, stateDir },
    start: async (config = {}) => {
      writeFileSync(configFile, JSON.stringify(config))
      const daemon = await startDaemon({ socket, stateDir, host, config: configFile })
      t.teardown(() => daemon.stop('SIGKILL'))
      return daemon
    },
    plugin: (command, container, more = {}) =>
      runPlugin({
        ...{ plugin: testedPlugin, command, host, containerId: container },
        ...{ netns: '/run/netns/none', ifname: 'eth0', path: '/opt/cni/bin' },
        args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${container};K8S_POD_UID=u-${container}`,
        config: {
          ...{ cniVersion: '1.1.0', name: 'net', type: 'bridge' },
          ipam: { type: 'ipkeeper', subnet: '10.22.0.0/16', socket, stateDir, timeout: 20, ...more },
        },
      }),
    addAll: async count => {
      const adds = Array.from({ length: count }, (_, nth) => site.plugin('ADD', `c${nth}`))
      for (const { exit, stdout } of await Promise.all(adds)) if (exit !== 0) throw new Error(stdout)
    },
    status: async daemon => JSON.parse((await daemon.ask('GET', '/v1/status')).body) as StatusReply,
    kept: async daemon => {
      await until('room is kept', async () => {
        const { disk: found } = await site.status(daemon)
        return found !== undefined && found.wanted > 0 && found.reserved === found.wanted && !found.refuses
      })
      await until(
        'files for DELs are there',
        async () => (await host.run('ls', [`${stateDir}/spare-dels/0/0`])).exit === 0,
      )
    },
  }
  return site
}

const bound = async (daemon: Daemon): Promise<readonly string[]> =>
  (await daemon.boundLeases()).map(({ containerId }) => containerId ?? '').sort()

/** Everything says that the disk is full, and what to do; nobody says to restart anything. */
async function saysSo(t: Test, site: Site, daemon: Daemon): Promise<void> {
  const add = await site.plugin('ADD', 'late')
  t.equal(add.exit, 1, 'no pod is added')
  const { msg, details } = JSON.parse(add.stdout) as { readonly msg: string; readonly details: string }
  t.match(msg, /is full \(ENOSPC\)/)
  t.match(details, new RegExp(`df -h ${site.stateDir}; df -i ${site.stateDir}`))
  t.notMatch(add.stdout, /systemctl/)
  const status = await site.plugin('STATUS', 'any')
  t.match(JSON.parse(status.stdout), { code: 50, msg: /is full \(ENOSPC\)/, details: /df -h/ })
  const { disk } = await site.status(daemon)
  t.match(disk, { folder: site.stateDir, refuses: { reason: /is full \(ENOSPC\)/ } })
  t.match((await daemon.control('status')).stdout, /^disk {4}the file system of .* is full \(ENOSPC\), for /m)
  const page = readPage((await daemon.ask('GET', '/metrics')).body)
  t.equal(valueOf(page, 'ipkeeper_disk_full'), 1)
  // Between the two answers a piece of it may have been given up, or made again.
  await until('page and status tell of the same reserve', async () => {
    const { body } = await daemon.ask('GET', '/metrics')
    return (
      valueOf(readPage(body), 'ipkeeper_disk_reserve_bytes') === (await site.status(daemon)).disk?.reserved
    )
  })
  await logs(t, daemon, /"hint":"free space there, or inodes: df -h/)
}

async function goesOnWithRoom(t: Test, site: Site, daemon: Daemon): Promise<void> {
  await site.disk.makeRoom()
  await until('pods are added again', async () => (await site.plugin('ADD', 'late')).exit === 0)
  await site.kept(daemon)
  t.equal((await site.plugin('STATUS', 'any')).exit, 0)
  await logs(t, daemon, /there is room on the disk again/)
}

for (const [what, files, fill] of [
  ['the last byte is taken', undefined, (disk: LoopDisk) => disk.fill()],
  [
    'neither byte nor file is left',
    600,
    async (disk: LoopDisk) => {
      await disk.fillFiles()
      await disk.fill()
    },
  ],
] as const)
  t.test(`${what}: pods end, with the daemon and without it`, { skip }, async t => {
    const site = await makeSite(t, files)
    let daemon = await site.start()
    await site.addAll(12)
    await site.kept(daemon)
    await fill(site.disk)

    for (let nth = 0; nth < 4; nth++) {
      const finished = await site.plugin('DEL', `c${nth}`)
      t.equal(finished.exit, 0, `DEL ${nth}: ${finished.stdout}`)
    }
    t.equal((await bound(daemon)).length, 8, 'they have ended')
    if (files === undefined) await saysSo(t, site, daemon)

    await daemon.stop('SIGKILL')
    // What the daemon gave up of its room.
    await fill(site.disk)
    for (let nth = 4; nth < 8; nth++) {
      const finished = await site.plugin('DEL', `c${nth}`)
      t.equal(finished.exit, 0, `DEL ${nth} with the daemon away: ${finished.stdout}`)
    }
    t.equal((await site.plugin('DEL', 'c4')).exit, 0, 'and once more')
    const spares = await site.host.run('sh', ['-c', `ls -d ${site.stateDir}/spare-dels/*/*d | wc -l`])
    if (files !== undefined) t.equal(Number(spares.stdout), 4, 'each waits in a file that was made before')
    await fill(site.disk)
    daemon = await site.start()
    t.equal((await bound(daemon)).length, 4, 'a daemon that starts on the full disk carries them out')
    t.equal((await site.plugin('DEL', 'c8')).exit, 0, 'and serves the next')

    t.equal(await daemon.stop(), 0, 'it ends as ever')
    await fill(site.disk)
    daemon = await site.start()
    t.equal((await bound(daemon)).length, 3)
    t.equal((await site.plugin('DEL', 'c9')).exit, 0)
    await goesOnWithRoom(t, site, daemon)
    t.equal((await bound(daemon)).length, 3, 'one has ended, one was added')
  })

t.test('somebody takes away what is kept, for the room', { skip }, async t => {
  const site = await makeSite(t)
  let daemon = await site.start({ reconcile: { interval: '1s' } })
  await site.addAll(12)
  await site.kept(daemon)
  // The daemon may still be making the last ones.
  const takeAway = `rm -rf ${site.stateDir}/reserve ${site.stateDir}/spare-dels`
  await until('it is taken away', async () => (await site.host.run('sh', ['-c', takeAway])).exit === 0)
  await until('it is kept again', async () => {
    const kept = `${site.stateDir}/reserve/00 ${site.stateDir}/spare-dels/0/0`
    return (await site.host.run('sh', ['-c', `ls ${kept}`])).exit === 0
  })
  await site.kept(daemon)
  await site.disk.fill()
  for (let nth = 0; nth < 4; nth++) t.equal((await site.plugin('DEL', `c${nth}`)).exit, 0, `DEL ${nth}`)
  await daemon.stop('SIGKILL')
  await site.disk.fill()
  t.equal((await site.plugin('DEL', 'c4')).exit, 0, 'DEL with the daemon away')
  daemon = await site.start()
  t.equal((await bound(daemon)).length, 7, 'a daemon starts on the full disk, and carries it out')
})

t.test('full for all but root: the daemon goes on', { skip }, async t => {
  const site = await makeSite(t, undefined, 96, 20)
  await site.disk.fillAsNobody()
  const blocks = await site.host.must('stat', ['-f', '-c', '%a', site.disk.path])
  t.ok(Number(blocks) < 32, 'nothing is left for others')
  const daemon = await site.start()
  await site.addAll(4)
  await site.kept(daemon)
  t.equal((await bound(daemon)).length, 4, 'there is room, and pods are added')
  await site.disk.fill()
  await saysSo(t, site, daemon)
  t.equal((await site.plugin('DEL', 'c0')).exit, 0)
  await goesOnWithRoom(t, site, daemon)
})

t.test('with nobody left who keeps room, the text says so, and what to do', { skip }, async t => {
  const site = await makeSite(t, 600)
  await site.host.must('mkdir', ['-p', site.stateDir])
  await site.disk.fillFiles()
  await site.disk.fill()
  const finished = await site.plugin('DEL', 'c0')
  t.equal(finished.exit, 1)
  t.match(JSON.parse(finished.stdout), { code: 11, msg: /\(ENOSPC\)/, details: /df -h .*IPK_DEL_NOT_QUEUED/ })
  t.notMatch(finished.stdout, /systemctl/)
})

t.test('a disk that breaks is read-only: every text says that', { skip }, async t => {
  const site = await makeSite(t)
  let daemon = await site.start()
  await site.addAll(3)
  await site.kept(daemon)
  await site.disk.breakDown()
  for (const [command, container] of [
    ['ADD', 'c9'],
    ['DEL', 'c0'],
    ['STATUS', 'any'],
  ] as const) {
    const finished = await site.plugin(command, container)
    t.equal(finished.exit, 1, command)
    t.match(finished.stdout, /EROFS/, command)
    t.match(finished.stdout, /mount -o remount,rw/, command)
    t.notMatch(finished.stdout, /systemctl/, command)
  }
  await daemon.stop('SIGKILL')
  const away = await site.plugin('DEL', 'c0')
  t.match(JSON.parse(away.stdout), { code: 11, details: /remount,rw .*IPK_DEL_NOT_QUEUED/ })
  await site.disk.mend()
  daemon = await site.start()
  t.same(await bound(daemon), ['c0', 'c1', 'c2'], 'nothing is lost')
  t.equal((await site.plugin('DEL', 'c0')).exit, 0)
  t.equal((await site.plugin('ADD', 'c3')).exit, 0)
})

t.test('a disk that is too small to keep anything', { skip }, async t => {
  const site = await makeSite(t, undefined, 2)
  let daemon = await site.start()
  t.match((await site.status(daemon)).disk, { reserved: 0, wanted: 0, refuses: null })
  t.equal((await site.plugin('ADD', 'c0')).exit, 0)
  t.equal((await site.plugin('ADD', 'c1')).exit, 0)
  t.equal(await daemon.stop(), 0)
  daemon = await site.start()
  t.equal((await site.plugin('DEL', 'c0')).exit, 0)
  await site.disk.fill()
  t.match((await site.plugin('ADD', 'c2')).stdout, /is full \(ENOSPC\)/)
  await site.disk.makeRoom()
  t.equal((await site.plugin('DEL', 'c1')).exit, 0)
})
