/** Paths of requests and configurations that lead to no file, or to one that does not answer: nobody waits for them. */
import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { queueDel } from '../../plugin/deferred-del.ts'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { mountHung } from '../rigs/hung-mount.ts'
import { until } from '../rigs/poll.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { runProgram } from '../rigs/run-program.ts'
import { makeTempFolder, type TempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')

async function site(t: Test): Promise<{ readonly folder: TempFolder; readonly daemon: Daemon }> {
  const folder = makeTempFolder()
  const daemon = await startDaemon({ socket: folder.file('s'), stateDir: folder.file('state') })
  t.teardown(async () => {
    await daemon.stop('SIGKILL')
    folder.remove()
  })
  return { folder, daemon }
}

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
  const { folder, daemon } = await site(t)
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
    const { folder, daemon } = await site(t)
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
  const folder = makeTempFolder()
  t.teardown(() => {
    folder.remove()
  })
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
