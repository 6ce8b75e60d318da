import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { identityOf } from '../../../ipkeeper-server/result-cache/file-calls.ts'
import type { CacheFolder } from '../../../ipkeeper-server/result-cache/list-cache-files.ts'
import type { CacheKnowledge } from '../../../ipkeeper-server/result-cache/plan/judge-file.ts'
import { readCacheFile } from '../../../ipkeeper-server/result-cache/read-cache-file.ts'
import { CacheScanner } from '../../../ipkeeper-server/result-cache/scan-cache.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

const whole = JSON.stringify({ kind: 'cniCacheV1', result: { cniVersion: '1.0.0' } })

/** Nobody to ask, and all files at rest. */
const known = (ahead = 60_000): CacheKnowledge => ({
  ...{ attachments: new Map(), containers: new Set(), recordsKnown: false, isOwnNetwork: () => false },
  ...{ networks: new Set(), sandboxes: undefined, bootedAt: 0, now: Date.now() + ahead, orphanAge: Infinity },
})

const scanner = (...folders: readonly CacheFolder[]) =>
  new CacheScanner({ folders, monotonic: () => performance.now() })

async function scanned(...folders: readonly CacheFolder[]): Promise<Record<string, string>> {
  const { bad } = await scanner(...folders).scan(known())
  return Object.fromEntries(
    bad.map(({ path, reason }) => [path.toString('latin1').replace(/.*\//s, ''), reason]),
  )
}

const results = (
  t: Test,
  files: Record<string, string> = {},
): CacheFolder & { file: (name: string) => string } => {
  const path = t.testdir(files)
  return { kind: 'results', path, file: name => join(path, name) }
}

t.test('what stands where a file should be is told of, and never opened or followed', async t => {
  const folder = results(t, { 'a-good': whole, 'b-empty': '' })
  execFileSync('mkfifo', [folder.file('c-pipe')])
  // The path of a socket may have 107 bytes: it is made elsewhere, and moved.
  const short = tempFolder(t)
  const server = createServer().listen(short.file('s'))
  t.teardown(() => {
    server.close()
  })
  await once(server, 'listening')
  renameSync(short.file('s'), folder.file('d-socket'))
  mkdirSync(folder.file('e-folder'))
  symlinkSync('/etc/passwd', folder.file('f-outside'))
  symlinkSync('nowhere', folder.file('g-dangling'))
  symlinkSync('h-loop', folder.file('h-loop'))
  symlinkSync('/dev/zero', folder.file('i-to-device'))
  writeFileSync(folder.file('j-large'), '')
  truncateSync(folder.file('j-large'), 1024 ** 3)
  writeFileSync(folder.file('.being-written'), '')
  const expected: Record<string, string> = {
    'b-empty': 'zero-byte',
    'c-pipe': 'not-a-file',
    'd-socket': 'not-a-file',
    'e-folder': 'not-a-file',
    'f-outside': 'symlink',
    'g-dangling': 'symlink',
    'h-loop': 'symlink',
    'i-to-device': 'symlink',
    'j-large': 'too-large',
  }
  try {
    execFileSync('mknod', [folder.file('k-device'), 'c', '1', '5'], { stdio: 'ignore' })
    expected['k-device'] = 'not-a-file'
  } catch {
    t.comment('no device could be made here')
  }
  const began = performance.now()
  t.strictSame(await scanned(folder), expected)
  t.ok(performance.now() - began < 5_000)
})

t.test('names that are no text', async t => {
  const folder = results(t)
  const names = [Buffer.from([0xff, 0xfe, 0x2d]), Buffer.from('new\nline'), Buffer.from('\u001b[2J')]
  for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${folder.path}/`), name]), '')
  t.strictSame(Object.keys(await scanned(folder)).sort(), names.map(name => name.toString('latin1')).sort())
})

t.test('folders', async t => {
  const folder = results(t, { 'a-file': '' })
  t.strictSame(await scanned({ kind: 'results', path: folder.file('absent') }), {}, 'absent: nothing to tell')
  t.strictSame(await scanned({ kind: 'results', path: folder.file('a-file') }), { 'a-file': 'unreadable' })
  t.strictSame(await scanned({ kind: 'hostLocal', path: folder.file('a-file') }), { 'a-file': 'unreadable' })
  mkdirSync(folder.file('real'))
  writeFileSync(folder.file('real/b-file'), '')
  symlinkSync('real', folder.file('link'))
  t.strictSame(
    await scanned({ kind: 'results', path: folder.file('link') }),
    { 'b-file': 'zero-byte' },
    'one that was configured may be a link',
  )
})

t.test("host-local's folders", async t => {
  const path = t.testdir({
    net: { '10.0.0.2': '', '10.0.0.3': 'c1\r\neth0', lock: '', 'last_reserved_ip.0': '' },
    other: { 'fd00::2': '' },
    'a-file': '',
  })
  symlinkSync('/etc', join(path, 'link'))
  t.strictSame(await scanned({ kind: 'hostLocal', path }), {
    '10.0.0.2': 'zero-byte',
    'fd00::2': 'zero-byte',
    link: 'symlink',
  })
  t.strictSame(await scanned({ kind: 'hostLocal', path: join(path, 'other'), network: 'other' }), {
    'fd00::2': 'zero-byte',
  })
})

t.test('a file that changed a moment ago is looked at again, not judged', async t => {
  const folder = results(t, { 'a-empty': '', 'b-good': whole })
  const cache = scanner(folder)
  const young = await cache.scan(known(0))
  t.strictSame(young.bad, [])
  t.equal(young.waiting.length, 1, 'only the one that looks bad')
  t.ok((young.again ?? 0) > 3_000 && (young.again ?? 0) <= 5_000)
  t.match((await cache.scan(known(6_000))).bad, [{ reason: 'zero-byte' }])
  writeFileSync(folder.file('a-empty'), whole)
  t.strictSame((await cache.scan(known(6_000))).bad, [], 'what was read before is not believed')
})

t.test('a clock that is ahead: then only what was watched counts', async t => {
  const folder = results(t, { 'a-empty': '' })
  const future = Date.now() / 1000 + 86_400
  utimesSync(folder.file('a-empty'), future, future)
  let clock = 0
  const cache = new CacheScanner({ folders: [folder], monotonic: () => clock })
  t.equal((await cache.scan(known(0))).again, 5_000)
  clock = 4_000
  t.equal((await cache.scan(known(0))).again, 1_000)
  clock = 5_000
  t.match((await cache.scan(known(0))).bad, [{ reason: 'zero-byte' }])
})

t.test('one that never rests is told of after a minute, each time', async t => {
  const folder = results(t, { 'a-restless': '' })
  let clock = 0
  const cache = new CacheScanner({ folders: [folder], monotonic: () => clock })
  const reasons: string[] = []
  for (; clock <= 66_000; clock += 3_000) {
    // A time in the future keeps it from being old; another one each time is a change.
    const future = Date.now() / 1000 + 1_000 + clock
    utimesSync(folder.file('a-restless'), future, future)
    const { bad } = await cache.scan(known(0))
    reasons.push(bad[0]?.reason ?? 'wait')
  }
  t.strictSame(reasons, [...Array<string>(20).fill('wait'), ...Array<string>(3).fill('changing')])
})

t.test('a file that is another one by the time it is read', async t => {
  const folder = results(t, { a: 'x' })
  const path = Buffer.from(folder.file('a'))
  const identity = identityOf(lstatSync(path, { bigint: true }))
  t.strictSame(await readCacheFile(path, identity), { state: 'read', text: 'x' })
  writeFileSync(path, 'xy')
  t.strictSame(await readCacheFile(path, identity), { state: 'moving' })
  execFileSync('rm', [folder.file('a')])
  t.strictSame(await readCacheFile(path, identity), { state: 'gone' })
  symlinkSync('/etc/passwd', path)
  t.strictSame(await readCacheFile(path, identity), { state: 'moving' }, 'not followed')
  execFileSync('rm', [folder.file('a')])
  execFileSync('mkfifo', [folder.file('a')])
  t.strictSame(await readCacheFile(path, identity), { state: 'moving' }, 'not waited for')
})

t.test('10,000 files, and what is not read again', async t => {
  const folder = results(t)
  for (let n = 0; n < 10_000; n++) writeFileSync(folder.file(`net-${n}-eth0`), n % 1000 === 0 ? '' : whole)
  const cache = scanner(folder)
  let began = performance.now()
  const first = await cache.scan(known())
  const firstMs = performance.now() - began
  t.equal(first.looked, 10_000)
  t.equal(first.bad.length, 10)
  began = performance.now()
  const second = await cache.scan(known())
  t.equal(second.bad.length, 10)
  const secondMs = performance.now() - began
  t.ok(secondMs < firstMs, `${firstMs} ms, then ${secondMs} ms`)
})

t.test('a file that may not be read', { skip: process.getuid?.() !== 0 && 'needs root' }, t => {
  const folder = results(t, { 'a-secret': whole })
  chmodSync(folder.file('a-secret'), 0)
  for (let path = folder.path; path !== '/tmp' && path !== '/'; path = join(path, '..'))
    if ((lstatSync(path).mode & 0o001) === 0) {
      t.comment(`${path} keeps others out`)
      t.end()
      return
    }
  const program = `
    import { CacheScanner } from ${JSON.stringify(join(import.meta.dirname, '../../../ipkeeper-server/result-cache/scan-cache.ts'))}
    const cache = new CacheScanner({ folders: [{ kind: 'results', path: ${JSON.stringify(folder.path)} }], monotonic: () => 0 })
    const { bad } = await cache.scan({ attachments: new Map(), containers: new Set(), recordsKnown: false,
      isOwnNetwork: () => false, networks: new Set(), sandboxes: undefined, bootedAt: 0, now: Date.now() + 60000, orphanAge: 1 })
    console.log(bad.map(({ reason, detail }) => reason + ' ' + detail).join())`
  const out = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    uid: 65_534,
    gid: 65_534,
    encoding: 'utf8',
  })
  t.equal(out.trim(), 'unreadable EACCES')
  t.end()
})
