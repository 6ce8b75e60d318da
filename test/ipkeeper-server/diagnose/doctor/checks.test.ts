/** A node with one thing broken: the doctor says which, and what to type; and nothing else is red. */
import {
  chmodSync,
  existsSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { CheckReport } from '../../../../ipkeeper-server/diagnose/doctor/check-result.ts'
import { startDaemon, type Daemon } from '../../../rigs/daemon.ts'
import { until } from '../../../rigs/poll.ts'
import { startPrivateHost, type PrivateHost } from '../../../rigs/private-host.ts'
import { distFolder, missing, testedPlugin } from '../../../rigs/requirements.ts'
import type { Finished } from '../../../rigs/run-program.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'

const skip = missing('executables', 'namespaces')

interface Site {
  readonly host: PrivateHost
  readonly daemon: Daemon
  readonly socket: string
  readonly stateDir: string
  readonly config: string
  /** Folder of conflists, and the one that is in it. */
  readonly nets: string
  readonly conflist: string
  readonly bin: string
  readonly plugin: string
  readonly write: (patch: object) => void
  readonly doctor: (...words: readonly string[]) => Promise<Finished>
  readonly diagnose: () => Promise<readonly CheckReport[]>
}

const main = {
  type: 'ipkeeper',
  capabilities: { 'io.kubernetes.cri.pod-annotations': true },
}

async function makeSite(
  t: Test,
  beforeDaemon?: (host: PrivateHost, stateDir: string) => Promise<unknown>,
): Promise<Site> {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const [socket, stateDir, nets, bin] = [
    folder.file('s'),
    folder.file('state'),
    folder.file('net.d'),
    folder.file('bin'),
  ]
  const config = folder.file('config.yaml')
  for (const path of [stateDir, nets, bin]) mkdirSync(path, { mode: 0o700 })
  writeFileSync(config, 'retention: release\n')
  const plugin = join(bin, 'ipkeeper')
  symlinkSync(testedPlugin, plugin)
  const conflist = join(nets, '10-fixed.conflist')
  const write = (patch: object): void => {
    const ipam = { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.22.0.0/24' }]] }
    const list = { cniVersion: '1.0.0', name: 'fixed', plugins: [{ ...main, ipam, ...patch }] }
    writeFileSync(conflist, JSON.stringify(list, null, 2))
  }
  write({})
  await beforeDaemon?.(host, stateDir)
  const daemon = await startDaemon({ socket, stateDir, host, config })
  const places = ['--socket', socket, '--state-dir', stateDir, '--conf-dir', nets, '--bin-dir', bin]
  const doctor = (...words: readonly string[]): Promise<Finished> =>
    host.run(join(distFolder, 'ipkeeperctl'), ['doctor', ...words, ...places])
  const diagnose = async (): Promise<readonly CheckReport[]> => {
    const { stdout, stderr, exit } = await doctor('-o', 'json')
    if (stderr !== '') throw new Error(stderr)
    const { checks } = JSON.parse(stdout) as { checks: readonly CheckReport[] }
    const failed = checks.some(({ state }) => state === 'fail')
    if (exit !== (failed ? 1 : 0)) throw new Error(`exit ${String(exit)} with ${stdout}`)
    return checks
  }
  return {
    ...{ host, daemon, socket, stateDir, config, nets, conflist, bin, plugin },
    write,
    doctor,
    diagnose,
  }
}

const red = (reports: readonly CheckReport[]): readonly CheckReport[] =>
  reports.filter(({ state }) => state === 'fail')

interface Case {
  readonly name: string
  readonly broken: (site: Site, t: Test) => unknown
  readonly check: string
  readonly says: RegExp
  readonly mend: (site: Site) => readonly string[]
  readonly before?: (host: PrivateHost, stateDir: string) => Promise<unknown>
}

const restart = (): readonly string[] => ['systemctl', 'restart', 'ipkeeper']

/** A pool of which so much is promised to somebody. */
const promised =
  (subnet: string, range: string) =>
  async ({ config, daemon, host, socket }: Site): Promise<void> => {
    writeFileSync(config, `pools: [{ name: small, ranges: [[{ subnet: ${subnet} }]] }]\n`)
    daemon.kill('SIGHUP')
    const tool = join(distFolder, 'ipkeeperctl')
    await until(
      'the pool',
      async () => (await host.run(tool, ['pools', 'small', '--socket', socket])).exit === 0,
    )
    await host.must(tool, ['reserve', range, 'external:rack', '--yes', '--socket', socket])
  }

const cases: readonly Case[] = [
  {
    name: 'the daemon ended, and took its socket with it',
    broken: ({ daemon }) => daemon.stop(),
    check: 'socket',
    says: /^there is no socket /,
    mend: restart,
  },
  {
    name: 'the socket is left of a daemon that was killed',
    broken: ({ daemon }) => daemon.stop('SIGKILL'),
    check: 'socket',
    says: /was left by a daemon that is no longer running/,
    mend: restart,
  },
  {
    name: 'everybody may use the socket',
    broken: ({ socket }) => {
      chmodSync(socket, 0o666)
    },
    check: 'socket',
    says: /has mode 0666/,
    mend: ({ socket }) => ['chmod', '0600', socket],
  },
  {
    name: 'the daemon hangs',
    broken: async ({ daemon, socket }, t) => {
      await daemon.stop('SIGKILL')
      unlinkSync(socket)
      const connections = new Set<Socket>()
      const silent = createServer(connection => connections.add(connection)).listen(socket)
      await once(silent, 'listening')
      chmodSync(socket, 0o600)
      t.teardown(() => {
        for (const connection of connections) connection.destroy()
        silent.close()
      })
    },
    check: 'daemon',
    says: /did not answer within 4 s/,
    mend: restart,
  },
  {
    name: 'a change of its file was refused',
    broken: async ({ daemon, config, diagnose }) => {
      writeFileSync(config, 'pols: []\n')
      daemon.kill('SIGHUP')
      await until('a red check', async () => red(await diagnose()).length > 0)
    },
    check: 'config',
    says: /unknown key|pols/,
    mend: ({ config, socket }) => ['ipkeeper-server', 'check-config', config, '--socket', socket],
  },
  {
    name: 'the plugin is not installed',
    broken: ({ plugin }) => {
      unlinkSync(plugin)
    },
    check: 'plugin',
    says: /^no ipkeeper in /,
    mend: ({ bin }) => ['make', 'install', `CNI_BIN_DIR=${bin}`],
  },
  {
    name: 'the plugin is not executable',
    broken: ({ plugin }) => {
      unlinkSync(plugin)
      cpSync(testedPlugin, plugin)
      chmodSync(plugin, 0o644)
    },
    check: 'plugin',
    says: /is not executable/,
    mend: ({ plugin }) => ['chmod', '0755', plugin],
  },
  {
    name: 'the plugin is of another version',
    broken: ({ plugin }) => {
      unlinkSync(plugin)
      writeFileSync(plugin, '#!/bin/sh\necho CNI ipkeeper plugin v9.9.9 >&2\n', { mode: 0o755 })
    },
    check: 'plugin',
    says: /is 9\.9\.9, and ipkeeper-server /,
    mend: ({ bin }) => ['make', 'install', `CNI_BIN_DIR=${bin}`],
  },
  {
    name: 'a plugin whose loader is not there, as on a host without glibc',
    broken: ({ plugin }) => {
      const bytes = readFileSync(testedPlugin)
      const at = bytes.indexOf('/ld-linux')
      unlinkSync(plugin)
      writeFileSync(plugin, bytes.fill('xx', at + 1, at + 3), { mode: 0o755 })
    },
    check: 'plugin',
    says: /does not start: it needs \/lib.*\/xx-linux\S+, which does not exist/,
    mend: () => [
      'ls',
      '-l',
      process.arch === 'x64' ? '/lib64/xx-linux-x86-64.so.2' : '/lib/xx-linux-aarch64.so.1',
    ],
  },
  {
    name: 'another program in the place of the plugin',
    broken: ({ plugin }) => {
      unlinkSync(plugin)
      writeFileSync(plugin, '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 })
    },
    check: 'plugin',
    says: /is not the ipkeeper plugin/,
    mend: ({ bin }) => ['make', 'install', `CNI_BIN_DIR=${bin}`],
  },
  {
    name: 'plugin and daemon have different state folders',
    broken: ({ write, socket }) => {
      write({
        ipam: { type: 'ipkeeper', socket, stateDir: '/nowhere', ranges: [[{ subnet: '10.22.0.0/24' }]] },
      })
    },
    check: 'state-folder',
    says: /has the state folder \/nowhere, and the daemon /,
    mend: ({ conflist }) => ['ipkeeperctl', 'lint', conflist],
  },
  {
    name: 'a comma too many in the conflist',
    broken: ({ conflist }) => {
      writeFileSync(
        conflist,
        '{\n  "cniVersion": "1.0.0",\n  "name": "fixed",\n  "plugins": [{ "type": "x" }],\n}\n',
      )
    },
    check: 'conflist',
    says: /10-fixed\.conflist:4:31: a comma before "\}"/,
    mend: ({ conflist }) => ['ipkeeperctl', 'lint', conflist],
  },
  {
    name: 'a conflist that is a pipe',
    broken: async ({ conflist, host }) => {
      unlinkSync(conflist)
      await host.must('mkfifo', [conflist])
    },
    check: 'conflist',
    says: /10-fixed\.conflist:1:1: .*a pipe, no regular file/,
    mend: ({ conflist }) => ['ipkeeperctl', 'lint', conflist],
  },
  {
    name: 'no folder of conflists',
    broken: ({ nets }) => {
      rmSync(nets, { recursive: true })
    },
    check: 'conflist',
    says: /cannot be read: there is no such folder/,
    mend: ({ nets }) => ['ls', '-la', nets],
  },
  {
    name: 'another plugin of the chain is missing',
    broken: ({ write, bin, socket, stateDir }) => {
      writeFileSync(join(bin, 'other'), '')
      write({
        type: 'no-such-plugin',
        ipam: { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.22.0.0/24' }]] },
      })
    },
    check: 'bin-dir',
    says: /: no-such-plugin$/,
    mend: ({ bin }) => ['ls', '-l', bin],
  },
  {
    name: 'there is no ip',
    broken: async ({ host }) => {
      for (const folder of ['/usr/sbin', '/sbin', '/usr/bin', '/bin'])
        await host.run('sh', [
          '-c',
          `[ ! -x ${folder}/ip ] || mount --bind /dev/null "$(readlink -f ${folder}/ip)"`,
        ])
    },
    check: 'tools',
    says: /^missing: ip$/,
    mend: () => ['apt-get', 'install', 'iproute2'],
  },
  {
    name: 'the state folder is full',
    before: (host, stateDir) =>
      host.must('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=0700', 'tmpfs', stateDir]),
    broken: ({ host, stateDir }) =>
      host.run('sh', ['-c', `dd if=/dev/zero of=${stateDir}/fill bs=64k 2>/dev/null`]),
    check: 'store',
    says: /has 0 MiB free|is full \(ENOSPC\): no pod can be added until there is space again/,
    mend: ({ stateDir }) => ['df', '-h', stateDir],
  },
  {
    name: 'the state folder is read-only',
    broken: async ({ host, stateDir }) => {
      // Until then the daemon writes there by itself.
      for (const last of ['reserve/15', 'spare-dels/15/15'])
        await until(last, () => Promise.resolve(existsSync(join(stateDir, last))))
      await host.must('sh', [
        '-c',
        `mount --bind ${stateDir} ${stateDir} && mount -o remount,ro,bind ${stateDir}`,
      ])
    },
    check: 'store',
    says: /is read-only/,
    mend: ({ stateDir }) => ['findmnt', '-T', stateDir],
  },
  {
    name: 'everybody may write to the state folder',
    broken: ({ stateDir }) => {
      chmodSync(stateDir, 0o777)
    },
    check: 'store',
    says: /users other than its owner may write/,
    mend: ({ stateDir }) => ['chmod', '0700', stateDir],
  },
  {
    name: 'a DEL in quarantine',
    broken: ({ stateDir }) => {
      const folder = join(stateDir, 'quarantine')
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'deferred-dels-1.json'), 'x')
      writeFileSync(join(folder, 'deferred-dels-1.json.reason'), 'no JSON')
    },
    check: 'deferred-dels',
    says: /^1 DEL was quarantined in /,
    mend: ({ stateDir }) => ['grep', '-r', '.', join(stateDir, 'quarantine')],
  },
  {
    name: 'a remembered result of another network without bytes',
    broken: async ({ host, diagnose }) => {
      await host.must('sh', [
        '-ec',
        'cd /var/lib/cni; mkdir -p results; : >results/cbr0-3f2a91c0d1e2-eth0; mkfifo results/pipe',
      ])
      // It is judged when it has been at rest for some seconds.
      await until('a red check', async () => red(await diagnose()).length > 0)
    },
    check: 'result-cache',
    says: /cbr0-3f2a91c0d1e2-eth0/,
    mend: () => ['ipkeeperctl', 'cache', 'scan'],
  },
  {
    name: 'a pool that is full',
    broken: promised('10.99.0.0/29', '10.99.0.2-10.99.0.6'),
    check: 'pools',
    says: /^small \(IPv4\) has 0 of 5 addresses free: 0 in use, 5 kept or reserved$/,
    mend: ({ socket }) => ['ipkeeperctl', 'pools', '--socket', socket, 'small'],
  },
]

/** Of which pods are made all the same. */
const doubtful: readonly Case[] = [
  {
    name: 'a conflist that leads out of its folder',
    broken: ({ conflist }) => {
      unlinkSync(conflist)
      symlinkSync('/etc/shadow', conflist)
    },
    check: 'conflist',
    says: /10-fixed\.conflist:1:1: .*link out of the folder/,
    mend: ({ conflist }) => ['ipkeeperctl', 'lint', conflist],
  },
  {
    name: 'the runtime passes no annotations on',
    broken: ({ write }) => {
      write({ capabilities: {} })
    },
    check: 'capabilities',
    says: /lacks "capabilities": \{ "io\.kubernetes\.cri\.pod-annotations": true \}/,
    mend: ({ conflist }) => ['ipkeeperctl', 'lint', conflist],
  },
  {
    name: 'a pool that is nearly full',
    broken: promised('10.99.0.0/28', '10.99.0.2-10.99.0.13'),
    check: 'pools',
    says: /^small \(IPv4\) has 1 of 13 addresses free/,
    mend: ({ socket }) => ['ipkeeperctl', 'pools', '--socket', socket, 'small'],
  },
]

t.test('a node in order', { skip }, async t => {
  const { diagnose, doctor, socket } = await makeSite(t)
  const reports = await diagnose()
  t.strictSame(red(reports), [])
  for (const id of [
    'socket',
    'daemon',
    'config',
    'plugin',
    'state-folder',
    'conflist',
    'capabilities',
    'bin-dir',
  ])
    t.match(
      reports.find(report => report.id === id),
      { state: 'ok' },
      id,
    )
  for (const id of [
    'process-capabilities',
    'netns-propagation',
    'store',
    'deferred-dels',
    'result-cache',
    'old-boot',
  ])
    t.match(
      reports.find(report => report.id === id),
      { state: 'ok' },
      id,
    )
  const { stdout, exit } = await doctor()
  t.equal(exit, 0)
  t.match(stdout, new RegExp(`^ok {4}socket +${socket} answers, mode 0600$`, 'm'))
  t.match(stdout, /^32 checks: \d+ ok, \d+ warnings?, 0 failed, \d+ skipped$/m)
})

for (const { name, broken, check, says, mend, before } of cases) {
  t.test(name, { skip }, async t => {
    const site = await makeSite(t, before)
    await broken(site, t)
    const reports = await site.diagnose()
    t.match(red(reports), [{ id: check, says, mend: mend(site) }])
    t.strictSame(
      red(reports).map(({ id }) => id),
      [check],
      'nothing else is red',
    )
    const { stdout } = await site.doctor()
    t.match(stdout, new RegExp(`^FAIL {2}${check} `, 'm'))
    t.match(stdout, /^ +impact {2}\S.*\n +fix {5}\S/m)
  })
}

for (const { name, broken, check, says, mend } of doubtful) {
  t.test(name, { skip }, async t => {
    const site = await makeSite(t)
    await broken(site, t)
    const reports = await site.diagnose()
    t.strictSame(red(reports), [])
    t.match(
      reports.find(({ id }) => id === check),
      { state: 'warn', says, mend: mend(site) },
    )
  })
}

t.test('what cannot be looked at is no fault', { skip }, async t => {
  const { daemon, diagnose } = await makeSite(t)
  await daemon.stop()
  const reports = await diagnose()
  t.strictSame(
    red(reports).map(({ id }) => id),
    ['socket'],
    'the daemon is away, in order',
  )
  for (const id of [
    'daemon',
    'config',
    'state-folder',
    'process-capabilities',
    'old-boot',
    'audit',
    'kubernetes-api',
  ])
    t.match(
      reports.find(report => report.id === id),
      { state: 'skip', says: /\S/ },
      id,
    )
  t.match(
    reports.find(report => report.id === 'plugin'),
    { state: 'ok' },
    'the node itself is looked at',
  )
})

t.test('folders that the daemon was told of need not be named', { skip }, async t => {
  const { daemon, config, host, socket, stateDir, nets, bin, conflist } = await makeSite(t)
  await daemon.stop()
  writeFileSync(config, `conflist:\n  directory: ${nets}\n  binDirs: ['${bin}']\n`)
  await startDaemon({ socket, stateDir, host, config })
  const words = ['doctor', '-o', 'json', '--socket', socket, '--state-dir', stateDir]
  const { stdout } = await host.run(join(distFolder, 'ipkeeperctl'), words)
  const { checks } = JSON.parse(stdout) as { checks: readonly CheckReport[] }
  const says = (id: string) => checks.find(report => report.id === id)?.says ?? ''
  t.match(says('conflist'), conflist)
  t.match(says('plugin'), join(bin, 'ipkeeper'))
})

t.test('DELs that wait', { skip }, async t => {
  const { daemon, diagnose, stateDir } = await makeSite(t)
  await daemon.stop()
  const file = join(stateDir, 'deferred-dels', 'one.json')
  writeFileSync(file, '{}')
  utimesSync(file, new Date(0), new Date(0))
  t.match(
    (await diagnose()).find(({ id }) => id === 'deferred-dels'),
    { state: 'warn', says: /^1 in .*until the daemon is back/, mend: ['systemctl', 'restart', 'ipkeeper'] },
  )
  // One that came on a full disk; the others are free, or being written.
  const spares = join(stateDir, 'spare-dels', '15')
  mkdirSync(spares, { recursive: true })
  for (const name of ['3d', '4', '5w']) writeFileSync(join(spares, name), '{}')
  t.match(
    (await diagnose()).find(({ id }) => id === 'deferred-dels'),
    {
      state: 'warn',
      says: `2 in ${stateDir}/deferred-dels and ${stateDir}/spare-dels, until the daemon is back`,
    },
  )
})
