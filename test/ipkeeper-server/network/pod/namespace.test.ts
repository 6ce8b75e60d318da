import fs, { symlinkSync, fstatSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { syncBuiltinESMExports } from 'node:module'
import t, { type Test } from 'tap'
import {
  inspectNetns,
  openPodNamespace,
  ownNamespaceInode,
  reopenPodNamespace,
} from '../../../../ipkeeper-server/network/pod/namespace.ts'
import { startInNewNamespace } from '../../../rigs/namespace-process.ts'
import { missing } from '../../../rigs/requirements.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const own = '/proc/self/ns/net'

t.test('what is no namespace', t => {
  const folder = t.testdir({ file: 'x' })
  symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'))
  symlinkSync('loop', join(folder, 'loop'))
  for (const [path, expected] of [
    [join(folder, 'file'), { kind: 'not-a-namespace' }],
    [folder, { kind: 'not-a-namespace' }],
    ['/dev/null', { kind: 'not-a-namespace' }],
    [join(folder, 'none'), { kind: 'absent' }],
    [join(folder, 'file', 'below'), { kind: 'absent' }],
    [join(folder, 'dangling'), { kind: 'absent' }],
    ['/proc/999999999/ns/net', { kind: 'absent' }],
    [join(folder, 'loop'), { kind: 'unreadable', reason: 'ELOOP' }],
    [join(folder, 'x'.repeat(300)), { kind: 'unreadable', reason: 'ENAMETOOLONG' }],
    ['proc/self/ns/net', { kind: 'unreadable', reason: 'not an absolute path' }],
    ['', { kind: 'unreadable', reason: 'not an absolute path' }],
  ] as const) {
    t.strictSame(inspectNetns(path), expected, path)
  }
  t.match(inspectNetns('/a\0b'), { kind: 'unreadable' })
  t.end()
})

t.test('a namespace has an inode that stays', t => {
  const state = inspectNetns(own)
  t.match(state, { kind: 'namespace', inode: /^[1-9][0-9]+$/ })
  t.strictSame(inspectNetns(`/proc/${process.pid}/ns/net`), state)
  t.end()
})

t.test('a real namespace is there, and then it is not', { skip: missing('namespaces') }, async t => {
  const first = await startInNewNamespace(t)
  const second = await startInNewNamespace(t)
  const [one, other] = [first, second].map(({ path }) => inspectNetns(path))
  t.match([one, other], [{ kind: 'namespace' }, { kind: 'namespace' }])
  t.notSame(one, other)
  t.notSame(one, inspectNetns(own))
  t.strictSame(inspectNetns(first.path), one, 'as long as it lives')
  await first.end()
  t.strictSame(inspectNetns(first.path), { kind: 'absent' })
})

const inodeOf = (fd: number): string => fstatSync(fd, { bigint: true }).ino.toString()

t.test('what is not to be wired', async t => {
  const folder = t.testdir({ file: '' })
  writeFileSync(join(folder, 'file'), '')
  for (const [path, code, message] of [
    [join(folder, 'none'), 'IPK_NETNS_INVALID', /none does not exist$/],
    [join(folder, 'file'), 'IPK_NETNS_INVALID', /file is no network namespace$/],
    [folder, 'IPK_NETNS_INVALID', /is no network namespace$/],
    ['run/netns/pod', 'IPK_NETNS_INVALID', /cannot be read \(not an absolute path\)$/],
    ['', 'IPK_NETNS_INVALID', /cannot be read/],
    [own, 'IPK_NETNS_IS_HOST', "plugin's netns and netns from CNI_NETNS should not be the same"],
    [`/proc/${process.pid}/ns/net`, 'IPK_NETNS_IS_HOST', /should not be the same/],
  ] as const) {
    const problem = await thrownProblem(() => openPodNamespace(path))
    t.equal(problem.code, code, path)
    t.match(problem.message, message)
    t.equal(await reopenPodNamespace(path), undefined, 'nor is there anything to unwire')
  }
  t.equal(await reopenPodNamespace(own, ownNamespaceInode()), undefined, 'not even where the record says so')
})

t.test('a real one', { skip: missing('namespaces') }, async t => {
  const { path, end } = await startInNewNamespace(t)
  const other = await startInNewNamespace(t)
  const namespace = await openPodNamespace(path)
  const inode = inodeOf(namespace.fd)
  t.equal(namespace.inode, inode, 'it tells which one it is')
  t.not(inode, ownNamespaceInode())

  for (const [what, at, remembered, isFound] of [
    ['the same one', path, inode, true],
    ['nobody remembers which', path, undefined, true],
    ['another one at the path', other.path, inode, false],
    ['there was none at ADD', path, null, false],
  ] as const) {
    const found = await reopenPodNamespace(at, remembered)
    t.equal(found !== undefined, isFound, what)
    if (found) {
      t.equal(inodeOf(found.fd), inode, what)
      t.equal(found.inode, inode, what)
      found.close()
    }
  }

  await end()
  t.equal(await reopenPodNamespace(path, inode), undefined, 'gone')
  t.equal(inodeOf(namespace.fd), inode, 'and held open all the same')
  namespace.close()
  t.throws(() => fstatSync(namespace.fd), { code: 'EBADF' }, 'until it is closed')
})

t.test('one that cannot be looked at is not gone', async t => {
  // A link to itself: root, too, is refused.
  const path = join(t.testdir({}), 'loop')
  symlinkSync('loop', path)
  for (const inode of [undefined, null, '4026531840']) {
    const problem = await thrownProblem(() => reopenPodNamespace(path, inode))
    t.match(problem, { code: 'IPK_WIRING_FAILED', message: /cannot be read \(ELOOP\)$/ })
    // Runtimes take these words of a DEL for success.
    t.notMatch(problem.message, /not found|no such file or directory/i)
  }
  t.match(await thrownProblem(() => openPodNamespace(path)), {
    code: 'IPK_NETNS_INVALID',
    message: /loop cannot be read \(ELOOP\)$/,
  })
})

/** Changes the path right after somebody has looked at it. */
function afterTheLook(t: Test, path: string, change: () => void): void {
  const look = fs.statSync
  const put = (statSync: unknown): void => {
    Object.assign(fs, { statSync })
    syncBuiltinESMExports()
  }
  put((...asked: Parameters<typeof look>): unknown => {
    const seen = look(...asked)
    if (asked[0] === path) {
      put(look)
      change()
    }
    return seen
  })
  t.teardown(() => {
    put(look)
  })
}

t.test('one that changes between look and opening', { skip: missing('namespaces') }, async t => {
  const pod = await startInNewNamespace(t)
  const other = await startInNewNamespace(t)
  const path = join(t.testdir({}), 'pod')
  const remade = (): void => {
    symlinkSync(pod.path, path)
  }
  const vanish = (): void => {
    unlinkSync(path)
  }
  const loop = (): void => {
    vanish()
    symlinkSync(path, path)
  }
  const swap = (): void => {
    vanish()
    symlinkSync(other.path, path)
  }

  remade()
  afterTheLook(t, path, vanish)
  t.equal(await reopenPodNamespace(path), undefined, 'vanished: it is gone')

  remade()
  afterTheLook(t, path, vanish)
  t.match(await thrownProblem(() => openPodNamespace(path)), {
    code: 'IPK_NETNS_INVALID',
    message: /pod does not exist$/,
  })

  remade()
  afterTheLook(t, path, loop)
  t.match(await thrownProblem(() => reopenPodNamespace(path)), { code: 'IPK_WIRING_FAILED' }, 'unreadable')
  vanish()

  remade()
  const namespace = await openPodNamespace(path)
  const { inode } = namespace
  namespace.close()
  afterTheLook(t, path, swap)
  t.equal(await reopenPodNamespace(path, inode), undefined, 'another one than at ADD')
})
