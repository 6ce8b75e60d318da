import { fstatSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  openPodNamespace,
  ownNamespaceInode,
  reopenPodNamespace,
} from '../../../ipkeeper-server/network/pod-namespace.ts'
import { startInNewNamespace } from '../../rigs/namespace-process.ts'
import { missing } from '../../rigs/requirements.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

const own = '/proc/self/ns/net'
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
    t.equal(reopenPodNamespace(path), undefined, 'nor is there anything to unwire')
  }
  t.equal(reopenPodNamespace(own, ownNamespaceInode()), undefined, 'not even where the record says so')
})

t.test('a real one', { skip: missing('namespaces') }, async t => {
  const { path, end } = await startInNewNamespace(t)
  const other = await startInNewNamespace(t)
  const namespace = openPodNamespace(path)
  const inode = inodeOf(namespace.fd)
  t.not(inode, ownNamespaceInode())

  for (const [what, at, remembered, isFound] of [
    ['the same one', path, inode, true],
    ['nobody remembers which', path, undefined, true],
    ['another one at the path', other.path, inode, false],
    ['there was none at ADD', path, null, false],
  ] as const) {
    const found = reopenPodNamespace(at, remembered)
    t.equal(found !== undefined, isFound, what)
    if (found) {
      t.equal(inodeOf(found.fd), inode, what)
      found.close()
    }
  }

  await end()
  t.equal(reopenPodNamespace(path, inode), undefined, 'gone')
  t.equal(inodeOf(namespace.fd), inode, 'and held open all the same')
  namespace.close()
  t.throws(() => fstatSync(namespace.fd), { code: 'EBADF' }, 'until it is closed')
})
