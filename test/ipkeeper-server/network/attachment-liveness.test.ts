import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { AttachmentRecord } from '../../../ipkeeper-server/ipam/records.ts'
import { attachmentLiveness } from '../../../ipkeeper-server/network/attachment-liveness.ts'
import { inspectNetns, readBootId } from '../../../ipkeeper-server/network/netns.ts'
import { startInNewNamespace } from '../../rigs/namespace-process.ts'
import { missing } from '../../rigs/requirements.ts'

const skip = missing('namespaces')
const bootId = readBootId()
const own = '/proc/self/ns/net'

const attachment = (patch: Partial<AttachmentRecord>): AttachmentRecord => ({
  ...{ network: 'net', containerId: 'c1', ifname: 'eth0', generation: 1, answered: 1 },
  holder: { kind: 'container', network: 'net', containerId: 'c1', ifname: 'eth0' },
  ...{ podUid: null, node: 'n1', bootId, netns: own, netnsInode: null },
  ...{ invocationId: null, startedAt: null, since: 1 },
  undo: { leases: [], attachment: null },
  ...patch,
})

t.test('what proves that an attachment is dead, and what does not', t => {
  const folder = t.testdir({ file: 'x' })
  symlinkSync('loop', join(folder, 'loop'))
  const state = inspectNetns(own)
  const inode = state.kind === 'namespace' ? state.inode : ''
  for (const [name, patch, liveness] of [
    ['its namespace is there', { netnsInode: inode }, 'unknown'],
    ['another namespace is in its place', { netnsInode: '1' }, 'dead'],
    ['its path is gone', { netns: join(folder, 'none'), netnsInode: inode }, 'dead'],
    [
      'its path is a plain file, as after an unmount',
      { netns: join(folder, 'file'), netnsInode: inode },
      'dead',
    ],
    ['its path cannot be read', { netns: join(folder, 'loop'), netnsInode: inode }, 'unknown'],
    ['there never was a namespace', { netns: join(folder, 'none') }, 'unknown'],
    ['there was none at ADD, and is one now', {}, 'unknown'],
    ['another boot', { netnsInode: inode, bootId: 'earlier' }, 'dead'],
    ['another boot, and there never was a namespace', { bootId: 'earlier' }, 'dead'],
    ['another node', { node: 'n2', netns: join(folder, 'none'), netnsInode: inode }, 'unknown'],
    ['another node and another boot', { node: 'n2', bootId: 'earlier' }, 'unknown'],
  ] as const) {
    t.equal(attachmentLiveness(attachment(patch), 'n1', bootId), liveness, name)
  }
  t.end()
})

t.test('a real namespace: there, gone, and another one in its place', { skip }, async t => {
  const first = await startInNewNamespace(t)
  const second = await startInNewNamespace(t)
  const [one, other] = [first, second].map(({ path }) => inspectNetns(path))
  t.match(one, { kind: 'namespace' })
  t.not(JSON.stringify(one), JSON.stringify(inspectNetns(own)))
  t.not(JSON.stringify(one), JSON.stringify(other))
  const netnsInode = one?.kind === 'namespace' ? one.inode : ''
  const added = attachment({ netns: first.path, netnsInode })
  t.equal(attachmentLiveness(added, 'n1', bootId), 'unknown')
  t.equal(
    attachmentLiveness({ ...added, netns: second.path }, 'n1', bootId),
    'dead',
    'the path names another one',
  )
  await first.end()
  t.strictSame(inspectNetns(first.path), { kind: 'absent' })
  t.equal(attachmentLiveness(added, 'n1', bootId), 'dead')
})
