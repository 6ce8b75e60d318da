/**
 * A configuration file that is refused, and a restart: the daemon serves with the one that was in force, and says so.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { configuredDaemon, type ConfiguredDaemon } from '../rigs/configured-daemon.ts'
import type { Daemon } from '../rigs/daemon.ts'
import { startEtcd } from '../rigs/etcd.ts'
import { readPage, valueOf } from '../rigs/metrics-page.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { runProgram, type Finished } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')
const copy = 'last-good-config.json'
const server = join(distFolder, 'ipkeeper-server')

const good = 'pools:\n  - name: prod\n    subnet: 10.22.0.0/24\n'
/** A range without an address, such as one that a pod has: "10.22.0.2/24". */
const without = (address: string | number): string =>
  `${good}    exclude: [${String(address).replace(/\/.*/, '')}]\n`

/** Where the ledger is. */
const stores: readonly (readonly [
  name: string,
  skip: string | false,
  args: (t: Test) => Promise<readonly string[]>,
])[] = [
  ['sqlite', skip, () => Promise.resolve([])],
  [
    'etcd',
    missing('executables', 'etcd'),
    async t => {
      const folder = tempFolder(t)
      const etcd = await startEtcd(folder.file('etcd'), '127.8.71.1')
      t.teardown(() => etcd.program.stop('SIGKILL'))
      return ['--store', `etcd:${etcd.url}`]
    },
  ],
]

/** What every place says of a file that is not in force. */
async function everywhere(t: Test, { daemon, path }: ConfiguredDaemon, why: RegExp): Promise<void> {
  const [status, doctor, audit, alive] = await Promise.all([
    daemon.control('status'),
    daemon.control('doctor'),
    daemon.control('audit'),
    daemon.control('alive'),
  ])
  t.match(
    status.stdout,
    /^config +\S+config\.yaml is not in use; the one loaded at 20\S+Z stays: /m,
    'status',
  )
  const line = `ipkeeper-server check-config ${path} --socket ${daemon.socket}`
  for (const [word, { stdout }] of Object.entries({ status, doctor, audit })) {
    t.match(stdout, why, `${word} says why`)
    t.ok(stdout.includes(line), `${word} says what to type`)
  }
  t.match(audit.stdout, /^error: .* \[configuration-refused\]$/m)
  t.equal(alive.exit, 0, 'a daemon that serves is healthy')
  const page = (await daemon.ask('GET', '/metrics')).body
  t.equal(valueOf(readPage(page), 'ipkeeper_config_valid'), 0)
  t.match(
    daemon.log(),
    new RegExp(`"level":"error".*the last good configuration stays in force: .*${why.source}`),
  )
}

/** The remedy as it is printed. */
const check = (file: string, { socket }: Daemon): Promise<Finished> =>
  runProgram(server, ['check-config', file, '--socket', socket])

for (const [name, unless, args] of stores) {
  t.test(`${name}: a range is shrunk below an address in use`, { skip: unless }, async t => {
    const site = await configuredDaemon(t, good, await args(t))
    const { path, write, restart, add, del, status, logged } = site
    const had = await add('web-0', 'prod')
    const before = await status()
    write(without(had))
    await logged('IPK_POOLS_ORPHAN')
    const why = new RegExp(`${String(had).replace(/\/.*/, '')} \\(shop/web-0\\)`)
    for (const which of ['first', 'second']) {
      await restart()
      t.match(await status(), { problem: { code: 'IPK_POOLS_ORPHAN' }, loadedAt: before.loadedAt }, which)
      await everywhere(t, site, why)
      t.match(await check(path, site.daemon), { exit: 1, stderr: why }, 'check-config asks the ledger')
    }
    t.match(await add('web-1', 'prod'), /^10\.22\.0\.\d+\/24$/, 'served as before')
    await del('web-0')
    t.match(await check(path, site.daemon), { exit: 0, stdout: /would put it in force: changed: prod\n/ })
    site.daemon.kill('SIGHUP')
    await logged('configuration reloaded')
    t.match(await status(), { problem: null })
    await restart()
    t.match(await status(), { problem: null }, 'what the remedy put in force is there after a restart')
  })
}

t.test('a file that cannot be read at all, after a good one', { skip }, async t => {
  const site = await configuredDaemon(t, good)
  const { path, stateDir, write, restart, add, status, logged } = site
  t.equal(await add('web-0', 'prod'), '10.22.0.2/24')
  t.equal(statSync(join(stateDir, copy)).mode & 0o7777, 0o600)
  const rows: readonly (readonly [what: string, spoil: () => void, why: RegExp])[] = [
    [
      'no YAML',
      () => {
        write('pools:\n  - name: [prod\n')
      },
      /config\.yaml:\d+:\d+: /,
    ],
    [
      'an unknown key',
      () => {
        write(`${good}    gatway: 10.22.0.1\n`)
      },
      /did you mean \S*gateway/,
    ],
    [
      'empty, as a crash may leave it',
      () => {
        write('')
      },
      /config\.yaml: is empty/,
    ],
    [
      'gone',
      () => {
        rmSync(path)
      },
      /config\.yaml: is gone/,
    ],
    [
      'a folder',
      () => {
        mkdirSync(path)
      },
      /config\.yaml: cannot be read/,
    ],
  ]
  for (const [index, [what, spoil, why]] of rows.entries()) {
    await restart(spoil)
    await everywhere(t, site, why)
    t.equal(await add(`web-${index + 1}`, 'prod'), `10.22.0.${index + 3}/24`, what)
  }
  rmSync(path, { recursive: true })
  write('{}\n')
  await logged('IPK_POOLS_ORPHAN')
  t.match(await status(), { problem: { code: 'IPK_POOLS_ORPHAN' } }, 'defaults are what a file has to say')
  write(good)
  t.equal(site.daemon.endedBy(), undefined)
  await restart()
  t.match(await status(), { problem: null })
})

t.test('rules that tighten apply, whatever becomes of the rest of the file', { skip }, async t => {
  const { write, restart, add, status, logged, daemon } = await configuredDaemon(t, good)
  const had = await add('web-0', 'prod')
  const refused = 131
  write(`${without(had)}    namespaces: [lab]\n`)
  await logged('IPK_POOLS_ORPHAN')
  t.equal(await add('web-1', 'prod'), refused, 'shop may not use it any more')
  t.match((await daemon.control('status')).stdout, /its rules on who may use prod apply all the same/)
  await restart()
  t.equal(await add('web-1', 'prod'), refused, 'nor after a restart')
  await restart(() => {
    write('pools: [')
  })
  t.equal(await add('web-1', 'prod'), refused, 'nor after a restart with a file that cannot be read')
  t.match(await status(), { problem: { code: 'IPK_DAEMON_CONFIG' }, stricter: ['prod'] })
  write(good)
  await logged('the configuration file is in force again')
  t.equal(await add('web-1', 'prod'), '10.22.0.3/24', 'taken back by a file that says so')
})

t.test('keys that are read once are those of the file, though its pools are refused', { skip }, async t => {
  const site = await configuredDaemon(t, good)
  const had = await site.add('web-0', 'prod')
  site.write(`resultCache: { mode: report }\n${without(had)}`)
  await site.logged('resultCache.mode cannot change while the daemon runs')
  await site.restart()
  t.match(await site.status(), { problem: { code: 'IPK_POOLS_ORPHAN' } })
})

t.test('a start without anything to go back to', { skip }, async t => {
  const flip = (path: string): void => {
    const bytes = readFileSync(path)
    // Within the text: what is no JSON any more is seen anyway.
    const at = bytes.indexOf('10.22.0.0')
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    writeFileSync(path, bytes)
  }
  const rows: readonly (readonly [what: string, spoil: (path: string) => void, more: RegExp])[] = [
    [
      'no copy, as of an earlier version',
      path => {
        rmSync(path)
      },
      /^/,
    ],
    ['a byte of the copy has changed', flip, /last-good-config\.json: .* it is damaged/],
    [
      'half a copy',
      path => {
        writeFileSync(path, '{ "version": 1, "sum"')
      },
      /it is damaged/,
    ],
  ]
  for (const [what, spoil, more] of rows) {
    const site = await configuredDaemon(t, good)
    t.equal(await site.add('web-0', 'prod'), '10.22.0.2/24')
    const path = join(site.stateDir, copy)
    for (const text of ['pools: [', `${good}    gatway: x\n`]) {
      const start = site.restart(() => {
        spoil(path)
        site.write(text)
      })
      const { message } = await start.then(
        () => new Error('it serves'),
        (error: unknown) => error as Error,
      )
      t.match(message, /exit 1.*\nerror: \S+config\.yaml:\d+:\d+: .*\[IPK_DAEMON_CONFIG\]\n/, what)
      t.match(message, more, `${what}: it says so`)
      site.write(good)
      await site.restart()
      t.match(await site.status(), { problem: null, copy: null }, `${what}: a good file serves, and is kept`)
      t.ok(statSync(path).isFile())
    }
  }
})

t.test('a copy that cannot be written', { skip }, async t => {
  const site = await configuredDaemon(t, good)
  const { stateDir, write, logged, status, daemon } = site
  const path = join(stateDir, copy)
  rmSync(path)
  mkdirSync(path)
  write(`${good}cooldown: 5m\n`)
  t.match(await logged('the copy of the configuration cannot be written'), {
    level: 'error',
    code: 'IPK_CONFIG_COPY',
  })
  t.match(await status(), { problem: null, copy: { code: 'IPK_CONFIG_COPY' } }, 'in force all the same')
  t.match((await daemon.control('status')).stdout, /^config +\S+last-good-config\.json: .*cannot be written/m)
  t.match((await daemon.control('doctor')).stdout, /last-good-config\.json: .*cannot be written/)
  rmSync(path, { recursive: true })
  await logged('the copy of the configuration is up to date again')
  t.match(await status(), { copy: null })
  t.match(readFileSync(path, 'utf8'), /cooldown: 5m/)
  t.strictSame(
    readdirSync(stateDir).filter(name => name.startsWith(`.${copy}`)),
    [],
  )
})

t.test('check-config without a daemon', { skip }, async t => {
  const folder = tempFolder(t)
  writeFileSync(folder.file('good.yaml'), good)
  for (const words of [
    ['ipkeeper-server', 'check-config'],
    ['ipkeeperctl', 'check-config'],
  ] as const) {
    const [program, word] = words
    const finished = await runProgram(join(distFolder, program), [
      ...[word, folder.file('good.yaml')],
      ...['--socket', folder.file('none')],
    ])
    t.match(finished, { exit: 0, stdout: /^ok: 1 pool \(prod\).*\nthe daemon was not asked: .*not known\n$/ })
  }
})
