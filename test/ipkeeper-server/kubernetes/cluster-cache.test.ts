import t from 'tap'
import { ClusterCache } from '../../../ipkeeper-server/kubernetes/cluster-cache.ts'
import type { NodeEntry, PodEntry } from '../../../ipkeeper-server/kubernetes/kube-object.ts'
import type { ResolvedOwner } from '../../../ipkeeper-server/kubernetes/owner-resolver.ts'

const controller = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'o1' }
const pod: PodEntry = {
  namespace: 'shop',
  name: 'web-0',
  uid: 'u1',
  annotations: {},
  labels: {},
  controller,
  deleting: false,
}
const wanted = { namespace: 'shop', name: 'web-0', uid: 'u1' }

function emptyCache() {
  const facts = { fresh: true }
  let settle: ((resolved: ResolvedOwner) => void) | undefined
  const cache = new ClusterCache({
    node: 'n1',
    owners: {
      want: (_uid, _namespace, _controller, callback) => {
        settle = callback
      },
      forget: () => undefined,
    },
    nodesFresh: () => facts.fresh,
    ownerExists: () => Promise.resolve('unknown'),
    fetchPod: () => Promise.resolve(undefined),
    onMisplaced: () => undefined,
  })
  return {
    cache,
    facts,
    ownerIsKnown: () => settle?.({ owner: controller, annotations: {}, misplaced: [] }),
  }
}

const up: NodeEntry = { labels: undefined, outOfService: false, addresses: [] }
const down: NodeEntry = { labels: undefined, outOfService: true, addresses: [] }
const own: NodeEntry = { labels: { zone: 'a' }, outOfService: false, addresses: [] }

t.test('what can be said of a node', t => {
  for (const [what, nodes, fresh, name, expected] of [
    ['nothing was heard yet', {}, false, 'n2', 'unknown'],
    ['there', { n1: own, n2: up }, true, 'n2', 'present'],
    ['there when it was last heard of', { n1: own, n2: up }, false, 'n2', 'present'],
    ['out of service', { n1: own, n2: down }, true, 'n2', 'out-of-service'],
    ['out of service, a while ago: it may be back', { n1: own, n2: down }, false, 'n2', 'unknown'],
    ['absent', { n1: own }, true, 'n2', 'gone'],
    ['absent, a while ago: it may have come', { n1: own }, false, 'n2', 'unknown'],
    ['absent like ourselves: not our cluster, or not all of it', { n3: up }, true, 'n2', 'unknown'],
    ['absent from an empty list', {}, true, 'n2', 'unknown'],
  ] as const) {
    const { cache, facts } = emptyCache()
    cache.nodes.replace(new Map<string, NodeEntry>(Object.entries(nodes)))
    facts.fresh = fresh
    t.equal(cache.node(name), expected, what)
  }
  t.end()
})

t.test('nodes come and go', t => {
  const { cache } = emptyCache()
  t.equal(cache.nodeLabels(), undefined)
  t.equal(cache.hasOtherNodes(), false)
  t.equal(cache.misnamed(), undefined, 'no list yet')
  cache.nodes.replace(new Map([['n-1', up]]))
  t.equal(cache.hasOtherNodes(), true, 'even if ours is not among them')
  t.strictSame(cache.misnamed(), { meant: 'n-1' })
  cache.nodes.put('n1', own)
  t.equal(cache.misnamed(), undefined)
  t.strictSame(cache.nodeLabels(), { zone: 'a' })
  t.equal(cache.hasOtherNodes(), true)
  cache.nodes.remove('n-1')
  t.equal(cache.hasOtherNodes(), false)
  t.strictSame(cache.counts(), { pods: 0, namespaces: 0, nodes: 1 })
  t.end()
})

t.test('which Node our name most likely means', t => {
  for (const [names, meant] of [
    [['n1.example.org', 'n2'], 'n1.example.org'],
    [['N1'], 'N1'],
    [['control-plane'], undefined],
  ] as const) {
    const { cache } = emptyCache()
    cache.nodes.replace(new Map(names.map(name => [name, up])))
    t.strictSame(cache.misnamed(), { meant })
  }
  t.end()
})

t.test('waiting for a pod', async t => {
  type Site = ReturnType<typeof emptyCache>
  const put = ({ cache }: Site): void => {
    cache.pods.put('shop/web-0', pod)
  }
  const namespace = ({ cache }: Site): void => {
    cache.namespaces.put('shop', { annotations: {}, labels: {} })
  }
  const need = ({ cache }: Site): void => {
    cache.needNamespaces(true)
  }
  const unneed = ({ cache }: Site): void => {
    cache.needNamespaces(false)
  }
  const owner = ({ ownerIsKnown }: Site): void => {
    ownerIsKnown()
  }
  for (const [what, before, asked, then, expected] of [
    ['it is there', [put], wanted, [], true],
    ['it comes', [], wanted, [put], true],
    [
      'it comes in a list',
      [],
      wanted,
      [
        ({ cache }: Site) => {
          cache.pods.replace(new Map([['shop/web-0', pod]]))
        },
      ],
      true,
    ],
    ['another of that name comes', [], { ...wanted, uid: 'u2' }, [put], false],
    ['its namespace is not known', [need], wanted, [put], false],
    ['then its namespace', [need, put], wanted, [namespace], true],
    ['the namespace first', [need, namespace], wanted, [put], true],
    ['namespaces are no longer needed', [need, put], wanted, [unneed], true],
    ['its controller is not wanted', [put], wanted, [], true],
    ['its controller is not known', [put], { ...wanted, withOwner: true }, [], false],
    ['its controller becomes known', [put], { ...wanted, withOwner: true }, [owner], true],
  ] as const) {
    const here = emptyCache()
    for (const act of before) act(here)
    let answer: boolean | undefined
    const waiting = here.cache.waitForPod(asked, 50).then(came => (answer = came))
    await Promise.resolve()
    for (const act of then) act(here)
    if (expected) {
      // Woken by what happened, and by no timer: a turn of the microtasks is enough.
      await Promise.resolve()
      await Promise.resolve()
      t.equal(answer, true, what)
    }
    t.equal(await waiting, expected, what)
  }
})

t.test('namespaces are forgotten when nobody needs them', t => {
  const { cache } = emptyCache()
  cache.needNamespaces(true)
  cache.namespaces.replace(new Map([['shop', { annotations: { a: 'b' }, labels: {} }]]))
  t.strictSame(cache.namespace('shop'), { annotations: { a: 'b' }, labels: {} })
  cache.needNamespaces(false)
  t.equal(cache.namespace('shop'), undefined)
  t.end()
})
