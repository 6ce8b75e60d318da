import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SpareDels } from '../../../ipkeeper-server/reconcile/spare-dels.ts'
import { queueInSpare } from '../../../plugin/spare-del.ts'
import { spareDels } from '../../../shared/spare-dels.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

const brief = (containerId: string, more = ''): string =>
  JSON.stringify({
    version: 1,
    queuedAt: '2026-01-01T00:00:00Z',
    request: { containerId, ifname: 'eth0', netns: more, args: '', path: '', config: { name: 'net' } },
  })

t.test('made, used by plugins, carried out and free again', async t => {
  const folder = tempFolder(t)
  let now = Date.now()
  const spares = new SpareDels(folder.path, () => now)
  t.same(await spares.waiting(), [], 'no folder')
  t.equal(queueInSpare(folder.path, brief('c0')), undefined, 'nothing was made yet')
  await spares.keep()
  const root = folder.file('spare-dels')
  const names = (): string[] =>
    readdirSync(root).flatMap(name => readdirSync(join(root, name)).map(file => `${name}/${file}`))
  t.equal(names().length, spareDels.folders * spareDels.inEach)
  t.ok(names().every(name => statSync(join(root, name)).size === spareDels.bytes))
  t.ok(names().every(name => statSync(join(root, name)).blocks > 0))
  const inodes = new Set(names().map(name => statSync(join(root, name)).ino))

  t.ok(queueInSpare(folder.path, brief('c1')))
  t.ok(queueInSpare(folder.path, brief('c1')), 'it says nothing new')
  const second = queueInSpare(folder.path, brief('c2'))
  t.ok(second)
  t.equal(queueInSpare(folder.path, brief('c3', 'x'.repeat(spareDels.bytes))), undefined, 'too long')
  const waiting = await spares.waiting()
  t.equal(waiting.length, 2)
  t.same(
    waiting
      .map(path => JSON.parse(readFileSync(path, 'utf8')))
      .map(({ request }) => request.containerId)
      .sort(),
    ['c1', 'c2'],
  )
  second?.withdraw()
  second?.withdraw()
  const [left = ''] = await spares.waiting()
  t.match(readFileSync(left, 'utf8'), /"containerId":"c1"/)
  await spares.release(left)
  t.same(await spares.waiting(), [])
  t.same(new Set(names().map(name => statSync(join(root, name)).ino)), inodes, 'all of them the same files')

  // A plugin was killed while it wrote; a power cut took what was not on the disk.
  renameSync(join(root, '3', '5'), join(root, '3', '5w'))
  truncateSync(join(root, '4', '6'), 0)
  await spares.keep()
  t.ok(names().includes('3/5w'), 'a plugin may still write it')
  t.equal(statSync(join(root, '4', '6')).size, spareDels.bytes)
  now += 120_000
  await spares.keep()
  t.ok(names().includes('3/5'))
  utimesSync(root, 0, 0)
})

t.test("one that is no good is in nobody's way", async t => {
  const folder = tempFolder(t)
  const spares = new SpareDels(folder.path, Date.now)
  await spares.keep()
  const root = folder.file('spare-dels')
  const most = spareDels.folders * spareDels.inEach
  const bad = (at: string, make: (path: string) => void, was = at.replace(/d$/, '')): void => {
    rmSync(join(root, was), { recursive: true })
    make(join(root, at))
  }
  for (const first of ['0', '9']) {
    bad(`${first}/0d`, path => {
      writeFileSync(path, 'no JSON')
    })
    bad(`${first}/1d`, path => {
      writeFileSync(path, '{"request":null}')
    })
    bad(`${first}/2d`, path => {
      mkdirSync(path)
    })
    bad(`${first}/3d`, path => {
      execFileSync('mkfifo', [path])
    })
    bad(`${first}/4`, path => {
      mkdirSync(path)
    })
    bad(`${first}/5`, path => {
      symlinkSync('/dev/null', path)
    })
  }
  bad('1', path => {
    writeFileSync(path, '')
  })
  const good = most - 2 * 6 - spareDels.inEach
  let queued = 0
  while (queued < most && queueInSpare(folder.path, brief(`c${queued}`))) queued++
  t.equal(queued, good)
  t.ok(queueInSpare(folder.path, brief('c0')), 'it waits already')

  rmSync(join(root, '15'), { recursive: true })
  await t.rejects(spares.keep(), { code: 'EEXIST' }, 'it is told')
  t.equal(readdirSync(join(root, '15')).length, spareDels.inEach, 'the others are kept')
})

t.test('as many as there are, and not one more', async t => {
  const folder = tempFolder(t)
  const spares = new SpareDels(folder.path, Date.now)
  await spares.keep()
  const most = spareDels.folders * spareDels.inEach
  for (let nth = 0; nth < most; nth++)
    if (!queueInSpare(folder.path, brief(`c${nth}`))) t.fail(`the ${nth}th finds no room`)
  t.equal(queueInSpare(folder.path, brief('one-more')), undefined)
  t.equal((await spares.waiting()).length, most)
})

t.test('a state folder that is moved away meanwhile is not made anew', async t => {
  const folder = tempFolder(t)
  const stateDir = folder.file('state')
  mkdirSync(stateDir)
  const spares = new SpareDels(stateDir, Date.now)
  const kept = spares.keep()
  renameSync(stateDir, folder.file('away'))
  await t.rejects(kept, { code: 'ENOENT' })
  renameSync(folder.file('away'), stateDir)
  await spares.keep()
  t.equal(readdirSync(join(stateDir, 'spare-dels')).length, spareDels.folders)
})
