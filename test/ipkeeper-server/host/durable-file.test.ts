import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import {
  renameDurably,
  renameDurablySync,
  syncFolder,
  syncSync,
  writeDurably,
  writeDurablySync,
} from '../../../ipkeeper-server/host/durable-file.ts'
import { missing } from '../../rigs/requirements.ts'
import { callsUntilPowerCut } from '../result-cache/failing-calls.ts'

type Write = (path: string, content: string, options: { temporary?: string; mode: number }) => Promise<void>

const writers: Readonly<Record<string, Write>> = {
  writeDurably,
  writeDurablySync: async (...args) => {
    await Promise.resolve()
    writeDurablySync(...args)
  },
}

function oldFile(t: Test) {
  const folder = t.testdir({ file: 'old' })
  return { folder, path: join(folder, 'file') }
}

for (const [name, write] of Object.entries(writers)) {
  t.test(`${name} replaces a file, with the mode it is given`, async t => {
    const { folder, path } = oldFile(t)
    for (const mode of [0o600, 0o644, 0o755]) {
      const umask = process.umask(0o077)
      await write(path, `for ${mode}`, { mode }).finally(() => process.umask(umask))
      t.equal(readFileSync(path, 'utf8'), `for ${mode}`)
      t.equal(statSync(path).mode & 0o7777, mode)
    }
    await write(join(folder, 'another'), 'x', { mode: 0o600 })
    t.strictSame(readdirSync(folder).sort(), ['another', 'file'], 'and leaves nothing else')
  })

  t.test(`${name} overwrites the temporary file of a run that was killed`, async t => {
    const { folder, path } = oldFile(t)
    for (const [temporary, options] of [
      ['.file', {}],
      ['file.new', { temporary: join(folder, 'file.new') }],
    ] as const) {
      writeFileSync(join(folder, temporary), 'much longer than what comes now')
      chmodSync(join(folder, temporary), 0o644)
      await write(path, temporary, { mode: 0o600, ...options })
      t.equal(readFileSync(path, 'utf8'), temporary)
      t.equal(statSync(path).mode & 0o7777, 0o600)
      t.strictSame(readdirSync(folder), ['file'])
    }
  })

  t.test(`${name}: what fails leaves the old file whole and no temporary one`, async t => {
    const { folder, path } = oldFile(t)
    mkdirSync(join(folder, 'full'))
    writeFileSync(join(folder, 'full', 'kept'), '')
    await t.rejects(write(join(folder, 'full'), 'new', { mode: 0o600 }), { code: /EISDIR|ENOTEMPTY|EEXIST/ })
    await t.rejects(write(join(folder, 'none', 'file'), 'new', { mode: 0o600 }), { code: 'ENOENT' })
    symlinkSync(path, join(folder, '.linked'))
    await t.rejects(write(join(folder, 'linked'), 'new', { mode: 0o600 }), { code: 'ELOOP' })
    t.strictSame(readdirSync(folder).sort(), ['.linked', 'file', 'full'])
    t.equal(readFileSync(path, 'utf8'), 'old')
  })

  t.test(`${name} syncs the file, renames it, and syncs the folder`, { skip: missing('strace') }, t => {
    const { folder, path } = oldFile(t)
    const source = pathToFileURL(
      join(import.meta.dirname, '../../../ipkeeper-server/host/durable-file.ts'),
    ).href
    const script = `import(${JSON.stringify(source)})
      .then(file => file[${JSON.stringify(name)}](${JSON.stringify(path)}, 'new', { mode: 0o600 }))`
    const trace = join(folder, 'trace')
    const filter = 'trace=write,pwrite64,fsync,rename,renameat,renameat2'
    const run = spawnSync('strace', ['-f', '-y', '-e', filter, '-o', trace, process.execPath, '-e', script])
    t.equal(run.status, 0, run.stderr.toString())
    const calls = readFileSync(trace, 'latin1')
      .split('\n')
      .filter(line => line.includes(folder))
      .map(line => {
        const [, call] = /^\d+ +(write|fsync|rename|\w+)/.exec(line) ?? []
        return `${call} ${line.includes(`${folder}/.file`) ? 'temporary' : 'folder'}`
      })
    t.strictSame(calls, ['write temporary', 'fsync temporary', 'rename temporary', 'fsync folder'])
    t.end()
  })
}

t.test('whenever the power goes, there is the old file or the new one, whole', async t => {
  for (let count = 0; ; count++) {
    const { folder, path } = oldFile(t)
    const { calls, made } = callsUntilPowerCut(count)
    const temporary = join(folder, 'file.new')
    const isDone = await writeDurably(path, 'new', { temporary, mode: 0o600, calls }).then(
      () => true,
      () => false,
    )
    t.equal(readFileSync(path, 'utf8'), made.includes('rename') ? 'new' : 'old', made.join(' '))
    if (!isDone) continue
    t.strictSame(made, ['open', 'writeFile', 'chmod', 'sync', 'rename', 'open', 'sync'])
    break
  }
})

t.test('each call that fails leaves the old file and no temporary one, until the rename', async t => {
  for (const broken of ['writeFile', 'chmod', 'sync', 'rename']) {
    const { folder, path } = oldFile(t)
    const { calls } = callsUntilPowerCut(Infinity)
    const failing = (): Promise<never> => Promise.reject(new Error(broken))
    const open: typeof calls.open = async (...args) => {
      const file = await calls.open(...args)
      return new Proxy(file, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name)
          if (name === broken) return failing
          return typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      })
    }
    const all = { ...calls, open, ...(broken === 'rename' && { rename: failing }) }
    await t.rejects(writeDurably(path, 'new', { mode: 0o600, calls: all }), { message: broken })
    t.equal(readFileSync(path, 'utf8'), 'old', broken)
    t.strictSame(readdirSync(folder), ['file'], broken)
  }
})

t.test('the last look sees the whole temporary file, and may refuse it', async t => {
  const { folder, path } = oldFile(t)
  const temporary = join(folder, 'file.new')
  const check = (): void => {
    t.equal(readFileSync(temporary, 'utf8'), 'new')
    t.equal(readFileSync(path, 'utf8'), 'old')
    throw new Error('refused')
  }
  await t.rejects(writeDurably(path, 'new', { temporary, mode: 0o600, check }), { message: 'refused' })
  t.equal(readFileSync(path, 'utf8'), 'old')
  t.notOk(existsSync(temporary))
})

t.test('an exclusive write refuses a temporary file that is there, and leaves it alone', async t => {
  const { folder, path } = oldFile(t)
  const temporary = join(folder, 'file.new')
  writeFileSync(temporary, 'of another process')
  await t.rejects(writeDurably(path, 'new', { temporary, mode: 0o600, exclusive: true }), { code: 'EEXIST' })
  t.equal(readFileSync(path, 'utf8'), 'old')
  t.equal(readFileSync(temporary, 'utf8'), 'of another process')
})

t.test('sets the owner', { skip: process.getuid?.() === 0 ? false : 'needs root' }, async t => {
  const { path } = oldFile(t)
  await writeDurably(path, 'new', { mode: 0o4755, owner: { uid: 1234, gid: 1235 } })
  t.match(statSync(path), { uid: 1234, gid: 1235 })
  t.equal(statSync(path).mode & 0o7777, 0o4755)
})

t.test('names may be bytes that are no UTF-8', async t => {
  const { folder } = oldFile(t)
  const name = Buffer.from([0x66, 0xff, 0xfe])
  const path = Buffer.concat([Buffer.from(`${folder}/`), name])
  await writeDurably(path, 'new', { mode: 0o600 })
  t.equal(readFileSync(path, 'utf8'), 'new')
  t.strictSame(readdirSync(folder, { encoding: 'buffer' }).map(String).sort(), ['file', String(name)])
})

t.test('renames, and makes names of a folder durable', async t => {
  const { folder, path } = oldFile(t)
  await renameDurably(path, join(folder, 'second'))
  renameDurablySync(join(folder, 'second'), join(folder, 'third'))
  t.strictSame(readdirSync(folder), ['third'])
  await syncFolder(folder)
  syncSync(folder)
  syncSync(join(folder, 'third'))
  await t.rejects(syncFolder(join(folder, 'third')), { code: 'ENOTDIR' })
  await t.rejects(renameDurably(path, join(folder, 'fourth')), { code: 'ENOENT' })
})
