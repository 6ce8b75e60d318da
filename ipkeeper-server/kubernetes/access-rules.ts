/** One right at the API, and what it is for. */
export interface AccessRule {
  readonly group: string
  readonly resource: string
  readonly verb: string
  readonly why: string
  /** Needed only with this option on. */
  readonly onlyWith?: 'watchNamespaces' | 'kubernetesStore'
}

const rows = (
  group: string,
  resource: string,
  verbs: readonly string[],
  why: string,
  onlyWith?: AccessRule['onlyWith'],
): AccessRule[] =>
  verbs.map(verb => ({ group, resource, verb, why, ...(onlyWith !== undefined && { onlyWith }) }))

/** Of records in custom resources, with --store kubernetes: alone. */
const storeRows = (resource: string, what: string): AccessRule[] => [
  ...rows(
    'ipkeeper.io',
    resource,
    ['list', 'watch', 'create', 'patch', 'delete'],
    `the ledger that nodes share: ${what}`,
    'kubernetesStore',
  ),
]

/**
 * Every right that the daemon uses, and no other; deploy/rbac/rbac.yaml grants these. The right to ask about its own rights,
 * and to read the API's list of kinds, has everybody who is authenticated (system:basic-user, system:discovery).
 */
export const accessRules: readonly AccessRule[] = [
  ...rows('', 'pods', ['list', 'watch'], 'annotations and controllers of the pods of this node'),
  ...rows('', 'pods', ['get'], 'whether a pod that owns a kept address still exists'),
  ...rows('', 'nodes', ['list', 'watch'], 'labels of this node, and which other nodes exist'),
  ...rows(
    '',
    'namespaces',
    ['list', 'watch'],
    'labels and annotations of namespaces, for pools and defaults that are bound to them',
    'watchNamespaces',
  ),
  ...rows('apps', 'replicasets', ['get'], 'which Deployment a pod belongs to'),
  ...rows('apps', 'deployments', ['get'], 'whether a Deployment still exists, and annotations on it'),
  ...rows(
    'apps',
    'statefulsets',
    ['get'],
    'spec.ordinals.start, whether it still exists, and annotations on it',
  ),
  ...rows('apps', 'daemonsets', ['get'], 'whether a DaemonSet still exists, and annotations on it'),
  ...rows('batch', 'jobs', ['get'], 'which CronJob a pod belongs to, and whether a Job still exists'),
  ...rows('batch', 'cronjobs', ['get'], 'whether a CronJob still exists, and annotations on it'),
  ...rows('events.k8s.io', 'events', ['create', 'patch'], 'to tell on the pod what was decided, and why'),
  ...storeRows('ipleases', 'addresses in use'),
  ...storeRows('ipholders', 'what each pod has'),
  ...storeRows('ipreservations', 'addresses that are promised'),
  ...storeRows('ippools', 'pools, and the ranges of networks'),
  ...storeRows('ipnodes', 'what nodes tell of themselves'),
  ...rows(
    'ipkeeper.io',
    'iphistories',
    ['list', 'create', 'patch', 'delete'],
    'what each node has recorded, for questions over the whole cluster',
    'kubernetesStore',
  ),
  ...rows(
    'ipkeeper.io',
    'ippools/status',
    ['patch'],
    'which spec of an IPPool is in force, and its figures',
    'kubernetesStore',
  ),
]

/** Rules of a ClusterRole that grant these rights, as YAML to add to one that lacks them. */
export function rulesYaml(missing: readonly AccessRule[]): string {
  const verbs = Map.groupBy(missing, ({ group, resource }) => JSON.stringify([group, resource]))
  return [...verbs.values()]
    .map(rules => {
      const [{ group, resource } = { group: '', resource: '' }] = rules
      const list = rules.map(({ verb }) => verb).join(', ')
      return `- apiGroups: ["${group}"]\n  resources: [${resource}]\n  verbs: [${list}]\n`
    })
    .join('')
}
