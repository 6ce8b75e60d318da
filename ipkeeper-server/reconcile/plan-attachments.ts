import { incarnationOf } from '../ipam/records/records.ts'
import type { RuntimeAnswer } from '../runtime/sandboxes.ts'
import type { NodeSnapshot, SeenAttachment } from './plan-snapshot.ts'
import { aboutAttachment, describeAttachment, type Suspicion } from './plan-suspicion.ts'

type Listed = Extract<RuntimeAnswer, { state: 'listed' }>

/**
 * Attachments whose sandbox is gone (DESIGN.md, rule 8). Proof is a boot that is over, or a namespace that is gone. A
 * runtime that omits a sandbox is believed when it was seen to have had it, or, for a pod of kubelet's that no runtime was
 * seen to have, when the API does not know that pod either; and only while it lists others. Nobody else knows whether
 * the sandbox is its own: containers of nerdctl and podman are in no such list.
 */
export function suspectAttachments(snapshot: NodeSnapshot): readonly Suspicion[] {
  const blind = seesNoNamespaces(snapshot)
  const listed = listedIds(snapshot.runtimes)
  const witnesses = witnessesIn(snapshot)
  return snapshot.attachments.flatMap(seen => {
    const suspicion =
      suspectDeath(seen, blind) ??
      (listed.has(seen.outline.containerId) ? undefined : suspectOmission(seen, witnesses))
    return suspicion ? [suspicion] : []
  })
}

/** Container IDs that some runtime lists. */
function listedIds(runtimes: readonly RuntimeAnswer[], ready = false): ReadonlySet<string> {
  return new Set(
    runtimes
      .flatMap(answer => (answer.state === 'listed' ? answer.sandboxes : []))
      .filter(sandbox => !ready || sandbox.ready)
      .map(({ id }) => id),
  )
}

/**
 * Whether all sandboxes that a runtime calls ready seem to have lost their namespaces, and there are several: then it is
 * rather us who do not see the folder of namespaces any more.
 */
export function seesNoNamespaces({ attachments, runtimes }: NodeSnapshot): boolean {
  const ready = listedIds(runtimes, true)
  const own = attachments.filter(({ outline, death }) => death !== 'boot' && ready.has(outline.containerId))
  return own.length > 1 && own.every(({ death }) => death === 'namespace')
}

function suspectDeath(seen: SeenAttachment, blind: boolean): Suspicion | undefined {
  const { death } = seen
  if (death === undefined) return undefined
  const { record, leases, age } = seen
  const kind = death === 'boot' ? 'dead-boot' : 'lease-without-sandbox'
  const proof =
    death === 'boot' ? 'it is of an earlier boot of this node' : `its namespace ${record.netns} is gone`
  const base = {
    kind,
    key: `${kind} ${incarnationOf(record)}`,
    says: `${describeAttachment(record)} is gone, and no DEL has come for it`,
    about: aboutAttachment(record, leases),
    certainty: { by: 'proof', age },
  } as const
  if (record.delegatedTo !== undefined) {
    return {
      ...base,
      why: `${proof}; only a DEL makes ${record.delegatedTo} give its addresses back`,
      remedy: 'send the DEL: docs/operations/running-by-hand.md',
      action: { kind: 'none' },
    }
  }
  if (blind && death === 'namespace') {
    return {
      ...base,
      why: `${proof}, but so seem to be those of all sandboxes that the runtime calls ready`,
      remedy:
        'let the daemon see /run/netns: in a container, mount it with mountPropagation: HostToContainer',
      action: { kind: 'none' },
    }
  }
  return {
    ...base,
    why: proof,
    remedy: '',
    action: { kind: 'end-attachment', attachment: record, proved: true },
  }
}

/** Whether of some pods only the Kubernetes API can tell what became of them: then it has to be asked in this pass. */
export function needsPods(
  attachments: readonly SeenAttachment[],
  runtimes: readonly RuntimeAnswer[],
): boolean {
  if (runtimes.length === 0) return false
  const listed = listedIds(runtimes)
  return attachments.some(
    ({ outline, death }) =>
      death === undefined &&
      outline.madeBy === undefined &&
      outline.podUid !== null &&
      !listed.has(outline.containerId),
  )
}

/** Who can tell that a sandbox is omitted. */
interface Witnesses extends Pick<NodeSnapshot, 'pods'> {
  /** Runtimes that list any sandbox. */
  readonly believed: readonly Listed[]
  /** Whether there are runtimes, and each has answered. */
  readonly allAnswered: boolean
}

function witnessesIn({ runtimes, pods }: NodeSnapshot): Witnesses {
  const believed = runtimes.filter(
    (answer): answer is Listed => answer.state === 'listed' && answer.sandboxes.length > 0,
  )
  const allAnswered = runtimes.length > 0 && runtimes.every(({ state }) => state === 'listed')
  return { believed, allAnswered, pods }
}

/** Why one that no runtime lists is taken for gone; undefined where that is not said. */
interface Omission {
  readonly why: string
  /** Whether it may be ended for it. */
  readonly isBelieved: boolean
}

function omissionOf(
  { madeBy, podUid }: SeenAttachment['outline'],
  { believed, allAnswered, pods }: Witnesses,
): Omission | undefined {
  if (madeBy !== undefined) {
    const maker = believed.find(({ socket }) => socket === madeBy)
    if (!maker) return undefined
    const others = maker.sandboxes.length
    return { isBelieved: true, why: `${madeBy}, which had it, lists ${others} others and not this one` }
  }
  // A pod of kubelet's has a UID; it is in the list of some runtime while it lives, unless one could not be asked.
  if (podUid === null || believed.length === 0 || !allAnswered) return undefined
  switch (pods.state) {
    case 'failed':
    case 'later':
      return undefined
    case 'absent':
      return {
        isBelieved: false,
        why: 'no runtime was ever seen to have it, and there is no Kubernetes API to ask for the pod',
      }
    case 'asked': {
      const known = pods.found.length === 0 || pods.found.some(({ uids }) => uids.includes(podUid))
      return known
        ? undefined
        : { isBelieved: true, why: 'neither a runtime nor the Kubernetes API knows this pod' }
    }
  }
}

/** Of one that no runtime lists. */
function suspectOmission(seen: SeenAttachment, witnesses: Witnesses): Suspicion | undefined {
  const omission = omissionOf(seen.outline, witnesses)
  if (!omission) return undefined
  const { record, leases, age } = seen
  const base = {
    kind: 'lease-without-sandbox',
    key: `omitted ${incarnationOf(record)}`,
    says: `${describeAttachment(record)} is not among the sandboxes of the runtime, and no DEL has come for it`,
    why: omission.why,
    about: aboutAttachment(record, leases),
    certainty: { by: 'absence', age },
  } as const
  const send = 'send the DEL: docs/operations/running-by-hand.md'
  if (!omission.isBelieved)
    return { ...base, remedy: `if the pod is gone, ${send}`, action: { kind: 'none' } }
  return record.delegatedTo === undefined
    ? { ...base, remedy: '', action: { kind: 'end-attachment', attachment: record, proved: false } }
    : { ...base, remedy: send, action: { kind: 'none' } }
}
