import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { inspectNetns, readBootId } from '../../../ipkeeper-server/network/netns.ts'
import { startInNewNamespace } from '../../rigs/namespace-process.ts'
import { missing } from '../../rigs/requirements.ts'

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

t.test('the boot is that of the kernel', t => {
  const bootId = readBootId()
  t.match(bootId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  t.equal(readBootId(), bootId)
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
