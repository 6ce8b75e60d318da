import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { AttachmentRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import type { NodeState } from '../../../../ipkeeper-server/kubernetes/cluster-view.ts'
import { attachmentLiveness } from '../../../../ipkeeper-server/network/pod/attachment-liveness.ts'
import { readBootId } from '../../../../ipkeeper-server/host/boot.ts'
import { inspectNetns } from '../../../../ipkeeper-server/network/pod/namespace.ts'
import { startInNewNamespace } from '../../../rigs/namespace-process.ts'
import { attachmentOf, attachmentRecord } from '../../../rigs/records.ts'
import { missing } from '../../../rigs/requirements.ts'

const skip = missing('namespaces')
const bootId = readBootId()
const own = '/proc/self/ns/net'

/** Nobody is to ask the API about this very node. */
const unasked = (name: string): NodeState => {
  if (name === 'n1') throw new Error('asked about this node')
  return 'unknown'
}

const attachment = (patch: Partial<AttachmentRecord>): AttachmentRecord =>
  attachmentRecord({
    ...{ holder: { kind: 'container', ...attachmentOf('c1') }, podUid: null, bootId, netns: own },
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
    t.equal(attachmentLiveness(attachment(patch), 'n1', bootId, unasked), liveness, name)
  }
  t.end()
})

t.test('a daemon that does not see the folder of namespaces takes none for gone', { skip }, t => {
  const source = join(import.meta.dirname, '../../../../ipkeeper-server/network/pod/attachment-liveness.ts')
  const look = (path: string): string =>
    `deathOf(${JSON.stringify(attachment({ netns: path, netnsInode: '1' }))}, 'n1', '${bootId}') ?? 'unknown'`
  const script = `const { deathOf } = await import(${JSON.stringify(source)})
    console.log(${look('/run/netns/cni-1')}, ${look('/var/run/netns/cni-1')}, ${look('/run/other/cni-1')})`
  const ask = (mounts: string): string =>
    execFileSync(
      'unshare',
      [
        '--mount',
        'sh',
        '-c',
        `${mounts} exec "$0" --input-type=module --eval "$1"`,
        process.execPath,
        script,
      ],
      { encoding: 'utf8', env: { PATH: process.env['PATH'] } },
    ).trim()
  t.equal(ask('mount -t tmpfs none /run;'), 'unknown unknown namespace', 'without the folder')
  t.equal(
    ask('mount -t tmpfs none /run; mkdir /run/netns;'),
    'namespace namespace namespace',
    'with the folder and without the namespace',
  )
  t.end()
})

t.test('a daemon that sees other processes than the runtime takes none for gone', { skip }, t => {
  const source = join(import.meta.dirname, '../../../../ipkeeper-server/network/pod/attachment-liveness.ts')
  // The number is of nobody, or of a process whose namespace is another one.
  const look = (number: number): string =>
    `deathOf(${JSON.stringify(attachment({ netns: `/proc/${number}/ns/net`, netnsInode: '1' }))}, 'n1', '${bootId}') ?? 'unknown'`
  const script = `const { deathOf } = await import(${JSON.stringify(source)}); console.log(${look(process.pid)}, ${look(4_000_000)})`
  const node = [process.execPath, '--input-type=module', '--eval', script]
  const ask = (...around: string[]): string => {
    const [program = '', ...args] = [...around, ...node]
    return execFileSync(program, args, { encoding: 'utf8', env: { PATH: process.env['PATH'] } }).trim()
  }
  t.equal(
    ask('unshare', '--pid', '--fork', '--mount-proc'),
    'unknown unknown',
    'in a PID namespace of its own',
  )
  t.equal(ask('env'), 'namespace namespace', 'among all processes')
  t.end()
})

t.test("another node's attachment is dead only when the whole node is lost", t => {
  for (const [state, liveness] of [
    ['present', 'unknown'],
    ['unknown', 'unknown'],
    ['gone', 'dead'],
    ['out-of-service', 'dead'],
  ] as const) {
    const asked: string[] = []
    const nodeState = (name: string): NodeState => {
      asked.push(name)
      return state
    }
    t.equal(attachmentLiveness(attachment({ node: 'n2' }), 'n1', bootId, nodeState), liveness, state)
    t.strictSame(asked, ['n2'])
    const own = attachment({ netns: '/nowhere/at-all' })
    t.equal(attachmentLiveness(own, 'n1', bootId, nodeState), 'unknown', `${state}, its own node`)
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
  const livenessOf = (record: AttachmentRecord): string => attachmentLiveness(record, 'n1', bootId, unasked)
  t.equal(livenessOf(added), 'unknown')
  t.equal(livenessOf({ ...added, netns: second.path }), 'dead', 'the path names another one')
  await first.end()
  t.strictSame(inspectNetns(first.path), { kind: 'absent' })
  t.equal(livenessOf(added), 'dead')
})
