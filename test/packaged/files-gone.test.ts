/** The ledger's files go away, or are written to by others, while the daemon runs. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { RescueReply } from '../../shared/api/rescue.schema.ts'
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { startDaemon, type Daemon, type HttpReply } from '../rigs/daemon.ts'
import { logs } from '../rigs/logs.ts'
import { until } from '../rigs/poll.ts'
import { distFolder, missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { mustRun, runProgram } from '../rigs/run-program.ts'

const skip = missing('executables')

interface Problem {
  readonly code: string
  readonly message: string
  readonly hint: string
}

const problemIn = ({ body }: HttpReply): Problem => JSON.parse(body) as Problem

function makeSite(t: Test) {
  const folder = tempFolder(t)
  const [socket, stateDir] = [folder.file('s'), folder.file('state')]
  const running: Daemon[] = []
  t.teardown(async () => {
    for (const daemon of running) await daemon.stop('SIGKILL')
  })
  const config = {
    cniVersion: '1.0.0',
    name: 'net',
    type: 'bridge',
    ipam: { type: 'ipkeeper', socket, stateDir, subnet: '10.22.0.0/24' },
  }
  const request = (containerId: string) => ({
    containerId,
    netns: '/run/netns/none',
    ifname: 'eth0',
    args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${containerId};K8S_POD_UID=u1`,
    path: '/opt/cni/bin',
    config,
  })
  return {
    folder,
    socket,
    stateDir,
    file: (name: string) => join(stateDir, name),
    start: async (...args: readonly string[]) => {
      const daemon = await startDaemon({ socket, stateDir, args })
      running.push(daemon)
      return daemon
    },
    /** As it would fail: the daemon's exit and stderr. */
    serve: (timeoutMs = 60_000) =>
      runProgram(
        join(distFolder, 'ipkeeper-server'),
        ['serve', '--socket', socket, '--state-dir', stateDir],
        { timeoutMs },
      ),
    ask: (daemon: Daemon, verb: string, containerId: string) =>
      daemon.ask('POST', `/v1/cni/${verb}`, request(containerId)),
    /** The packaged plugin, as a runtime would start it. */
    del: (containerId: string) => {
      const { netns, ifname, args, path } = request(containerId)
      const plugin = testedPlugin
      return runPlugin({ plugin, command: 'DEL', containerId, netns, ifname, args, path, config })
    },
  }
}

type Site = ReturnType<typeof makeSite>

const state = async (daemon: Daemon): Promise<StatusReply> =>
  JSON.parse((await daemon.ask('GET', '/v1/status')).body) as StatusReply

const addressesOf = async (daemon: Daemon): Promise<readonly string[]> =>
  (await daemon.boundLeases()).map(({ address, pod }) => `${address} ${pod?.name ?? ''}`).sort()

interface Mishap {
  readonly name: string
  /** Done while the daemon runs. */
  readonly happens: (site: Site) => void
  readonly code: 'IPK_STORE_LOST' | 'IPK_STORE_DAMAGED'
  readonly says: RegExp
  /** With what is the same in each case. */
  readonly thorough?: true
  /** The folder is another one: the daemon cannot go on in it. */
  readonly needsRestart?: true
}

const mishaps: readonly Mishap[] = [
  {
    name: 'the database is removed',
    happens: ({ file }) => {
      rmSync(file('leases.db'))
    },
    code: 'IPK_STORE_LOST',
    says: /leases\.db is gone/,
    thorough: true,
  },
  {
    name: 'the log is removed',
    happens: ({ file }) => {
      rmSync(file('leases.db-wal'))
    },
    code: 'IPK_STORE_LOST',
    says: /leases\.db-wal is gone/,
  },
  {
    name: 'everything of the ledger is removed',
    happens: ({ file, stateDir }) => {
      for (const name of readdirSync(stateDir)) if (name.includes('leases.db')) rmSync(file(name))
    },
    code: 'IPK_STORE_LOST',
    says: /leases\.db is gone/,
  },
  {
    name: 'the database is cut to nothing',
    happens: ({ file }) => {
      truncateSync(file('leases.db'))
    },
    code: 'IPK_STORE_LOST',
    says: /leases\.db was cut from \d+ to 0 bytes/,
  },
  {
    name: 'the database loses its last page',
    happens: ({ file }) => {
      truncateSync(file('leases.db'), readFileSync(file('leases.db')).length - 4096)
    },
    code: 'IPK_STORE_LOST',
    says: /leases\.db was cut/,
  },
  {
    name: 'the log is cut to nothing',
    happens: ({ file }) => {
      truncateSync(file('leases.db-wal'))
    },
    code: 'IPK_STORE_LOST',
    says: /leases\.db-wal was cut/,
  },
  {
    name: 'an older copy takes the place of the database',
    happens: ({ file }) => {
      copyFileSync(file('leases.db'), file('copy'))
      renameSync(file('copy'), file('leases.db'))
    },
    code: 'IPK_STORE_LOST',
    says: /leases\.db is another file than at the start/,
  },
  {
    name: 'the database is written over',
    happens: ({ file }) => {
      const bytes = readFileSync(file('leases.db'))
      writeFileSync(file('leases.db'), bytes.fill(7, 4096))
    },
    code: 'IPK_STORE_DAMAGED',
    says: /another process wrote to it/,
    thorough: true,
  },
  {
    name: 'the folder gets another name',
    happens: ({ stateDir }) => {
      renameSync(stateDir, `${stateDir}.old`)
    },
    code: 'IPK_STORE_LOST',
    says: /the folder \S+state is gone/,
    needsRestart: true,
  },
  {
    name: 'another folder takes the place of the folder',
    happens: ({ stateDir }) => {
      renameSync(stateDir, `${stateDir}.old`)
      mkdirSync(stateDir, { mode: 0o700 })
    },
    code: 'IPK_STORE_LOST',
    says: /the folder \S+state is another one/,
    needsRestart: true,
  },
]

for (const { name, happens, code, says, thorough = false, needsRestart = false } of mishaps) {
  t.test(name, { skip }, async t => {
    const site = makeSite(t)
    const first = await site.start()
    for (const pod of ['a', 'b', 'c', 'd']) t.equal((await site.ask(first, 'add', pod)).status, 200)
    const before = await addressesOf(first)
    happens(site)

    for (const reply of [
      await site.ask(first, 'add', 'late'),
      await first.ask('GET', '/v1/health'),
      await site.ask(first, 'del', 'a'),
    ]) {
      t.equal(reply.status, 503)
      t.match(problemIn(reply), {
        code,
        message: says,
        hint: /do not restart it: ipkeeperctl rescue --socket \S+$/,
      })
    }
    t.match(problemIn(await site.ask(first, 'status', 'x')), { code: 'IPK_NOT_AVAILABLE', message: says })
    t.match((await state(first)).store.file?.fault, { code, message: says })
    const kind = code === 'IPK_STORE_LOST' ? 'lost' : 'damaged'
    t.match((await first.ask('GET', '/metrics')).body, `ipkeeper_store_file_faults{kind="${kind}"} 1`)
    if (thorough)
      t.match(
        (await first.control('status')).stdout,
        /NOT SERVED: .*\n +next: .*ipkeeperctl rescue --socket \S+\n/,
      )
    t.same(await addressesOf(first), before, 'who has what is known as before')

    const { exit } = await site.del('b')
    t.equal(exit, 0, 'a DEL waits in the queue')

    const { exit: saved, stdout } = await first.control('rescue', '-o', 'json')
    t.equal(saved, 0)
    const rescued = JSON.parse(stdout) as RescueReply
    t.match(rescued, { needed: true, file: site.file('leases.db'), kinds: { lease: 4, attachment: 4 } })
    t.equal(rescued.inUse, !needsRestart)
    for (const path of rescued.aside) t.ok(existsSync(path), 'what stood there is kept')
    let daemon = first
    if (needsRestart) {
      t.equal((await site.ask(first, 'add', 'late')).status, 503, 'nothing goes into a folder without a lock')
      t.equal(await first.stop(), 0)
      daemon = await site.start()
    } else t.equal((await daemon.ask('GET', '/v1/health')).status, 200)
    t.equal((await site.ask(daemon, 'add', 'late')).status, 200)
    const left = before.filter(line => !line.endsWith(' b'))
    await until('the DEL is carried out', async () => {
      const bound = (await addressesOf(daemon)).filter(line => !line.endsWith(' late'))
      return JSON.stringify(bound) === JSON.stringify(left)
    })
    if (!needsRestart) {
      const lines = (text: string): number => daemon.log().split(text).length - 1
      await until('it is over', () => lines('no deferred DEL needs a retry any more') === 1)
      t.equal(lines('a deferred DEL could not be carried out yet'), 1, 'each is said once')
    }
    const again = JSON.parse((await daemon.ask('POST', '/v1/rescue', {})).body) as RescueReply
    t.equal(again.needed, false, 'a second time there is nothing to do')
    if (!thorough) return

    const at = await addressesOf(daemon)
    await daemon.stop('SIGKILL')
    const next = await site.start()
    t.same(await addressesOf(next), at, 'the next daemon finds it all')
    t.equal((await next.ask('GET', '/v1/health')).status, 200)
  })
}

t.test('what looks odd and is not', { skip }, async t => {
  const site = makeSite(t)
  const daemon = await site.start()
  t.equal((await site.ask(daemon, 'add', 'a')).status, 200)
  utimesSync(site.file('leases.db'), 1, 1)
  t.equal((await site.ask(daemon, 'add', 'b')).status, 200, 'a time of change alone says nothing')
  renameSync(site.stateDir, `${site.stateDir}.old`)
  t.equal((await site.ask(daemon, 'add', 'c')).status, 503)
  renameSync(`${site.stateDir}.old`, site.stateDir)
  t.equal((await site.ask(daemon, 'add', 'c')).status, 200, 'what comes back is served again')
  t.equal((await daemon.ask('GET', '/v1/health')).status, 200)
  const { stdout } = await daemon.control('rescue')
  t.match(stdout, /leases\.db is intact/)
})

t.test('a daemon that is told to end saves what it has', { skip }, async t => {
  const site = makeSite(t)
  const daemon = await site.start()
  for (const pod of ['a', 'b', 'c']) t.equal((await site.ask(daemon, 'add', pod)).status, 200)
  const before = await addressesOf(daemon)
  for (const name of ['leases.db', 'leases.db-wal']) rmSync(site.file(name))
  t.equal(await daemon.stop(), 0)
  const saved = readdirSync(site.stateDir).find(name => name.startsWith('leases.db.saved-')) ?? 'none'
  await logs(t, daemon, `the ledger was saved from memory to ${site.file(saved)}`)
  renameSync(site.file(saved), site.file('leases.db'))
  t.same(await addressesOf(await site.start()), before)
})

/** A ledger that somebody else has used. */
async function anotherLedger(t: Test): Promise<string> {
  const site = makeSite(t)
  const daemon = await site.start()
  t.equal((await site.ask(daemon, 'add', 'other')).status, 200)
  await daemon.stop()
  return site.file('leases.db')
}

for (const [way, typed] of [
  ['the saved one is put in its place', /in its place: (mv .*?); or/],
  ['the present one is meant', /is meant: (mv .*?);/],
] as const) {
  t.test(`another ledger is in its place than the one that was saved: ${way}`, { skip }, async t => {
    const site = makeSite(t)
    const daemon = await site.start()
    for (const pod of ['a', 'b', 'c']) t.equal((await site.ask(daemon, 'add', pod)).status, 200)
    const before = await addressesOf(daemon)
    copyFileSync(await anotherLedger(t), site.file('another'))
    rmSync(site.file('leases.db-wal'))
    renameSync(site.file('another'), site.file('leases.db'))
    t.equal(await daemon.stop(), 0)
    for (const time of ['once', 'and once more']) {
      const { exit, stderr } = await site.serve(5000)
      t.equal(exit, 1, time)
      t.match(
        stderr,
        /^error: store \S+leases\.db is older than \S+leases\.db\.saved-\w+, .*\[IPK_STORE_DAMAGED\]$/m,
      )
      const [, command = 'false'] = typed.exec(stderr) ?? []
      if (time !== 'once') await mustRun('sh', ['-ec', command])
    }
    const meant = way.startsWith('the saved') ? before : ['10.22.0.2 other']
    t.same(await addressesOf(await site.start()), meant)
  })
}
