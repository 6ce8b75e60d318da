import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { KeptFolder } from '../../../ipkeeper-server/host/kept-folder.ts'
import { until } from '../../rigs/poll.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

function keepFolder(t: Test) {
  const folder = tempFolder(t)
  const path = folder.file('around', 'kept')
  mkdirSync(folder.file('around'))
  const seen = { changes: 0, errors: [] as unknown[] }
  const kept = new KeptFolder({
    path,
    make: () => {
      mkdirSync(path)
    },
    onChange: () => seen.changes++,
    onError: error => seen.errors.push(error),
  })
  t.teardown(() => {
    kept.close()
  })
  kept.open()
  return { folder, path, seen, kept }
}

/** Whether a change in it is heard of. */
async function hears(t: Test, name: string, { path, seen }: ReturnType<typeof keepFolder>): Promise<void> {
  const before = seen.changes
  writeFileSync(`${path}/file`, '')
  await until(`${name}: heard of`, () => seen.changes > before)
  rmSync(`${path}/file`)
  t.pass(name)
}

t.test('made, watched, and made anew whatever becomes of it', async t => {
  const here = keepFolder(t)
  const { folder, path, seen } = here
  t.ok(existsSync(path))
  t.equal(seen.changes, 1, 'called once for what came before')
  await hears(t, 'at first', here)
  const ways: readonly [name: string, away: () => void][] = [
    [
      'removed',
      () => {
        rmSync(path, { recursive: true })
      },
    ],
    [
      'moved away',
      () => {
        renameSync(path, folder.file('elsewhere'))
      },
    ],
    [
      'replaced by another one',
      () => {
        mkdirSync(folder.file('another'))
        rmSync(path, { recursive: true })
        renameSync(folder.file('another'), path)
      },
    ],
  ]
  for (const [name, away] of ways) {
    const before = seen.changes
    away()
    await until(`${name}: there again`, () => existsSync(path) && seen.changes > before)
    await hears(t, name, here)
  }
  t.same(seen.errors, [])
})

t.test('while it cannot be made that is told once, and nothing changes; then it is made', async t => {
  const { folder, path, seen, kept } = keepFolder(t)
  rmSync(folder.file('around'), { recursive: true })
  await until('told', () => seen.errors.length === 1)
  t.match(seen.errors, [{ code: 'ENOENT' }])
  const before = seen.changes
  kept.look()
  kept.look()
  t.equal(seen.errors.length, 1)
  t.equal(seen.changes, before)
  mkdirSync(folder.file('around'))
  await until('made, when it is tried again', () => existsSync(path) && seen.changes > before)
})
