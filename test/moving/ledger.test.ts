/** Ledgers moved between real stores, backed up and restored, by the packaged tool; also when it is killed half-way. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { changeRecords } from '../rigs/change-records.ts'
import { fillLedger } from '../rigs/filled-ledger.ts'
import { createNamespace } from '../rigs/cluster-node.ts'
import { startCluster } from '../rigs/cluster.ts'
import { installCustomResources } from '../rigs/custom-resources.ts'
import { startDaemon } from '../rigs/daemon.ts'
import { startEtcdCluster } from '../rigs/etcd.ts'
import { until } from '../rigs/poll.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { runProgram } from '../rigs/run-program.ts'
import { tempFolder, type TempFolder } from '../rigs/temp-folder.ts'

const tool = join(distFolder, 'ipkeeperctl')

interface Report {
  readonly written: number
  readonly same: number
  readonly left: number
  readonly history: number
  readonly verified: boolean
  readonly conflicts: readonly { readonly kind: string; readonly key: string }[]
  readonly source: { readonly records: { readonly count: number; readonly digest: string } }
  readonly target: { readonly records: { readonly count: number; readonly digest: string } }
  readonly records: { readonly count: number; readonly digest: string }
}

interface Ran {
  readonly exit: number | null
  readonly report: Report
  readonly stderr: string
}

interface Node {
  readonly folder: TempFolder
  /** ipkeeperctl on this node, with the state folder of the name. */
  readonly run: (state: string, ...words: readonly string[]) => Promise<Ran>
}

function makeNode(t: Test, config: object = {}): Node {
  const folder = tempFolder(t)
  writeFileSync(folder.file('config.yaml'), JSON.stringify({ node: 'n1', ...config }))
  return {
    folder,
    run: async (state, ...words) => {
      const { exit, stdout, stderr } = await runProgram(tool, [
        ...words,
        ...['--state-dir', folder.file(state), '--config', folder.file('config.yaml'), '-o', 'json'],
      ])
      return { exit, stderr, report: JSON.parse(stdout || 'null') as Report }
    },
  }
}

/** All records of a file, as text. */
function recordsOf(path: string): readonly string[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database
      .prepare('SELECT kind, key, body FROM record ORDER BY kind, key')
      .all()
      .map(row => JSON.stringify(row))
  } finally {
    database.close()
  }
}

t.test(
  'a ledger goes round all stores and comes back the same',
  { skip: missing('cluster', 'executables') },
  async t => {
    const [etcd, cluster] = await Promise.all([startEtcdCluster(t), startCluster(t)])
    await installCustomResources(cluster)
    for (const name of ['shop', 'default']) await createNamespace(cluster, name).catch(() => undefined)
    const { folder, run } = makeNode(t, {
      kubernetes: { mode: 'kubeconfig', kubeconfig: cluster.kubeconfig },
    })
    const first = `sqlite:${folder.file('first.db')}`
    await fillLedger(folder.file('first.db'), 60)
    const before = recordsOf(folder.file('first.db'))
    const way = [first, `etcd:${etcd.urls[0]!}`, 'kubernetes:', `sqlite:${folder.file('last.db')}`]
    let digest = ''
    for (const [index, from] of way.slice(0, -1).entries()) {
      const to = way[index + 1]!
      await t.test(`${from.split(':')[0]!} to ${to.split(':')[0]!}`, async t => {
        const planned = await run('state', 'migrate', from, to, '--dry-run')
        t.equal(planned.exit, 0, planned.stderr)
        t.equal(planned.report.written, 0)
        const { exit, report, stderr } = await run('state', 'migrate', from, to)
        t.equal(exit, 0, stderr)
        t.match(report, { verified: true, conflicts: [], same: index === 1 ? 0 : report.same })
        if (index === 0) digest = report.target.records.digest
        if (index !== 1) t.equal(report.target.records.digest, digest, 'the same as at the beginning')
        const again = await run('state', 'migrate', from, to)
        t.equal(again.exit, 0, again.stderr)
        t.match(again.report, { verified: true, written: 0 })
      })
    }
    t.strictSame(recordsOf(folder.file('first.db')), before, 'the source is as it was')
    t.equal(recordsOf(folder.file('last.db')).length, before.length)
  },
)

t.test('the embedded store', { skip: missing('executables') }, async t => {
  const { folder, run } = makeNode(t)
  await fillLedger(folder.file('one.db'), 20)
  const one = `sqlite:${folder.file('one.db')}`

  await t.test('what is there otherwise is listed, and nothing is written', async t => {
    await fillLedger(folder.file('other.db'), 21)
    await changeRecords(folder.file('other.db'), 'lease', record =>
      record.address.includes('10.22.0.1') ? { ...record, node: 'n2' } : undefined,
    )
    const before = recordsOf(folder.file('other.db'))
    const { exit, report } = await run('state', 'migrate', one, `sqlite:${folder.file('other.db')}`)
    t.equal(exit, 1)
    t.ok(report.conflicts.length > 0)
    t.ok(report.conflicts.some(({ kind }) => kind === 'lease'))
    t.strictSame(recordsOf(folder.file('other.db')), before)
  })

  await t.test('a dry run makes no file, and leaves what is beside it', async t => {
    const file = folder.file('beside.ipkeeper')
    await run('state', 'backup', file, '--store', one)
    // As it stays behind when a killed daemon's database was moved away without it; SQLite would remove it.
    writeFileSync(folder.file('dry.db-wal'), 'what was acknowledged last')
    const target = `sqlite:${folder.file('dry.db')}`
    for (const words of [
      ['migrate', one, target],
      ['restore', file, '--store', target],
    ]) {
      const { exit, stderr } = await run('state', ...words, '--dry-run')
      t.equal(exit, 0, stderr)
      t.notOk(existsSync(folder.file('dry.db')), words.join(' '))
      t.equal(readFileSync(folder.file('dry.db-wal'), 'utf8'), 'what was acknowledged last')
    }
  })

  await t.test('words that make no sense', async t => {
    const rows: readonly (readonly [words: readonly string[], exit: number, says: RegExp])[] = [
      [['migrate', one], 2, /takes FROM TO/],
      [['migrate', one, one], 2, /the two stores are the same/],
      [['migrate', one, 'memory:'], 2, /memory: keeps nothing/],
      [['migrate', `sqlite:${folder.file('none.db')}`, one], 1, /there is no store .*none\.db/],
      [['restore', folder.file('none')], 1, /cannot be read \(ENOENT\).*IPK_BACKUP_INVALID/],
      [['backup', '--store', one, '/nowhere/at/all'], 1, /cannot be written \(ENOENT\)/],
    ]
    for (const [words, exit, says] of rows) {
      const ran = await run('state', ...words)
      t.equal(ran.exit, exit, words.join(' '))
      t.match(ran.stderr, says)
      t.match(ran.stderr, /hint: /)
    }
    t.notOk(existsSync(folder.file('none.db')), 'a slip of the hand makes no store')
  })

  await t.test('a running daemon is backed up, and keeps its store from being moved', async t => {
    const [socket, stateDir] = [folder.file('d.sock'), folder.file('state-d')]
    await run('state-d', 'migrate', one, `sqlite:${join(stateDir, 'leases.db')}`)
    const daemon = await startDaemon({ socket, stateDir, config: folder.file('config.yaml') })
    t.teardown(async () => daemon.stop())
    const file = folder.file('live.ipkeeper')
    const saved = await run('state-d', 'backup', file, '--socket', socket)
    t.equal(saved.exit, 0, saved.stderr)
    const leases = await daemon.leases()
    t.match(gunzipSync(readFileSync(file)).toString(), /"ipkeeper":"backup"/)
    for (const words of [
      ['restore', file],
      ['migrate', `sqlite:${join(stateDir, 'leases.db')}`, `sqlite:${folder.file('moved.db')}`],
    ]) {
      const refused = await run('state-d', ...words)
      t.equal(refused.exit, 1)
      t.match(
        refused.stderr,
        /in use by another ipkeeper-server.*\n(?:.*\n)?hint: stop it first: systemctl stop ipkeeper/,
      )
    }
    t.notOk(existsSync(folder.file('moved.db')))
    await daemon.stop()

    const restored = await run('state-e', 'restore', file)
    t.equal(restored.exit, 0, restored.stderr)
    t.match(restored.report, { verified: true })
    const next = await startDaemon({
      socket,
      stateDir: folder.file('state-e'),
      config: folder.file('config.yaml'),
    })
    t.strictSame(await next.leases(), leases)
    t.equal(await next.stop(), 0)
    t.equal((await run('state-e', 'restore', file)).exit, 0, 'the same once more is no harm')
    const other = await run('state', 'restore', file, '--store', `sqlite:${folder.file('other.db')}`)
    t.equal(other.exit, 1)
    t.match(other.stderr, /IPK_STORE_OCCUPIED/)
  })
})

t.test('killed half-way, and done again', { skip: missing('etcd', 'executables') }, async t => {
  const etcd = await startEtcdCluster(t)
  const { folder, run } = makeNode(t)
  const source = folder.file('big.db')
  await fillLedger(source, 1500)
  const before = recordsOf(source)
  const file = folder.file('big.ipkeeper')
  t.equal((await run('state', 'backup', file, '--store', `sqlite:${source}`)).exit, 0)

  /** Starts the tool and kills it as soon as `begun` holds. */
  const killWhen = async (
    words: readonly string[],
    begun: () => boolean | Promise<boolean>,
  ): Promise<void> => {
    const child = spawn(
      tool,
      [...words, '--state-dir', folder.file('state'), '--config', folder.file('config.yaml')],
      {
        stdio: 'ignore',
      },
    )
    const ended = once(child, 'exit')
    await until('it has begun', async () => child.exitCode !== null || (await begun()))
    child.kill('SIGKILL')
    await ended
  }

  await t.test('migrate to etcd', async t => {
    const to = `etcd:${etcd.urls[0]!}`
    const count = async (): Promise<number> => (await etcd.all('/ipkeeper/')).size
    for (const enough of [50, 1500]) {
      await killWhen(['migrate', `sqlite:${source}`, to], async () => (await count()) >= enough)
      const there = await count()
      t.ok(there >= enough && there < before.length, `${there} of ${before.length} are there`)
    }
    const { exit, report, stderr } = await run('state', 'migrate', `sqlite:${source}`, to)
    t.equal(exit, 0, stderr)
    t.match(report, { verified: true, conflicts: [] })
    t.ok(report.same > 0 && report.written > 0, `${report.same} were there, ${report.written} were written`)
    t.equal(report.source.records.digest, report.target.records.digest)
    t.strictSame(recordsOf(source), before)
  })

  await t.test('restore to the embedded store: all or nothing', async t => {
    const target = folder.file('again.db')
    await killWhen(['restore', file, '--store', `sqlite:${target}`], () => existsSync(target))
    const there = existsSync(target) ? recordsIfAny(target) : 0
    t.ok(there === 0 || there === before.length, `${there} of ${before.length} are there`)
    const { exit, report, stderr } = await run('state', 'restore', file, '--store', `sqlite:${target}`)
    t.equal(exit, 0, stderr)
    t.match(report, { verified: true })
    t.strictSame(recordsOf(target).length, before.length)
  })

  await t.test('backup: the earlier file stays until the new one is whole', async t => {
    const earlier = readFileSync(file)
    await killWhen(['backup', file, '--store', `sqlite:${source}`], () => existsSync(`${file}.unfinished`))
    t.ok(readFileSync(file).equals(earlier) || existsSync(file))
    t.equal((await run('state', 'restore', file, '--store', `sqlite:${folder.file('third.db')}`)).exit, 0)
  })
})

/** None where the tables are not made yet. */
function recordsIfAny(path: string): number {
  try {
    return recordsOf(path).length
  } catch {
    return 0
  }
}
