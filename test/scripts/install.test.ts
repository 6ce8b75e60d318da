import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { missing } from '../rigs/requirements.ts'
import { mustRun } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const root = join(import.meta.dirname, '..', '..')
const skip = missing('executables')

t.test('install honours DESTDIR and the folders, and uninstall takes all of it away', { skip }, async t => {
  const folder = tempFolder(t)
  const variables = [`DESTDIR=${folder.path}`, 'PREFIX=/usr', 'CNI_BIN_DIR=/usr/lib/cni']
  // Twice: an upgrade replaces what is there.
  for (let times = 0; times < 2; times++) await mustRun('make', ['-C', root, 'install', ...variables])
  t.same(readdirSync(folder.file('usr/lib/cni')), ['ipkeeper'], 'no temporary file is left beside it')
  t.same(readdirSync(folder.file('usr/bin')).sort(), ['ipkeeper-server', 'ipkeeperctl'])
  t.equal(statSync(folder.file('usr/lib/cni/ipkeeper')).mode & 0o777, 0o755)
  t.ok(lstatSync(folder.file('usr/bin/ipkeeperctl')).isSymbolicLink())
  t.equal(readlinkSync(folder.file('usr/bin/ipkeeperctl')), 'ipkeeper-server')

  await mustRun('make', ['-C', root, 'uninstall', ...variables])
  t.same(readdirSync(folder.file('usr/lib/cni')), [])
  t.same(readdirSync(folder.file('usr/bin')), [])
})
