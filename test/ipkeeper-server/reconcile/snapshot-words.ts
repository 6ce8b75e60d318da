import { outlineOfAttachment } from '../../../ipkeeper-server/ipam/records/attachment-outline.ts'
import type { LeaseRecord } from '../../../ipkeeper-server/ipam/records/records.ts'
import type {
  NodeSnapshot,
  SeenAttachment,
  SeenVeth,
  SeenPod,
} from '../../../ipkeeper-server/reconcile/plan-snapshot.ts'
import type { ReconcileSettings } from '../../../ipkeeper-server/reconcile/plan-settings.ts'
import type { RuntimeAnswer, Sandbox } from '../../../ipkeeper-server/runtime/sandboxes.ts'
import { attachmentRecord } from '../../rigs/records.ts'

/** Words for what a pass may see; everything that is not said is as on a node where all is well. */

/** The usual terms: minAge 45 s, minAgeUnproved 300 s, 2 passes. */
export const usualTerms: ReconcileSettings = {
  mode: 'repair',
  interval: 15_000,
  minAge: 45_000,
  minAgeUnproved: 300_000,
  passes: 2,
  links: [],
  kinds: {},
}

export interface AttachmentWords {
  readonly id: string
  /** Name of its pod in namespace shop; null: a container without one. */
  readonly pod?: string | null
  readonly uid?: string | null
  readonly ifname?: string
  readonly addresses?: readonly string[]
  readonly madeBy?: string
  readonly delegatedTo?: string
  readonly death?: SeenAttachment['death']
  readonly age?: number
  readonly current?: boolean
  readonly kernel?: readonly string[]
  readonly hostLink?: string
  readonly since?: number
  readonly answered?: number
}

export function attachment(words: AttachmentWords): SeenAttachment {
  const { id, pod = id, uid = pod === null ? null : `uid-${pod}`, ifname = 'eth0' } = words
  const holder =
    pod === null
      ? ({ kind: 'container', network: 'net', containerId: id, ifname } as const)
      : ({ kind: 'pod', network: 'net', namespace: 'shop', name: pod, ifname } as const)
  const record = attachmentRecord({
    ...{ containerId: id, ifname, holder, podUid: uid, netns: `/run/netns/${id}`, netnsInode: '1' },
    ...{ startedAt: 0, since: words.since ?? 0, answered: words.answered ?? 1 },
    ...(words.madeBy !== undefined && { madeBy: words.madeBy }),
    ...(words.delegatedTo !== undefined && { delegatedTo: words.delegatedTo }),
  })
  const leases = (words.addresses ?? ['10.22.0.2']).map(
    address =>
      ({ segment: 'default', address, prefixLength: address.includes(':') ? 64 : 16 }) as LeaseRecord,
  )
  return {
    outline: { ...record, ...outlineOfAttachment(record) },
    ...{ record, leases, current: words.current ?? true },
    ...{ death: words.death, age: words.age ?? 1e9, kernel: words.kernel },
  }
}

export const sandbox = (id: string, more: Partial<Sandbox> = {}): Sandbox => ({
  ...{ id, namespace: 'shop', name: id, uid: `uid-${id}`, ready: true, createdAt: 0 },
  ...more,
})

/** What a runtime answers: container IDs, those with "!" not ready; or that it failed. */
export const runtime = (socket: string, answer: readonly string[] | 'failed'): RuntimeAnswer =>
  answer === 'failed'
    ? { socket, state: 'failed', reason: 'no' }
    : {
        socket,
        state: 'listed',
        sandboxes: answer.map(id => sandbox(id.replace('!', ''), { ready: !id.includes('!') })),
      }

export const link = (name: string, more: Partial<SeenVeth> = {}): SeenVeth => ({
  ...{ index: 7, name, alias: name.startsWith('ipk') ? 'ipkeeper net c1 eth0' : '', carrier: false },
  ...more,
})

export const pod = (name: string, more: Partial<SeenPod> = {}): SeenPod => ({
  ...{ namespace: 'shop', name, uids: [`uid-${name}`], addresses: [], deleting: false },
  ...more,
})

export const snapshot = (more: Partial<NodeSnapshot> = {}): NodeSnapshot => ({
  ...{ attachments: [], runtimes: [], attachedSince: new Set<string>(), pooledSandboxes: [] },
  ...{ links: { state: 'absent' }, namedLinks: new Set<string>(), pods: { state: 'absent' } },
  ...{ elsewhere: [], misnamed: [] },
  ...more,
})
