import t from 'tap'
import {
  formatSelector,
  poolRefusal,
  type Whereabouts,
} from '../../../../ipkeeper-server/ipam/pools/pool-rules.ts'
import type {
  LabelRequirement,
  LabelSelector,
  PoolRules,
} from '../../../../ipkeeper-server/ipam/pools/pool-settings.ts'

const here: Whereabouts = {
  namespace: 'shop',
  namespaceLabels: { team: 'web', tier: '' },
  node: 'worker-1.example',
  nodeLabels: { zone: 'a' },
  sharedWithOtherNodes: false,
}
const select = (
  matchLabels: LabelSelector['matchLabels'],
  ...matchExpressions: readonly LabelRequirement[]
): LabelSelector => ({ matchLabels, matchExpressions })
const where = (
  key: string,
  operator: LabelRequirement['operator'],
  ...values: readonly string[]
): LabelRequirement => ({ key, operator, values })

function told(rules: PoolRules, place: Partial<Whereabouts> = {}): string {
  const refusal = poolRefusal('prod', rules, { ...here, ...place })
  return refusal ? `${refusal.code} ${refusal.message}` : 'allowed'
}

/** "*" stands for any run of characters, everything else for itself. */
const patterns: readonly (readonly [pattern: string, name: string, matches: boolean])[] = [
  ['shop', 'shop', true],
  ['shop', 'shop2', false],
  ['shop', 'myshop', false],
  ['*', 'shop', true],
  ['team-*', 'team-', true],
  ['team-*', 'team-a-b', true],
  ['team-*', 'my-team-a', false],
  ['*-prod', 'web-prod', true],
  ['*-prod', 'web-prod-2', false],
  ['a*b', 'ab', true],
  ['a*b', 'a', false],
  ['ab*ba', 'aba', false],
  ['ab*ba', 'abba', true],
  ['a*b*c', 'a-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['a*bb*bb', 'abbb', false],
  ['a*bb*bb', 'abbbb', true],
  ['**', '', true],
  ['', 'shop', false],
  ['worker.1', 'workerx1', false],
  ['wor(ker', 'wor(ker', true],
  ['[a-z]*', 'shop', false],
]
t.test('patterns', t => {
  for (const [pattern, name, matches] of patterns) {
    const answer = told({ namespaces: ['other', pattern] }, { namespace: name })
    t.equal(answer === 'allowed', matches, `${pattern} and ${name}: ${answer}`)
    t.equal(told({ nodes: [pattern] }, { node: name }) === 'allowed', matches, 'the same for nodes')
  }
  t.end()
})

t.test('a pattern costs what it takes to read it', t => {
  // A pattern such as this takes a backtracking matcher longer than anybody lives.
  t.match(
    told({ namespaces: [`${'*a'.repeat(40)}b`] }, { namespace: 'a'.repeat(63) }),
    /^IPK_NAMESPACE_REFUSED/,
  )
  t.end()
})

/** Against labels team=web and tier (empty). */
const selectors: readonly (readonly [LabelSelector, matches: boolean, text: string])[] = [
  [select({}), true, ''],
  [select({ team: 'web' }), true, 'team=web'],
  [select({ team: 'web', tier: '' }), true, 'team=web, tier='],
  [select({ team: 'db' }), false, 'team=db'],
  [select({ owner: '' }), false, 'owner='],
  [select({ constructor: '' }), false, 'constructor='],
  [select({}, where('team', 'In', 'db', 'web')), true, 'team in (db, web)'],
  [select({}, where('team', 'In', 'db')), false, 'team in (db)'],
  [select({}, where('owner', 'In', '')), false, 'owner in ()'],
  [select({}, where('team', 'NotIn', 'db')), true, 'team notin (db)'],
  [select({}, where('team', 'NotIn', 'web')), false, 'team notin (web)'],
  [select({}, where('owner', 'NotIn', 'web')), true, 'owner notin (web)'],
  [select({}, where('tier', 'Exists')), true, 'tier'],
  [select({}, where('owner', 'Exists')), false, 'owner'],
  [select({}, where('toString', 'Exists')), false, 'toString'],
  [select({}, where('owner', 'DoesNotExist')), true, '!owner'],
  [select({}, where('tier', 'DoesNotExist')), false, '!tier'],
  [
    select({ team: 'web' }, where('tier', 'Exists'), where('owner', 'Exists')),
    false,
    'team=web, tier, owner',
  ],
]
t.test('selectors', t => {
  for (const [selector, matches, text] of selectors) {
    t.equal(formatSelector(selector), text)
    t.equal(told({ namespaceSelector: selector }) === 'allowed', matches, text)
    const nodeLabels = here.namespaceLabels
    t.equal(told({ nodeSelector: selector }, { nodeLabels }) === 'allowed', matches, 'the same for nodes')
  }
  t.end()
})

/** What each rule says, in its words. */
const refusals: readonly (readonly [PoolRules, Partial<Whereabouts>, string])[] = [
  [{}, {}, 'allowed'],
  [{}, { asksForMac: 'runtimeConfig.mac' }, 'allowed'],
  [{ allowMac: true }, { asksForMac: 'runtimeConfig.mac' }, 'allowed'],
  [{ allowMac: false }, {}, 'allowed'],
  [
    { allowMac: false },
    { asksForMac: 'annotation ipkeeper.io/mac' },
    'IPK_MAC_REFUSED pool prod: annotation ipkeeper.io/mac asks for a MAC, which its pods may not choose',
  ],
  [
    { namespaces: ['lab', 'team-*'] },
    {},
    'IPK_NAMESPACE_REFUSED pool prod: namespace shop may not use it; its namespaces are lab, team-*',
  ],
  [
    { namespaces: ['*'] },
    { namespace: undefined },
    'IPK_NAMESPACE_REFUSED pool prod: containers without a pod may not use it; its namespaces are *',
  ],
  [
    { namespaceSelector: select({ team: 'db' }) },
    {},
    'IPK_NAMESPACE_REFUSED pool prod: namespace shop may not use it; its namespaces are those with labels team=db',
  ],
  [
    { namespaceSelector: select({ team: 'web' }) },
    { namespaceLabels: undefined },
    'IPK_FACTS_MISSING pool prod: the labels of namespace shop are not known; its namespaces are those with labels team=web',
  ],
  [
    { namespaceSelector: select({ team: 'web' }) },
    { namespace: undefined, namespaceLabels: undefined },
    'IPK_NAMESPACE_REFUSED pool prod: containers without a pod may not use it; its namespaces are those with labels team=web',
  ],
  [
    { nodes: ['worker-2', 'gpu-*'] },
    {},
    'IPK_NODE_REFUSED pool prod: it is not for node worker-1.example; its nodes are worker-2, gpu-*',
  ],
  [
    { nodeSelector: select({ zone: 'b' }) },
    {},
    'IPK_NODE_REFUSED pool prod: it is not for node worker-1.example; its nodes are those with labels zone=b',
  ],
  [
    { nodeSelector: select({ zone: 'a' }) },
    { nodeLabels: undefined },
    'IPK_FACTS_MISSING pool prod: the labels of node worker-1.example are not known; its nodes are those with labels zone=a',
  ],
  [
    {},
    { sharedWithOtherNodes: true },
    'IPK_STORE_ONE_NODE pool prod: the cluster has other nodes, and the embedded store of node worker-1.example does not know what they give',
  ],
  [{ nodes: ['worker-1.example'] }, { sharedWithOtherNodes: true }, 'allowed'],
]
t.test('refusals', t => {
  for (const [rules, place, expected] of refusals) t.equal(told(rules, place), expected)
  for (const nodes of [['worker-1.*'], ['worker-1.example', 'worker-2']])
    t.match(
      told({ nodes }, { sharedWithOtherNodes: true }),
      /^IPK_STORE_ONE_NODE/,
      'confined to one node by name only',
    )
  t.equal(
    told({
      namespaces: ['shop'],
      namespaceSelector: select({ team: 'web' }),
      nodes: ['*'],
      nodeSelector: select({ zone: 'a' }),
    }),
    'allowed',
    'every rule has to allow it',
  )
  t.end()
})
