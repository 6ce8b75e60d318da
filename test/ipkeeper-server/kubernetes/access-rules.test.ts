import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { neededRules } from '../../../ipkeeper-server/kubernetes/access-review.ts'
import { electionName } from '../../../ipkeeper-server/kubernetes/lease-election.ts'
import { accessRules, rulesYaml, type AccessRule } from '../../../ipkeeper-server/kubernetes/access-rules.ts'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

const root = join(import.meta.dirname, '..', '..', '..')
const manifest = parseAllDocuments(readFileSync(join(root, 'deploy', 'rbac', 'rbac.yaml'), 'utf8')).map(
  document => document.toJS() as Record<string, unknown>,
)
const ofKind = (kind: string): Record<string, unknown> =>
  manifest.find(object => object['kind'] === kind) ?? {}

const rights = (rules: readonly Rule[]): string[] =>
  rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap(group =>
        resources.flatMap(resource => verbs.map(verb => `${verb} ${group}/${resource}`)),
      ),
    )
    .sort()
const rightsOf = (rows: readonly AccessRule[]): string[] =>
  rows.map(({ group, resource, verb }) => `${verb} ${group}/${resource}`).sort()

t.test('deploy/rbac/rbac.yaml grants what the daemon uses, and nothing else', t => {
  const { rules } = ofKind('ClusterRole') as { rules: readonly (Rule & Record<string, unknown>)[] }
  t.strictSame(rights(rules), rightsOf(accessRules))
  for (const rule of rules) {
    t.strictSame(Object.keys(rule).sort(), ['apiGroups', 'resources', 'verbs'], 'no names, no URLs')
    t.notMatch(JSON.stringify(rule), '*')
  }
  t.strictSame(
    manifest.map(({ kind }) => kind),
    ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  )
  t.match(ofKind('ClusterRoleBinding'), {
    roleRef: {
      kind: 'ClusterRole',
      name: (ofKind('ClusterRole') as { metadata: { name: string } }).metadata.name,
    },
    subjects: [{ kind: 'ServiceAccount', ...(ofKind('ServiceAccount')['metadata'] as object) }],
  })
  t.end()
})

t.test('of Leases it may write one, by which the daemons elect one of them', t => {
  const [role, binding] = [ofKind('Role'), ofKind('RoleBinding')]
  t.match(role, { metadata: { namespace: 'kube-system' } })
  const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] }
  t.strictSame(role['rules'], [
    { ...leases, verbs: ['create'] },
    { ...leases, resourceNames: [electionName], verbs: ['get', 'update'] },
  ])
  t.match(binding, {
    roleRef: { kind: 'Role', name: (role as { metadata: { name: string } }).metadata.name },
    subjects: [{ kind: 'ServiceAccount', ...(ofKind('ServiceAccount')['metadata'] as object) }],
  })
  t.end()
})

t.test('every right says what it is for, once', t => {
  t.equal(new Set(rightsOf(accessRules)).size, accessRules.length)
  for (const { why } of accessRules) t.match(why, /^[a-z].{10,}/)
  t.end()
})

t.test('some rights are needed only with an option', t => {
  const nothing = { watchNamespaces: false, kubernetesStore: false }
  const without = rightsOf(neededRules(nothing))
  const more = (needs: Partial<typeof nothing>): string[] =>
    rightsOf(neededRules({ ...nothing, ...needs })).filter(right => !without.includes(right))
  t.strictSame(more({ watchNamespaces: true }), ['list /namespaces', 'watch /namespaces'])
  const kept = ['ipholders', 'ipleases', 'ipnodes', 'ippools', 'ipreservations']
  t.strictSame(
    more({ kubernetesStore: true }),
    ['create', 'delete', 'list', 'patch', 'watch'].flatMap(verb => [
      ...(verb === 'watch' ? [] : [`${verb} ipkeeper.io/iphistories`]),
      ...kept.slice(0, 4).map(name => `${verb} ipkeeper.io/${name}`),
      ...(verb === 'patch' ? ['patch ipkeeper.io/ippools/status'] : []),
      ...kept.slice(4).map(name => `${verb} ipkeeper.io/${name}`),
    ]),
  )
  t.end()
})

t.test('what is missing is YAML to add', t => {
  t.equal(rulesYaml([]), '')
  for (let left = 1; left < accessRules.length; left++) {
    const missing = accessRules.slice(left)
    t.strictSame(rights(parse(rulesYaml(missing)) as Rule[]), rightsOf(missing))
  }
  t.equal(
    rulesYaml(
      accessRules.filter(
        ({ resource, verb, onlyWith }) =>
          onlyWith !== 'kubernetesStore' && (resource === 'events' || verb === 'watch'),
      ),
    ),
    [
      '- apiGroups: [""]\n  resources: [pods]\n  verbs: [watch]\n',
      '- apiGroups: [""]\n  resources: [nodes]\n  verbs: [watch]\n',
      '- apiGroups: [""]\n  resources: [namespaces]\n  verbs: [watch]\n',
      '- apiGroups: ["events.k8s.io"]\n  resources: [events]\n  verbs: [create, patch]\n',
    ].join(''),
  )
  t.end()
})
