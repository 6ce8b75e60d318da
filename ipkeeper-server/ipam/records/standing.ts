import { shellWord } from '../../../shared/text/shell-word.ts'
import { describeHolder, type AttachmentRecord, type LeaseKey, type LeaseRecord } from './records.ts'
import { bearsGeneratedName, describeWorkload } from './workload.ts'

/**
 * How it stands with a bound address whose sandbox may be gone: one judgement, and the words for it. A refused ADD, `who`,
 * `release`, `explain` and the audit all say what is said here.
 */

/**
 * Nodes that cannot run their sandboxes: the API has none of the name, it is tainted node.kubernetes.io/out-of-service, or an
 * operator has said that it is gone for good (ipkeeperctl forget-node).
 */
export type LostNode = 'gone' | 'out-of-service' | 'forgotten'

/** What can be said of an attachment by who may attest it. Absence of proof is "unknown", never "dead". */
export type Liveness = 'dead' | 'unknown'

/** Who can say what became of a sandbox. */
export interface Witness {
  /** This one, which alone looks at sandboxes of its own. */
  readonly node: string
  readonly liveness: (attachment: AttachmentRecord) => Liveness
  /** What the Kubernetes API says of a node; null where there is none to ask. */
  readonly lostNode?: ((node: string) => LostNode | undefined) | null | undefined
  /** Whether an operator has said that a node is gone for good; absent where nodes share nothing. */
  readonly isForgotten?: ((node: string) => boolean) | undefined
}

/**
 * in-use: of this node, and nothing proves that it is gone. elsewhere: the same of another node, which alone could tell.
 * ended: this node proves it gone. lost: its whole node is.
 */
export interface Standing {
  readonly kind: 'in-use' | 'elsewhere' | 'ended' | 'lost'
  /** Of the sandbox. */
  readonly node: string
  /** With kind lost; undefined where nobody says which. */
  readonly lost: LostNode | undefined
  /** Whether an API can be told that the node is lost. */
  readonly hasApi: boolean
}

export function standingOf(
  attachment: AttachmentRecord,
  { node: here, liveness, lostNode, isForgotten }: Witness,
): Standing {
  const { node } = attachment
  const dead = liveness(attachment) === 'dead'
  const base = { node, hasApi: lostNode !== null, lost: undefined }
  if (node === here) return { ...base, kind: dead ? 'ended' : 'in-use' }
  const lost = lostNode?.(node) ?? (isForgotten?.(node) === true ? 'forgotten' : undefined)
  return dead ? { ...base, kind: 'lost', lost } : { ...base, kind: 'elsewhere' }
}

/** Of whom nothing is known but the lease. */
export const unjudged = ({ node }: Pick<LeaseRecord, 'node'>): Standing => ({
  kind: 'in-use',
  node,
  lost: undefined,
  hasApi: true,
})

/** "node n1 is out of service", "the API has no node n1". */
export function describeLostNode({ node, lost }: Pick<Standing, 'node' | 'lost'>): string {
  switch (lost) {
    case 'out-of-service':
      return `node ${node} is out of service`
    case 'gone':
      return `the Kubernetes API has no node ${node}`
    case 'forgotten':
      return `node ${node} was declared gone for good`
    case undefined:
      return `node ${node} is out of service or gone`
  }
}

/** Who gets the address of a sandbox that is proved gone: "the next pod of Deployment shop/web", "the next pod shop/web-0". */
function heirOf({ holder, workload }: Pick<LeaseRecord, 'holder' | 'workload'>): string | undefined {
  if (holder.kind !== 'pod') return undefined
  return workload && bearsGeneratedName(holder.name, workload)
    ? `the next pod of ${describeWorkload(workload)}`
    : `the next pod ${describeHolder(holder)}`
}

type Having = Pick<LeaseRecord, 'holder' | 'workload'> & LeaseKey

/** What an operator types to end by force what a sandbox has. */
export const forceLine = ({ segment, address }: LeaseKey): string =>
  `ipkeeperctl release --force ${address}${segment === 'default' ? '' : ` --segment ${shellWord(segment)}`}`

/** When a bound address comes free, and for whom: a clause. */
export function describeStanding(lease: Having, standing: Standing): string {
  const heir = heirOf(lease)
  const whose = heir === undefined ? 'it comes free' : `${heir} gets it, others`
  switch (standing.kind) {
    case 'in-use':
    case 'elsewhere':
      return `it comes free when that ${lease.holder.kind} is deleted`
    case 'ended':
      return `its sandbox is gone: ${whose} when the daemon of node ${standing.node} has ended it`
    case 'lost':
      return `${describeLostNode(standing)}: ${whose} when ${freedBy(standing)}`
  }
}

/** What ends for everybody what a lost node has left. */
function freedBy({ lost, hasApi }: Standing): string {
  if (lost === 'gone') return 'the elected daemon has ended what it left'
  if (!hasApi) return 'it is released by force'
  return 'it is back and has ended that sandbox, or when its Node object is deleted'
}

/** What makes it known that a node is lost. Only a person knows that it is. */
export function declareLost({ node, hasApi }: Pick<Standing, 'node' | 'hasApi'>): string {
  return hasApi
    ? `if node ${node} is lost, delete its Node object or taint it node.kubernetes.io/out-of-service: ` +
        `kubectl taint node ${node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`
    : `if node ${node} is gone for good: ipkeeperctl forget-node ${node}`
}

/** What a person can do to end a bound address for everybody. */
export function remedyFor(lease: Having, standing: Standing): string {
  const { holder } = lease
  const { kind, node, lost, hasApi } = standing
  const who = describeHolder(holder)
  switch (kind) {
    case 'in-use':
      return `delete ${who}`
    case 'elsewhere':
      return `delete ${who}; ${declareLost(standing)}`
    case 'ended':
      return 'wait: its sandbox is gone without a DEL: the daemon ends it, see ipkeeperctl audit'
    case 'lost':
      if (lost === 'gone') return 'wait: the elected daemon ends it, see ipkeeperctl audit'
      return hasApi
        ? `if it does not come back: kubectl delete node ${node}; for this address alone: ${forceLine(lease)}`
        : `to release it for others: ${forceLine(lease)}`
  }
}

/** For what a pod waits that is to have the address of a sandbox elsewhere; `byTime`: how it stands with a takeover by time. */
export function describeWaiting({ node, hasApi }: Standing, byTime: string | undefined): string {
  const apart = hasApi
    ? ', or the API says that the node is out of service or gone'
    : ', or the node is declared gone for good'
  const waitsFor = `waits until node ${node} attests that the sandbox is gone${apart}`
  return byTime === undefined ? waitsFor : `${waitsFor}; ${byTime}`
}

/** What stands at a netns path. `inode` identifies the namespace while it lives. */
export type NetnsState =
  | { readonly kind: 'namespace'; readonly inode: string }
  | { readonly kind: 'not-a-namespace' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly reason: string }
