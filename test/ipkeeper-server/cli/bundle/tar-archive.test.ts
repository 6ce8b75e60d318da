/** What the archive writer writes, read back by the system's own tar. */
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { tarArchive } from '../../../../ipkeeper-server/cli/bundle/tar-archive.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'

t.test('tar lists and unpacks it', t => {
  const folder = tempFolder(t)
  const path = folder.file('b.tar.gz')
  const files = [
    { name: 'empty.txt', content: Buffer.alloc(0) },
    { name: 'one-block.txt', content: Buffer.alloc(512, 'x') },
    { name: 'conflists/10-a.conflist', content: Buffer.from('{ "name": "ü" }\n') },
    { name: `${'n'.repeat(96)}.txt`, content: Buffer.alloc(100_001, 'y') },
  ]
  const at = Date.UTC(2026, 10, 29, 9, 14)
  writeFileSync(path, gzipSync(tarArchive('f'.repeat(90), files, at)))
  const env = { PATH: process.env['PATH'] ?? '', TZ: 'UTC', LC_ALL: 'C' }
  const listed = execFileSync('tar', ['-tvzf', path], { env, encoding: 'utf8' }).trim().split('\n')
  t.equal(listed.length, files.length + 1)
  t.match(listed[0], /^drwx------ 0\/0 +0 2026-11-29 09:14 f{90}\/$/)
  t.match(listed[3], /^-rw------- 0\/0 +17 2026-11-29 09:14 f{90}\/conflists\/10-a\.conflist$/)
  execFileSync('tar', ['-xzf', path, '-C', folder.file('.')], { env })
  const root = folder.file('f'.repeat(90))
  t.equal(statSync(root).mode & 0o777, 0o700)
  for (const { name, content } of files) {
    t.ok(readFileSync(join(root, name)).equals(content), name)
    t.equal(statSync(join(root, name)).mode & 0o777, 0o600)
  }
  t.end()
})

t.test('a name that it cannot hold', t => {
  const file = { name: 'n'.repeat(101), content: Buffer.alloc(0) }
  t.throws(() => tarArchive('f', [file], 0), /too long for an archive/)
  t.throws(() => tarArchive('f'.repeat(156), [], 0), /too long for an archive/)
  t.end()
})
