/** A ledger that is not there, on a node that shows that there was one. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { startEtcdCluster } from '../rigs/etcd.ts'
import { logs } from '../rigs/logs.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { runProgram, type Finished } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { makeWiredNode } from '../rigs/wired-node.ts'

const skip = missing('executables')
const server = join(distFolder, 'ipkeeper-server')

interface Store {
  readonly database: 'leases.db' | 'journal.db'
  /** Arguments of serve. */
  readonly args: readonly string[]
}

/** How containers get their addresses, of which libcni keeps what an ADD said. */
interface Cached {
  readonly pod: string
  readonly address: string
  /** A plugin of its network. */
  readonly plugin: object
  /** One plugin alone, as of a network that is no list. */
  readonly alone?: true
}

const containerOf = (pod: string): string => Buffer.from(pod).toString('hex').padEnd(64, '0')

function makeSite(t: Test, { database, args }: Store) {
  const folder = tempFolder(t)
  const [socket, stateDir, results] = [folder.file('s'), folder.file('state'), folder.file('results')]
  mkdirSync(results)
  const id = randomBytes(4).toString('hex')
  const config = folder.file('config.yaml')
  writeFileSync(
    config,
    JSON.stringify({
      node: `n-${id}`,
      kubernetes: { mode: 'off' },
      resultCache: { folders: { results: [results] } },
    }),
  )
  const running: Daemon[] = []
  t.teardown(async () => {
    for (const daemon of running) await daemon.stop('SIGKILL')
  })
  const own = { type: 'bridge', ipam: { type: 'ipkeeper', socket, stateDir, subnet: '10.22.0.0/24' } }
  const file = (name: string): string => join(stateDir, name)
  return {
    ...{ id, stateDir, results, own, database, file, marker: file('begin-anew') },
    start: async (executable = server) => {
      const daemon = await startDaemon({ socket, stateDir, config, args, executable })
      running.push(daemon)
      return daemon
    },
    /** The daemon, on a machine on which a script was run for its folder of states. */
    onMachine: (script: string): string => {
      const path = folder.file('server')
      const inside = `mount -t tmpfs tmpfs /var/lib; ${script}; exec "$0" "$@"`
      writeFileSync(path, `#!/bin/sh\nexec unshare --mount sh -ec '${inside}' ${server} "$@"\n`, {
        mode: 0o755,
      })
      return path
    },
    /** To its end, since it is to be refused. */
    serve: (executable = server): Promise<Finished> =>
      runProgram(
        executable,
        ['serve', '--socket', socket, '--state-dir', stateDir, '--config', config, ...args],
        {
          env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
          timeoutMs: 20_000,
        },
      ),
    /** As libcni writes it after an ADD. */
    cache: ({ pod, address, plugin, alone }: Cached): void => {
      const network = { cniVersion: '1.0.0', name: 'net' }
      const bytes = JSON.stringify(alone ? { ...network, ...plugin } : { ...network, plugins: [plugin] })
      const cached = {
        kind: 'cniCacheV1',
        containerId: containerOf(pod),
        config: Buffer.from(bytes).toString('base64'),
        ifName: 'eth0',
        networkName: 'net',
        cniArgs: [
          ['IgnoreUnknown', '1'],
          ['K8S_POD_NAMESPACE', 'shop'],
          ['K8S_POD_NAME', pod],
        ],
        result: { cniVersion: '1.0.0', ips: [{ address: `${address}/24` }], dns: {} },
      }
      writeFileSync(join(results, `net-${containerOf(pod)}-eth0`), JSON.stringify(cached))
    },
    add: async (daemon: Daemon, pod: string): Promise<string> => {
      const { status, body } = await daemon.ask('POST', '/v1/cni/add', {
        containerId: containerOf(pod),
        netns: '/run/netns/none',
        ifname: 'eth0',
        args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod};K8S_POD_UID=u1`,
        path: '/opt/cni/bin',
        config: { cniVersion: '1.0.0', name: 'net', ...own },
      })
      if (status !== 200) throw new Error(body)
      const { result } = JSON.parse(body) as { result: { ips: readonly { address: string }[] } }
      return result.ips[0]?.address.split('/')[0] ?? ''
    },
    remove: (wanted: (name: string) => boolean): void => {
      for (const name of readdirSync(stateDir))
        if (wanted(name)) rmSync(file(name), { recursive: true, force: true })
    },
  }
}

type Site = ReturnType<typeof makeSite>

const isOfDatabase = (name: string): boolean => /^(leases|journal)\.db/.test(name)

interface Loss {
  readonly name: string
  readonly happens: (site: Site) => void
  /** Besides what is the same in each case. */
  readonly says: RegExp
  /** With all that is the same in each case. */
  readonly thorough?: true
  /** Whether the runtime's records of results are there; else what stands in the state folder alone tells. */
  readonly cached: boolean
}

const losses: readonly Loss[] = [
  {
    name: 'the database and its log are removed',
    happens: site => {
      site.remove(isOfDatabase)
    },
    says: /is missing, and there was one: last-change\.\S+\.db/,
    cached: false,
    thorough: true,
  },
  {
    name: 'the folder is emptied',
    happens: site => {
      site.remove(() => true)
    },
    says: /is missing, and there was one/,
    cached: true,
  },
  {
    name: 'the folder itself is gone',
    happens: ({ stateDir }) => {
      rmSync(stateDir, { recursive: true })
    },
    says: /is missing, and there was one/,
    cached: true,
  },
  {
    name: 'the database is cut to nothing, and all else is gone',
    happens: ({ database, file, remove }) => {
      remove(name => name !== database)
      truncateSync(file(database))
    },
    says: /is empty \(0 bytes\), and there was one/,
    cached: false,
  },
  {
    name: 'a database without any record takes its place',
    happens: ({ database, file, remove }) => {
      remove(() => true)
      const { status, stderr } = makeUnused(file(database))
      if (status !== 0) throw new Error(stderr)
    },
    says: /has never been written to, and there was one/,
    cached: true,
    thorough: true,
  },
]

function makeUnused(path: string): { readonly status: number | null; readonly stderr: string } {
  const script = `
    const { DatabaseSync } = require('node:sqlite')
    new DatabaseSync(process.argv[1]).exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); DROP TABLE t')`
  return spawnSync(process.execPath, ['-e', script, path], { encoding: 'utf8' })
}

interface StoreRow {
  readonly skip: string | false
  readonly of: (t: Test) => Promise<Store>
  readonly wanted: (loss: Loss) => boolean
}

const stores: Readonly<Record<string, StoreRow>> = {
  embedded: { skip, of: () => Promise.resolve({ database: 'leases.db', args: [] }), wanted: () => true },
  'journal of an etcd': {
    skip: missing('executables', 'etcd'),
    of: async t => {
      const { urls } = await startEtcdCluster(t)
      return { database: 'journal.db', args: ['--store', `etcd:${urls.join(',')}`] }
    },
    wanted: ({ thorough }) => thorough === true,
  },
}

for (const [kind, { skip, of, wanted }] of Object.entries(stores)) {
  t.test(kind, { skip }, async t => {
    const store = await of(t)
    for (const { name, happens, says, cached, thorough } of losses.filter(wanted)) {
      t.test(name, async t => {
        const site = makeSite(t, store)
        const first = await site.start()
        const pods = [`a-${site.id}`, `b-${site.id}`]
        const addresses: string[] = []
        for (const pod of pods) addresses.push(await site.add(first, pod))
        if (cached)
          pods.forEach((pod, index) => {
            site.cache({
              pod,
              address: addresses[index] ?? '',
              plugin: site.own,
              ...(index === 0 && { alone: true }),
            })
          })
        await first.stop('SIGKILL')
        happens(site)

        for (const time of thorough ? ['once', 'and once more'] : ['once']) {
          const { exit, stderr } = await site.serve()
          t.equal(exit, 1, time)
          t.match(stderr, /^error: store \S+\.db .*\[IPK_STORE_MISSING\]$/m)
          t.match(stderr, says)
          t.match(stderr, `touch ${site.marker}`, 'one way on')
          t.match(stderr, /ipkeeperctl restore .*ipkeeperctl rescue/, 'the other one')
          if (cached)
            pods.forEach((pod, index) => {
              t.match(stderr, `${addresses[index] ?? ''} shop/${pod}`)
            })
        }

        writeFileSync(site.marker, '')
        const anew = await site.start()
        t.notOk(existsSync(site.marker), 'it is used once')
        await logs(t, anew, /starts empty, as .* asks/)
        if (cached)
          for (const pod of pods)
            await logs(t, anew, `shop/${pod} (container `, 'and what was seen is on record')
        if (!thorough) return

        await anew.stop('SIGKILL')
        const next = await site.start()
        await site.add(next, `c-${site.id}`)
        await next.stop('SIGKILL')
        site.remove(isOfDatabase)
        t.match((await site.serve()).stderr, /\[IPK_STORE_MISSING\]$/m, 'what is lost again is told again')
      })
    }
  })
}

const embedded: Store = { database: 'leases.db', args: [] }

interface New {
  readonly name: string
  readonly prepare: (site: Site) => void
}

const news: readonly New[] = [
  {
    name: 'no state folder, and no cache',
    prepare: ({ results }) => {
      rmSync(results, { recursive: true })
    },
  },
  {
    name: 'pods of another plugin',
    prepare: site => {
      const plugin = { type: 'bridge', ipam: { type: 'host-local', subnet: '10.22.0.0/24' } }
      site.cache({ pod: 'a', address: '10.22.0.2', plugin })
    },
  },
  {
    name: 'pods of an ipkeeper with another state folder',
    prepare: site => {
      const plugin = { type: 'bridge', ipam: { ...site.own.ipam, stateDir: '/var/lib/another' } }
      site.cache({ pod: 'a', address: '10.22.0.2', plugin })
    },
  },
  {
    name: 'a cache with what is no Result',
    prepare: ({ results }) => {
      mkdirSync(join(results, 'folder'))
      symlinkSync('/etc/passwd', join(results, 'link'))
      writeFileSync(join(results, 'net-a-eth0'), '{"kind":"cniCacheV1","config":"')
      writeFileSync(join(results, 'net-b-eth0'), '{"kind":"cniCacheV1","config":"e30="}')
      writeFileSync(join(results, 'net-c-eth0'), '')
    },
  },
  {
    name: 'what a plugin left that has found no daemon',
    prepare: ({ stateDir }) => {
      mkdirSync(join(stateDir, 'flights'), { recursive: true })
      mkdirSync(join(stateDir, 'deferred-dels'))
      writeFileSync(join(stateDir, 'flights', '1'), 'add\n')
    },
  },
]

for (const { name, prepare } of news) {
  t.test(`new: ${name}`, { skip }, async t => {
    const site = makeSite(t, embedded)
    prepare(site)
    const daemon = await site.start()
    t.match(await site.add(daemon, 'a'), /^10\.22\.0\./)
  })
}

t.test(
  'pods whose plugin had its state folder from its environment',
  { skip: missing('executables', 'namespaces') },
  async t => {
    const site = makeSite(t, embedded)
    site.cache({ pod: 'a', address: '10.22.0.2', plugin: { type: 'ptp', ipam: { type: 'ipkeeper' } } })
    const { exit, stderr } = await site.serve(site.onMachine('true'))
    t.equal(exit, 1)
    t.match(stderr, /a result of an ADD \[IPK_STORE_MISSING\]\n +10\.22\.0\.2 shop\/a /)
    const usual = '/var/lib/ipkeeper'
    const another = await site.start(site.onMachine(`mkdir ${usual}; touch ${usual}/node.json`))
    t.match(
      await site.add(another, 'b'),
      /^10\.22\.0\./,
      'they may be of another ipkeeper that uses the usual one',
    )
  },
)

t.test('a marker that is none', { skip }, async t => {
  const site = makeSite(t, embedded)
  mkdirSync(site.stateDir, { mode: 0o700 })
  site.cache({ pod: 'a', address: '10.22.0.2', plugin: site.own })
  for (const [what, make] of [
    [
      'a symbolic link',
      () => {
        symlinkSync('/etc/hostname', site.marker)
      },
    ],
    [
      'a folder',
      () => {
        mkdirSync(site.marker)
      },
    ],
  ] as const) {
    make()
    const { exit, stderr } = await site.serve()
    t.equal(exit, 1)
    t.match(stderr, `${site.marker} is not a regular file`, what)
    rmSync(site.marker, { recursive: true })
  }
  t.ok(statSync('/etc/hostname').isFile())
})

t.test('a marker that nobody needs', { skip }, async t => {
  const site = makeSite(t, embedded)
  const first = await site.start()
  const address = await site.add(first, 'a')
  await first.stop()
  writeFileSync(site.marker, '')
  const next = await site.start()
  t.notOk(existsSync(site.marker), 'it must not lie in wait for a loss that comes later')
  t.match(
    (await next.boundLeases()).map(lease => lease.address),
    [address],
  )
})

t.test('links of pods', { skip: missing('namespaces', 'executables') }, async t => {
  const node = await makeWiredNode(t, { settings: { mode: 'bridge' } })
  const pod = await node.pod()
  await pod.add()
  const daemon = node.daemon()
  await daemon.stop('SIGKILL')
  rmSync(daemon.stateDir, { recursive: true })
  await t.rejects(node.startDaemon(), {
    message: new RegExp(`IPK_STORE_MISSING[^]*container ${pod.containerId.slice(0, 12)}`),
  })
})
