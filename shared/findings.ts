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
    means: 'a sandbox of the runtime has an address of a pool, and no lease of ours says so',
  },
  'link-without-lease': {
    severity: 'warning',
    means: 'a host link that ipkeeper made and no attachment has',
    repair: 'the link is removed, when its other side is down',
  },
  'foreign-link': {
    severity: 'note',
    means: 'a veth that ipkeeper did not make and whose other side is in no namespace that anybody can name',
    repair: 'the link is removed, where its name matches a pattern of reconcile.links',
  },
  'lease-of-lost-node': {
    severity: 'warning',
    means:
      'an attachment of a node that the Kubernetes API does not have (any more), or what is bound on one that is out of service, declared gone, or silent',
    repair: 'what its DEL would do: leases, each by its retention',
  },
  'record-of-another-name': {
    severity: 'warning',
    means: 'an attachment on record here that bears another name than this node has',
  },
  'lease-without-record': {
    severity: 'warning',
    means:
      'an address bound on this node to a sandbox that this node has no record of: another machine had the name of the node, or the journal was lost',
  },
  'two-sandboxes': {
    severity: 'warning',
    means: 'two sandboxes of one pod are there at the same time',
  },
  'ip-differs': {
    severity: 'error',
    means: 'lease, kernel and Kubernetes API do not agree on the address of a pod',
  },
  'address-on-node': {
    severity: 'error',
    means: 'the node got an address, on one of its links, that one of its pods has',
  },
  'configuration-refused': {
    severity: 'error',
    means: 'the configuration file of the daemon is not what is in force',
  },
  'ippool-refused': {
    severity: 'error',
    means: 'the newest spec of an IPPool is not what is in force',
  },
  'false-answer': {
    severity: 'error',
    means:
      'a pod of this node answered, when it was asked who has an address, for one that it was not given; nobody believed it',
  },
} as const satisfies Record<string, FindingKindRow>

export type FindingKind = keyof typeof findingKinds

export const findingKindNames = Object.keys(findingKinds) as [FindingKind, ...FindingKind[]]

/** Kinds that have a repair. */
export const repairableKinds = findingKindNames.filter(kind => 'repair' in findingKinds[kind])
