import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fileCalls, type FileCalls, identityOf } from '../../../ipkeeper-server/result-cache/file-calls.ts'
import { Quarantine } from '../../../ipkeeper-server/result-cache/quarantine.ts'
import { startPrivateHost } from '../../rigs/private-host.ts'
import { missing } from '../../rigs/requirements.ts'
import { callsUntilPowerCut } from './failing-calls.ts'

const changed = { message: 'it changed meanwhile' }
const why = { reason: 'zero-byte', detail: 'empty' } as const

function damagedFile(t: Test, name: string | Buffer = 'net-c1-eth0', text = 'half') {
  const root = t.testdir({ results: {}, state: {} })
  const path = Buffer.concat([Buffer.from(join(root, 'results/')), Buffer.from(name)])
  writeFileSync(path, text, { mode: 0o640 })
  const open = (calls?: FileCalls) =>
    new Quarantine({
      stateDir: join(root, 'state'),
      bootId: 'boot-1',
      now: () => Date.UTC(2026, 0, 2),
      ...(calls && { calls }),
    })
  const seen = () => ({
    path,
    identity: identityOf(lstatSync(path, { bigint: true })),
    kind: 'results' as const,
  })
  return { root, path, open, seen, folder: join(root, 'state/quarantine/boot-1') }
}

t.test('moves a file aside with its reason, and brings it back as it was', async t => {
  const { path, open, seen, folder } = damagedFile(t)
  const before = lstatSync(path)
  const name = await open().take(seen(), why)
  t.notOk(existsSync(path))
  t.match(name, /^results-[0-9a-f]{8}-net-c1-eth0$/)
  t.strictSame(readdirSync(folder).sort(), [name, `${name}.reason`])
  t.equal(lstatSync(join(folder, `${name}.reason`)).mode & 0o777, 0o600)
  const [item, ...more] = await open().list()
  t.strictSame(more, [])
  t.strictSame(item, {
    ...{ name, file: join(folder, name), path: path.toString(), kind: 'results', ...why },
    ...{ at: '2026-01-02T00:00:00.000Z', mode: 0o640, uid: before.uid, gid: before.gid, size: 4 },
  })
  t.equal(await open().restore(item!), path.toString())
  t.equal(readFileSync(path, 'utf8'), 'half')
  t.match(lstatSync(path), { mode: before.mode, mtimeMs: before.mtimeMs })
  t.strictSame(readdirSync(folder), [])
})

t.test('a disk that is full gets nothing more', async t => {
  const { path, open, seen, folder } = damagedFile(t)
  const full = async (...args: Parameters<FileCalls['open']>) => {
    const file = await fileCalls.open(...args)
    const refuse = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }))
    return new Proxy(file, {
      get: (target, name) => {
        if (name === 'writeFile') return refuse
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  }
  await t.rejects(open({ ...fileCalls, open: full }).take(seen(), why), { code: 'ENOSPC' })
  t.strictSame(readdirSync(folder), [])
  t.equal(readFileSync(path, 'utf8'), 'half')
})

t.test('names that are no text, or too long, come back as well', async t => {
  const names = [
    Buffer.from([0x61, 0xff, 0xfe, 0x2d, 0x62]),
    'line\nbreak \u001b[31m-c-eth0',
    `${'x'.repeat(250)}-e`,
  ]
  for (const name of names) {
    const { path, open, seen, folder } = damagedFile(t, name)
    const taken = await open().take(seen(), why)
    t.match(taken, /^[A-Za-z0-9_.-]{1,130}$/)
    t.strictSame(readdirSync(folder).sort(), [taken, `${taken}.reason`])
    await open().restore((await open().list())[0]!)
    t.ok(existsSync(path))
  }
})

t.test('a file that is not as it was seen stays, and no reason is left for it', async t => {
  const { path, open, seen, folder } = damagedFile(t)
  const before = seen()
  writeFileSync(path, 'a runtime was quicker')
  await t.rejects(open().take(before, why), changed)
  t.equal(readFileSync(path, 'utf8'), 'a runtime was quicker')
  t.strictSame(readdirSync(folder), [])
})

t.test('a file that takes its place in the very moment of the move is put back', async t => {
  const { path, open, seen, folder } = damagedFile(t)
  const { calls } = callsUntilPowerCut(Infinity)
  const rename: FileCalls['rename'] = async (from, to) => {
    if (Buffer.isBuffer(from)) writeFileSync(path, 'a runtime was quicker')
    await calls.rename(from, to)
  }
  await t.rejects(open({ ...calls, rename }).take(seen(), why), changed)
  t.equal(readFileSync(path, 'utf8'), 'a runtime was quicker')
  t.strictSame(readdirSync(folder), [])
})

t.test('what stands in its place meanwhile is not replaced', async t => {
  const { path, open, seen } = damagedFile(t)
  await open().take(seen(), why)
  writeFileSync(path, 'newer')
  const [item] = await open().list()
  await t.rejects(open().restore(item!), { code: 'IPK_CACHE_OCCUPIED' })
  t.equal(readFileSync(path, 'utf8'), 'newer')
  t.equal((await open().list()).length, 1, 'it can be tried again')
  rmSync(path)
  await open().restore(item!)
  t.equal(readFileSync(path, 'utf8'), 'half')
  await t.rejects(open().restore(item!), { code: 'IPK_CACHE_UNRESTORED' }, 'only once')
})

t.test('its folder may be gone', async t => {
  const { root, open, seen } = damagedFile(t)
  await open().take(seen(), why)
  rmSync(join(root, 'results'), { recursive: true })
  await t.rejects(open().restore((await open().list())[0]!), {
    code: 'IPK_CACHE_UNRESTORED',
    message: /folder is gone/,
  })
})

t.test(
  'what others put into quarantine, and what is damaged there, is not listed and not touched',
  async t => {
    const { root, open, seen, folder } = damagedFile(t)
    const name = await open().take(seen(), why)
    const deferred = join(root, 'state/quarantine/deferred-dels-x')
    writeFileSync(deferred, 'x')
    writeFileSync(`${deferred}.reason`, 'no JSON')
    mkdirSync(join(folder, 'folder'))
    writeFileSync(join(folder, 'alone'), 'x')
    for (const [other, note] of [
      ['cut', '{"version":1'],
      ['odd', '{"version":1,"path":"/x"}'],
    ] as const) {
      writeFileSync(join(folder, other), 'x')
      writeFileSync(join(folder, `${other}.reason`), note)
    }
    t.strictSame(
      (await open().list()).map(item => item.name),
      [name],
    )
    t.ok(existsSync(deferred))
  },
)

/** Every place where the text of the file stands. */
function copies(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(name => !name.endsWith('.reason') && !name.endsWith('.part'))
    .filter(name => lstatSync(join(root, name)).isFile() && readFileSync(join(root, name), 'utf8') === 'half')
}

/** Of the calls that a device boundary refuses: state folder and cache on two file systems. */
function acrossDevices(calls: FileCalls): FileCalls {
  const refuse =
    (call: FileCalls['rename']): FileCalls['rename'] =>
    async (from, to) => {
      const apart = from.toString().includes('/results/') !== to.toString().includes('/results/')
      if (apart) throw Object.assign(new Error('EXDEV'), { code: 'EXDEV' })
      await call(from, to)
    }
  return { ...calls, rename: refuse(calls.rename), link: refuse(calls.link) }
}

for (const across of [false, true]) {
  const where = across ? 'across file systems' : 'within one file system'
  const route = (calls: FileCalls) => (across ? acrossDevices(calls) : calls)

  t.test(`whenever the power goes while it is moved, it is there or here, whole: ${where}`, async t => {
    for (let count = 0; ; count++) {
      const { root, open, seen } = damagedFile(t)
      const { calls, made } = callsUntilPowerCut(count)
      const done = await open(route(calls))
        .take(seen(), why)
        .then(
          () => true,
          () => false,
        )
      t.ok(copies(root).length >= 1, `${count}: ${made.at(-1) ?? 'nothing'}`)
      const listed = await open().list()
      if (copies(root).every(name => name.startsWith('state')))
        t.equal(listed.length, 1, 'one that is here alone can be brought back')
      if (!done) continue
      t.ok(count >= 10)
      t.equal(copies(root).length, 1)
      break
    }
  })

  t.test(`whenever the power goes while it is brought back, nothing is lost: ${where}`, async t => {
    for (let count = 0; ; count++) {
      const { root, path, open, seen } = damagedFile(t)
      await open().take(seen(), why)
      const [item] = await open().list()
      const { calls, made } = callsUntilPowerCut(count)
      const done = await open(route(calls))
        .restore(item!)
        .then(
          () => true,
          () => false,
        )
      t.ok(copies(root).length >= 1, `${count}: ${made.at(-1) ?? 'nothing'}`)
      if (!existsSync(path)) t.equal((await open().list()).length, 1, 'it can be tried again')
      if (!done) continue
      t.equal(readFileSync(path, 'utf8'), 'half')
      t.strictSame(await open().list(), [])
      break
    }
  })
}

t.test('a restore that was broken off between two names of one file goes on', async t => {
  const { path, open, seen } = damagedFile(t)
  await open().take(seen(), why)
  const [item] = await open().list()
  const { calls } = callsUntilPowerCut(Infinity)
  const unlink = () => Promise.reject(new Error('power'))
  await t.rejects(open({ ...calls, unlink }).restore(item!), /power/)
  t.ok(existsSync(path))
  await open().restore(item!)
  t.strictSame(await open().list(), [])
  t.equal(readFileSync(path, 'utf8'), 'half')
})

t.test('two real file systems', { skip: missing('namespaces') }, async t => {
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  // /var/lib/cni is a file system of its own in there.
  const { root, folder } = damagedFile(t)
  const here = '/var/lib/cni/results/net-c1-eth0'
  const main = join(import.meta.dirname, '../../../ipkeeper-server/main.ts')
  await host.must('mkdir', ['-p', '/var/lib/cni/results'])
  await host.must('tee', [here], { input: '{"half' })
  await host.must('chmod', ['0640', here])
  await host.must('chown', ['1234:1235', here])
  await host.must('touch', ['-d', '2001-02-03T04:05:06Z', here])
  const stat = () => host.must('stat', ['--format', '%a %u %g %Y %s', here])
  const before = await stat()
  const control = (...words: readonly string[]) =>
    host.must(process.execPath, [main, 'ctl', ...words, '--state-dir', join(root, 'state'), '-o', 'json'])
  const { files } = JSON.parse(await control('cache', 'repair', '--others')) as { files: { note: string }[] }
  t.match(files, [{ path: here, reason: 'truncated', result: 'quarantined' }])
  t.equal((await host.run('test', ['-e', here])).exit, 1)
  const [boot] = readdirSync(join(root, 'state/quarantine'))
  t.equal(folder.endsWith('boot-1'), true)
  t.equal(readFileSync(join(root, 'state/quarantine', boot!, files[0]!.note), 'utf8'), '{"half')
  await control('cache', 'restore', here)
  t.equal(await stat(), before, 'mode, owner and time as they were')
  t.strictSame(readdirSync(join(root, 'state/quarantine', boot!)), [])
})

t.test('a file of nobody else is read by its owner only', async t => {
  const { path, open, seen, folder } = damagedFile(t)
  chmodSync(path, 0o400)
  utimesSync(path, 1, 1)
  const name = await open().take(seen(), why)
  t.equal(lstatSync(join(folder, name)).mode & 0o777, 0o400)
})
