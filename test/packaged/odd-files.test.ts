/** Paths of requests and configurations that lead to no file, or to one that does not answer: nobody waits for them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { queueDel } from '../../plugin/deferred-del.ts'
import { startDaemon, startOwnDaemon, type Daemon } from '../rigs/daemon.ts'
import { mountHung } from '../rigs/hung-mount.ts'
import { until } from '../rigs/poll.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { mustRun, runProgram } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')

interface Asked {
  readonly containerId?: string
  readonly netns?: string
  readonly resolvConf?: string
  readonly type?: string
}

const bodyOf = ({ containerId = 'c1', netns = '/run/netns/none', resolvConf, type = 'bridge' }: Asked) => ({
  ...{ containerId, netns, ifname: 'eth0', args: '', path: '/opt/cni/bin' },
  config: {
    ...{ cniVersion: '1.1.0', name: 'net', type, bridge: 'ipkodd0' },
    ipam: { type: 'ipkeeper', subnet: '10.22.0.0/24', ...(resolvConf !== undefined && { resolvConf }) },
  },
})

const verb = (daemon: Daemon, name: string, asked: Asked) =>
  daemon.ask('POST', `/v1/cni/${name}`, bodyOf(asked))

/** How long others wait for the daemon, while `work` is under way: the longest of many answers, in milliseconds. */
async function longestWait(daemon: Daemon, work: Promise<unknown>): Promise<number> {
  let [going, longest] = [true, 0]
  const ended = work.finally(() => (going = false))
  do {
    const started = performance.now()
    await daemon.ask('GET', '/v1/health')
    longest = Math.max(longest, performance.now() - started)
  } while (going)
  await ended
  return longest
}

t.test('pipes, sockets, devices and folders in place of resolv.conf', { skip }, async t => {
  const { folder, daemon } = await startOwnDaemon(t)
  execFileSync('mkfifo', [folder.file('pipe')])
  symlinkSync('pipe', folder.file('link'))
  const rows: readonly [path: string, why: RegExp][] = [
    [folder.file('pipe'), /a pipe, no regular file/],
    [folder.file('link'), /a pipe, no regular file/],
    [daemon.socket, /ENXIO/],
    ['/dev/zero', /a device, no regular file/],
    [folder.path, /EISDIR/],
    [folder.file('none'), /ENOENT/],
  ]
  for (const [resolvConf, why] of rows)
    for (const name of ['add', 'status']) {
      const { status, body } = await verb(daemon, name, { resolvConf })
      t.equal(status, 400, `${name}, ${resolvConf}`)
      t.match(JSON.parse(body), { code: 'IPK_CONFIG_INVALID', message: why }, `${name}, ${resolvConf}`)
    }
  t.equal((await verb(daemon, 'del', { resolvConf: folder.file('pipe') })).status, 200, 'a DEL reads none')
  t.equal((await verb(daemon, 'add', { netns: folder.file('pipe') })).status, 200, 'a pipe is no namespace')
})

t.test(
  'files and namespaces on a file system that hangs',
  { skip: missing('executables', 'fuse') },
  async t => {
    const { folder, daemon } = await startOwnDaemon(t)
    const hung = await mountHung(folder.file('hung'))
    t.teardown(() => {
      hung.end()
    })
    const resolvConf = join(hung.path, 'resolv.conf')
    const netns = join(hung.path, 'netns')
    const hangs = async (name: string, asked: Asked): Promise<void> => {
      const { status, body } = await verb(daemon, name, asked)
      const what = `${name} ${JSON.stringify(asked)}`
      t.equal(status, 503, what)
      t.match(JSON.parse(body), { code: 'IPK_FILE_HANGS', cniCode: 11, retryable: true }, what)
    }
    const others = await longestWait(
      daemon,
      Promise.all([
        ...Array.from({ length: 8 }, (_, nth) => hangs('add', { containerId: `r${nth}`, resolvConf })),
        ...Array.from({ length: 8 }, (_, nth) => hangs('add', { containerId: `n${nth}`, netns })),
        hangs('status', { resolvConf }),
        hangs('del', { containerId: 'gone', netns, type: 'ipkeeper' }),
      ]),
    )
    t.ok(others < 2_000, `nobody else waited for longer than ${others} ms`)
    const allocation = { source: 'host-local', apply: false, networks: [], found: [] }
    t.equal((await daemon.ask('POST', '/v1/import', allocation)).status, 200)
    t.equal(
      (await verb(daemon, 'add', { containerId: 'well' })).status,
      200,
      'a pod of elsewhere gets its address',
    )
    t.match(await daemon.boundLeases(), [{ containerId: 'well' }], 'and nobody else has one')
    // What plugins left in files needs threads too.
    const entry = { version: 1, queuedAt: new Date().toISOString(), request: bodyOf({ containerId: 'well' }) }
    const text = JSON.stringify(entry)
    // As the plugin does: a file that the daemon finds half written goes to quarantine.
    queueDel(daemon.stateDir, { name: 'well.json', writer: 'w', text, brief: text })
    await until('a deferred DEL is carried out', async () => (await daemon.boundLeases()).length === 0)

    hung.end()
    await until('it answers again', async () => (await verb(daemon, 'add', { netns })).status === 200)
  },
)

t.test('the same in files that a person or a configuration names', { skip }, async t => {
  const folder = tempFolder(t)
  const pipe = folder.file('pipe')
  execFileSync('mkfifo', [pipe])
  const config = (name: string, text: string): string => {
    writeFileSync(folder.file(name), text)
    return folder.file(name)
  }
  let daemons = 0
  const serve = (): readonly string[] => {
    const name = folder.file(String(++daemons))
    return ['serve', '--socket', `${name}.sock`, '--state-dir', name]
  }
  const etcd = (more: string): string => `store: { etcd: { ${more} } }`
  const server = 'ipkeeper-server'
  const rows: readonly [name: string, program: string, args: readonly string[], says: RegExp][] = [
    ['a configuration', server, [...serve(), '--config', pipe], /a pipe, no regular file/],
    ['check-config', server, ['check-config', pipe], /a pipe, no regular file/],
    [
      'a kubeconfig',
      server,
      [...serve(), '--config', config('k.yaml', `kubernetes: { mode: kubeconfig, kubeconfig: "${pipe}" }`)],
      /kubeconfig cannot be read \(a pipe/,
    ],
    [
      'an authority',
      server,
      [
        ...serve(),
        ...['--config', config('e.yaml', etcd(`caFile: "${pipe}"`)), '--store', 'etcd:https://127.0.0.1:1'],
      ],
      /certificate authority cannot be read \(a pipe/,
    ],
    [
      'a password',
      server,
      [
        ...serve(),
        ...['--config', config('p.yaml', etcd(`user: a, passwordFile: "${pipe}"`))],
        ...['--store', 'etcd:http://127.0.0.1:1'],
      ],
      /password cannot be read \(a pipe/,
    ],
    [
      'a backup',
      'ipkeeperctl',
      ['restore', pipe, '--state-dir', folder.file('restored')],
      /a pipe, no regular file/,
    ],
    ['a network', 'ipkeeperctl', ['lint', pipe], /a pipe/],
    ['a conflist to try', 'ipkeeperctl', ['try', pipe], /not a regular file/],
    [
      'a plugin to install',
      server,
      ['install', '--plugin', pipe, '--bin-dir', folder.file('bin')],
      /there is no plugin/,
    ],
  ]
  await Promise.all(
    rows.map(async ([name, program, args, says]) => {
      const finished = await runProgram(join(distFolder, program), args, { timeoutMs: 30_000 })
      t.equal(finished.signal, null, `${name}: it ended by itself`)
      t.not(finished.exit, 0, `${name}: with an error`)
      t.match(finished.stdout + finished.stderr, says, name)
    }),
  )
})

interface OddState {
  readonly name: string
  /** Of the state folder. */
  readonly file: string
  readonly make: (path: string) => void
  readonly says: RegExp
}

const pipe = (path: string): void => void execFileSync('mkfifo', [path])
const text = (path: string): void => {
  writeFileSync(path, 'neither ours nor empty')
}

const oddStates: readonly OddState[] = [
  { name: 'a pipe', file: 'node.json', make: pipe, says: /a pipe, no regular file/ },
  { name: 'a folder', file: 'node.json', make: mkdirSync, says: /EISDIR/ },
  {
    name: 'a pipe',
    file: 'leases.db-wal',
    make: pipe,
    says: /its log .* cannot be read \(a pipe, no regular file\)/,
  },
  { name: 'a folder', file: 'leases.db-wal', make: mkdirSync, says: /its log .* cannot be read \(EISDIR\)/ },
  { name: 'another file', file: 'daemon.lock', make: text, says: /cannot be locked: file is not a database/ },
  { name: 'a pipe', file: 'daemon.lock', make: pipe, says: /cannot be locked/ },
  { name: 'a folder', file: 'daemon.lock', make: mkdirSync, says: /cannot be locked/ },
  { name: 'a file', file: 'deferred-dels', make: text, says: /deferred-dels is no folder/ },
  {
    name: 'a link to nothing',
    file: 'deferred-dels',
    make: path => {
      symlinkSync('/nonexistent/x', path)
    },
    says: /deferred-dels is no folder/,
  },
]

t.test('something else stands where the state folder has its own', { skip, timeout: 120_000 }, async t => {
  for (const { name, file, make, says } of oddStates)
    await t.test(`${name} in place of ${file}`, async t => {
      const { daemon } = await startOwnDaemon(t)
      const { socket, stateDir } = daemon
      t.equal((await verb(daemon, 'add', {})).status, 200)
      await daemon.stop()
      rmSync(join(stateDir, file), { recursive: true, force: true })
      make(join(stateDir, file))
      const args = ['serve', '--socket', socket, '--state-dir', stateDir]
      const refused = await runProgram(join(distFolder, 'ipkeeper-server'), args, { timeoutMs: 30_000 })
      t.equal(refused.signal, null, 'it ended by itself')
      t.equal(refused.exit, 1)
      t.match(refused.stderr, says)
      const remedy = /(?:^|\s)(mv \S+ \S+)$/m.exec(refused.stderr)?.[1] ?? 'false'
      await mustRun('sh', ['-c', remedy])
      const next = await startDaemon({ socket, stateDir })
      t.teardown(() => next.stop('SIGKILL'))
      t.match(await next.boundLeases(), [{ containerId: 'c1' }], `after ${remedy} it has what it had`)
    })
})

t.test('a folder of the state that became a file: status and metrics are served', { skip }, async t => {
  const { daemon } = await startOwnDaemon(t)
  const queue = join(daemon.stateDir, 'deferred-dels')
  renameSync(queue, `${queue}.away`)
  // The daemon makes it anew, unless something else is there.
  rmSync(queue, { recursive: true, force: true })
  writeFileSync(queue, '')
  for (const path of ['/v1/status', '/metrics']) t.equal((await daemon.ask('GET', path)).status, 200, path)
})

t.test('a link in place of the database', { skip }, async t => {
  const { daemon } = await startOwnDaemon(t)
  const { socket, stateDir } = daemon
  const database = join(stateDir, 'leases.db')
  t.equal((await verb(daemon, 'add', {})).status, 200)
  renameSync(database, join(stateDir, 'real.db'))
  symlinkSync('real.db', database)
  const { status, body } = await verb(daemon, 'add', { containerId: 'c2' })
  t.equal(status, 503, 'nobody will look for its log beside the link')
  t.match(JSON.parse(body), { code: 'IPK_STORE_LOST', message: /is another file than at the start/ })
  await daemon.stop('SIGKILL')
  const args = ['serve', '--socket', socket, '--state-dir', stateDir]
  const refused = await runProgram(join(distFolder, 'ipkeeper-server'), args, { timeoutMs: 30_000 })
  t.equal(refused.exit, 1)
  t.match(refused.stderr, /is a symbolic link/)
  await mustRun('sh', ['-c', /(mv -T .*)$/m.exec(refused.stderr)?.[1] ?? 'false'])
  const next = await startDaemon({ socket, stateDir })
  t.teardown(() => next.stop('SIGKILL'))
  t.match(await next.boundLeases(), [{ containerId: 'c1' }])
})
