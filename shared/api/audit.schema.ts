import { Type, type Static } from 'typebox'
import { findingKindNames } from '../findings.ts'

/** What the daemon finds when it compares its leases with the node, for operators. */

const Nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const Finding = Type.Object(
  {
    kind: Type.Enum(findingKindNames),
    severity: Type.Enum(['error', 'warning', 'note']),
    says: Type.String({ description: 'one line: what it is, with names' }),
    why: Type.String({ description: 'what proves it, or why nothing is done' }),
    remedy: Type.String({ description: 'what a person can do; empty where the daemon sees to it' }),
    action: Type.Enum(['end-attachment', 'remove-link', 'none'], {
      description: 'what repairing it would do',
    }),
    state: Type.Enum(['due', 'waiting', 'reported'], {
      description:
        'due: acted on in this pass, where the mode says so. waiting: not certain enough yet. reported: nothing is ever done',
    }),
    address: Nullable('in CIDR notation, or several of them with commas'),
    pod: Nullable('NAMESPACE/NAME'),
    podUid: Nullable('as the runtime knows it'),
    network: Nullable('name of the network'),
    containerId: Nullable('of the sandbox'),
    ifname: Nullable('in the sandbox'),
    link: Nullable('of the host'),
  },
  { $id: 'Finding' },
)
export type Finding = Static<typeof Finding>

export const AuditWitness = Type.Object(
  {
    name: Type.String({ description: '"runtime SOCKET", "kernel links", "Kubernetes API"' }),
    state: Type.Enum(['asked', 'absent', 'failed', 'doubted'], {
      description: 'doubted: it answered, but what it says is no ground to act on in this pass',
    }),
    says: Type.String(),
  },
  { $id: 'AuditWitness' },
)
export type AuditWitness = Static<typeof AuditWitness>

export const AuditReply = Type.Object(
  {
    node: Type.String(),
    mode: Type.Enum(['repair', 'report', 'off']),
    takenAt: Type.String({ format: 'date-time' }),
    attachments: Type.Integer({ description: 'how many were looked at' }),
    witnesses: Type.Array(AuditWitness),
    findings: Type.Array(Finding),
  },
  { $id: 'AuditReply' },
)
export type AuditReply = Static<typeof AuditReply>
