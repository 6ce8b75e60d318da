/** Whether something is wrong now (error), will be (warning), or is only worth knowing (note). */
export type Severity = 'error' | 'warning' | 'note'

export interface FindingKindRow {
  readonly severity: Severity
  /** One sentence for people: what it is. */
  readonly means: string
  /** What repairing it does; absent where only a person can tell what is right. */
  readonly repair?: string
}

/**
 * What the daemon looks for when it compares its leases with the node. The closed list: configuration keys, metric labels,
 * Events, the CLI and the docs have the kinds from here.
 */
export const findingKinds = {
  'lease-without-sandbox': {
    severity: 'warning',
    means: 'an attachment whose sandbox is gone, though no DEL has come for it',
    repair: 'what its DEL would do: links, then leases, each by its retention',
  },
  'dead-boot': {
    severity: 'warning',
    means: 'an attachment of an earlier boot of this node: its sandbox cannot run any more',
    repair: 'what its DEL would do: links, then leases, each by its retention',
  },
  'sandbox-without-lease': {
    severity: 'error',
    means: 'a sandbox of the runtime uses an address of a pool without a lease',
  },
  'link-without-lease': {
    severity: 'warning',
    means: 'a host link that ipkeeper created and that belongs to no attachment',
    repair: 'the link is removed if its peer is down',
  },
  'foreign-link': {
    severity: 'note',
    means: 'a veth that ipkeeper did not create, whose peer is in no known namespace',
    repair: 'the link is removed if its name matches a pattern of reconcile.links',
  },
  'lease-of-lost-node': {
    severity: 'warning',
    means:
      'an attachment of a node that the Kubernetes API does not have (any more), or addresses bound on a node that is out of service, declared gone, or has no recent contact',
    repair: 'what its DEL would do: leases, each by its retention',
  },
  'record-of-another-name': {
    severity: 'warning',
    means: 'an attachment recorded here under a node name that this node does not have',
  },
  'lease-without-record': {
    severity: 'warning',
    means:
      'an address bound on this node to a sandbox that this node has no record of: another machine had the name of the node, or the journal was lost',
  },
  'two-sandboxes': {
    severity: 'warning',
    means: 'one pod has two sandboxes at the same time',
  },
  'ip-differs': {
    severity: 'error',
    means: 'lease, kernel and Kubernetes API do not agree on the address of a pod',
  },
  'address-on-node': {
    severity: 'error',
    means: 'a link of the node has an address that one of its pods has',
  },
  'configuration-refused': {
    severity: 'error',
    means: 'the configuration file was refused; an earlier configuration is in force',
  },
  'ippool-refused': {
    severity: 'error',
    means: 'the newest spec of an IPPool was refused; an earlier spec is in force',
  },
  'false-answer': {
    severity: 'error',
    means:
      'a pod of this node answered an address probe for an address that it was not given; the answer was ignored',
  },
} as const satisfies Record<string, FindingKindRow>

export type FindingKind = keyof typeof findingKinds

export const findingKindNames = Object.keys(findingKinds) as [FindingKind, ...FindingKind[]]

/** Kinds that have a repair. */
export const repairableKinds = findingKindNames.filter(kind => 'repair' in findingKinds[kind])
