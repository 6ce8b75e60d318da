import t from 'tap'
import type { PodEntry } from '../../../ipkeeper-server/kubernetes/kube-object.ts'
import type { ResolvedOwner } from '../../../ipkeeper-server/kubernetes/owner-resolver.ts'
import { PodDirectory } from '../../../ipkeeper-server/kubernetes/pod-directory.ts'

const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-abc', uid: 'rs1' }
const pod = (rest: Partial<PodEntry> = {}): PodEntry => ({
  namespace: 'shop',
  name: 'web-0',
  uid: 'u1',
  annotations: {},
  labels: { app: 'web' },
  controller: undefined,
  deleting: false,
  ...rest,
})
const resolved = (rest: Partial<ResolvedOwner> = {}): ResolvedOwner => ({
  owner: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd1' },
  annotations: {},
  misplaced: [],
  ...rest,
})

function emptyDirectory() {
  const asked = new Map<string, (resolved: ResolvedOwner) => void>()
  const history: string[] = []
  let changes = 0
  const directory = new PodDirectory({
    owners: {
      want: (uid, namespace, owner, settle) => {
        history.push(`want ${uid}: ${namespace} ${owner.uid}`)
        asked.set(uid, settle)
      },
      forget: uid => {
        history.push(`forget ${uid}`)
      },
    },
    onChange: () => {
      changes++
    },
    onMisplaced: (entry, { owner }, keys) => {
      history.push(`misplaced ${entry.uid} ${owner.name} ${keys.map(({ key }) => key).join()}`)
    },
  })
  return {
    directory,
    history,
    put: (entry: PodEntry) => {
      directory.put(`${entry.namespace}/${entry.name}`, entry)
    },
    settle: (uid: string, owner: ResolvedOwner) => asked.get(uid)?.(owner),
    view: (uid: string | null = null) => directory.find({ namespace: 'shop', name: 'web-0', uid }),
    changes: () => changes,
  }
}

t.test('which pod is the one that is wanted', t => {
  const mirror = { 'kubernetes.io/config.hash': 'h', 'kubernetes.io/config.mirror': 'h' }
  for (const [what, entry, uid, found] of [
    ['by UID', {}, 'u1', true],
    ['another of that name', {}, 'u2', false],
    ['a runtime that names no UID', {}, null, true],
    ['no UID, and the pod is on its way out', { deleting: true }, null, false],
    ['on its way out, by UID', { deleting: true }, 'u1', true],
    ['a static pod by the hash of its manifest', { annotations: mirror }, 'h', true],
    ['a static pod by the UID of its mirror', { annotations: mirror }, 'u1', true],
    ['by the hash alone', { annotations: { 'kubernetes.io/config.hash': 'h' } }, 'h', true],
    ['another static pod', { annotations: mirror }, 'i', false],
  ] as const) {
    const { put, view } = emptyDirectory()
    put(pod(entry))
    t.equal(view(uid) !== undefined, found, what)
  }
  const { view } = emptyDirectory()
  t.equal(view(), undefined, 'nobody')
  t.end()
})

t.test('whose annotations a pod has', t => {
  const ours = { 'ipkeeper.io/ip': '10.0.0.1' }
  const forerunner = { 'ipkeeper.generals.space/ip_pool': 'a', 'ipkeeper.generals.space/gateway': 'g' }
  const own = { 'ipkeeper.generals.space/ip_address': 'b' }
  for (const [what, annotations, owners, expected] of [
    ['its own', ours, {}, ours],
    ['the forerunner wrote them on the Deployment', ours, forerunner, { ...ours, ...forerunner }],
    ['one of its own in that dialect: the Deployment is not asked', own, forerunner, own],
  ] as const) {
    const { put, settle, view } = emptyDirectory()
    put(pod({ annotations, controller }))
    t.strictSame(view()?.annotations, annotations, `${what}: before the owner is known`)
    settle('u1', resolved({ annotations: owners }))
    t.strictSame(view()?.annotations, expected, what)
  }
  t.end()
})

t.test('controllers are asked for once, and anew when they change', t => {
  const { directory, put, settle, view, history, changes } = emptyDirectory()
  put(pod())
  t.strictSame(view(), { uid: 'u1', annotations: {}, labels: { app: 'web' }, owner: null }, 'a bare pod')
  put(pod({ controller }))
  t.equal(view()?.owner, undefined, 'adopted: being looked up')
  put(pod({ controller, annotations: { 'ipkeeper.io/ip': 'x' } }))
  const before = changes()
  settle('u1', resolved())
  t.equal(changes(), before + 1)
  t.equal(view()?.owner?.name, 'web')
  put(pod({ controller, labels: {} }))
  t.match(view(), { owner: { name: 'web' }, labels: {} }, 'a change of the pod is none of its owner')
  put(pod({ uid: 'u2', controller }))
  t.equal(view()?.owner, undefined, 'another pod of that name')
  settle('u1', resolved())
  t.equal(view()?.owner, undefined, 'an answer for its predecessor comes too late')
  directory.replace(new Map())
  t.equal(view(), undefined)
  t.equal(directory.size, 0)
  t.strictSame(history, ['forget u1', 'want u1: shop rs1', 'forget u1', 'want u2: shop rs1', 'forget u2'])
  t.end()
})

t.test('a list keeps what it still has', t => {
  const { directory, history } = emptyDirectory()
  directory.put('shop/a', pod({ name: 'a', uid: 'a1', controller }))
  directory.put('shop/b', pod({ name: 'b', uid: 'b1', controller }))
  directory.replace(
    new Map([
      ['shop/b', pod({ name: 'b', uid: 'b1', controller })],
      ['shop/c', pod({ name: 'c', uid: 'c1' })],
    ]),
  )
  t.strictSame(history, ['want a1: shop rs1', 'want b1: shop rs1', 'forget a1'])
  t.equal(directory.size, 2)
  t.end()
})

t.test('misplaced annotations are told of where the pod lacks them', t => {
  const at = (key: string) => ({
    key,
    found: 'metadata.annotations',
    belongs: 'spec.template.metadata.annotations',
  })
  const { put, settle, history } = emptyDirectory()
  put(pod({ controller, annotations: { 'ipkeeper.io/ip': 'x' } }))
  settle('u1', resolved({ misplaced: [at('ipkeeper.io/ip'), at('ipkeeper.io/retain')] }))
  put(pod({ uid: 'u2', controller, annotations: { 'ipkeeper.io/ip': 'x' } }))
  settle('u2', resolved({ misplaced: [at('ipkeeper.io/ip')] }))
  t.strictSame(
    history.filter(entry => entry.startsWith('misplaced')),
    ['misplaced u1 web ipkeeper.io/retain'],
  )
  t.end()
})
