import t from 'tap'
import { poolRefusal, quotaOf, selectsNamespaces } from '../../../../ipkeeper-server/ipam/pools/pool-rules.ts'
import type { PoolRules, PoolSettings } from '../../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import { withStricterRules } from '../../../../ipkeeper-server/ipam/pools/stricter-rules.ts'

const settings = (name: string, rules: PoolRules): PoolSettings => ({
  pool: { name, segment: 'default', rangeSets: [] },
  rules,
  policy: { retention: 'release', cooldown: 0, preferFor: 0, strategy: 'lowest-free' },
  network: {},
})

const place = {
  ...{ namespace: 'shop', namespaceLabels: { team: 'web' }, node: 'n1', nodeLabels: undefined },
  ...{ sharedWithOtherNodes: false, asksForMac: 'annotation ipkeeper.io/mac' },
}
const selector = { matchLabels: { team: 'db' }, matchExpressions: [] }

const rows: readonly (readonly [what: string, inForce: PoolRules, refused: PoolRules, code?: string])[] = [
  ['no rules', {}, {}],
  ['a namespace is shut out', {}, { namespaces: ['lab'] }, 'IPK_NAMESPACE_REFUSED'],
  ['one is let in, which waits', { namespaces: ['lab'] }, {}, 'IPK_NAMESPACE_REFUSED'],
  [
    'one is let in besides',
    { namespaces: ['lab'] },
    { namespaces: ['lab', 'shop'] },
    'IPK_NAMESPACE_REFUSED',
  ],
  ['another is shut out', { namespaces: ['lab', 'shop'] }, { namespaces: ['shop'] }],
  ['by labels', { namespaces: ['shop'] }, { namespaceSelector: selector }, 'IPK_NAMESPACE_REFUSED'],
  ['by nodes', {}, { nodes: ['n2'] }, 'IPK_NODE_REFUSED'],
  ['MACs', {}, { allowMac: false }, 'IPK_MAC_REFUSED'],
  ['MACs that are allowed again wait', { allowMac: false }, {}, 'IPK_MAC_REFUSED'],
]
for (const [what, inForce, refused, code] of rows) {
  t.test(what, t => {
    const [pool] = withStricterRules([settings('prod', inForce)], [settings('prod', refused)])
    t.equal(pool && poolRefusal('prod', pool.rules, place)?.code, code)
    t.end()
  })
}

t.test('what takes no rule on is the same', t => {
  const pools = [settings('prod', { namespaces: ['shop'] })]
  t.equal(withStricterRules(pools, []), pools)
  t.equal(withStricterRules(pools, [settings('lab', { namespaces: ['lab'] })]), pools, 'another pool')
  t.equal(withStricterRules(pools, [settings('prod', { namespaces: ['shop'] })]), pools, 'the same rules')
  t.end()
})

t.test('quotas and labels', t => {
  const rows: readonly (readonly [PoolRules, quota: number | undefined, selects: boolean])[] = [
    [{}, undefined, false],
    [{ quotaPerNamespace: 3 }, 3, false],
    [{ besides: { quotaPerNamespace: 2 } }, 2, false],
    [{ quotaPerNamespace: 3, besides: { quotaPerNamespace: 5, namespaceSelector: selector } }, 3, true],
    [{ namespaceSelector: selector }, undefined, true],
  ]
  for (const [rules, quota, selects] of rows) {
    t.equal(quotaOf(rules), quota, JSON.stringify(rules))
    t.equal(selectsNamespaces(rules), selects, JSON.stringify(rules))
  }
  t.end()
})
