import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditWitness } from '../../shared/api/audit.schema.ts'
import { parseAddress } from '../../shared/net/address.ts'
import { withoutPrefix } from '../../shared/net/address-text.ts'
import { Problem } from '../../shared/problem/problem.ts'
import type { DeathMarks } from '../ipam/records/attachment-outline.ts'
import { pendingSpec } from '../ipam/pools/pending-spec.ts'
import { locateAddress } from '../ipam/pools/pool-record.ts'
import type { AttachmentKey, AttachmentRecord, LeaseRecord } from '../ipam/records/records.ts'
import { markMadeBy } from '../leases/verbs/attachment-notes.ts'
import { ageClock, type LeaseService } from '../leases/verbs/service.ts'
import type { ContainerRuntimes, RuntimeAnswer } from '../runtime/sandboxes.ts'
import { AttachmentLook } from './attachment-look.ts'
import { missingInKernel } from './plan-addresses.ts'
import { needsPods, seesNoNamespaces } from './plan-attachments.ts'
import type {
  Looked,
  NodeSnapshot,
  PooledSandbox,
  RefusedConfig,
  SeenAttachment,
  SeenElsewhere,
  SeenFalseAnswer,
  SeenLostNode,
  SeenVeth,
  SeenPod,
} from './plan-snapshot.ts'

/** Attachments that are looked at in one turn of the event loop. */
const lookedAtOnce = 100
/** Milliseconds after which addresses that agreed are compared again. */
const compareEvery = 300_000
/** Attachments whose comparison is due that are compared in one pass: each costs a program in its namespace. */
const comparedAtOnce = 8
/** Calls side by side: an ADD that arrives in between waits for a few milliseconds. */
export const callsAtOnce = 4

export interface NodeLookOptions {
  readonly service: LeaseService
  readonly death: (attachment: AttachmentKey & DeathMarks) => 'boot' | 'namespace' | undefined
  /** Keeps `death` of these from waiting for a file system that hangs. */
  readonly reach: (attachments: readonly DeathMarks[]) => Promise<void>
  readonly runtimes: ContainerRuntimes
  /** The veths of the host. */
  readonly links: () => Promise<readonly SeenVeth[]>
  /** The addresses on an attachment's interface in the kernel; undefined where they cannot be read. */
  readonly kernelAddresses: (attachment: AttachmentRecord) => Promise<readonly string[] | undefined>
  /** Pods of this node, asked of the API now; undefined where no API is configured. */
  readonly pods: (() => Promise<readonly SeenPod[]>) | undefined
  /** Leases of lost nodes; absent where this node does not share its store. */
  readonly lostNodes?: LostLeases
  /** Pods that lately answered for addresses that are not theirs; absent where nobody asks. */
  readonly falseAnswers?: () => readonly SeenFalseAnswer[]
  /** The daemon's configuration file where it is not in force; absent where there is none. */
  readonly refusedConfig?: () => RefusedConfig | undefined
  readonly onError: (error: unknown) => void
}

/** Looks for what nodes that are gone have left in a ledger that nodes share. */
export interface LostLeases {
  look(): Promise<readonly SeenElsewhere[]>
  /** Nodes that are lost, and of which there is only to tell; `asked`: somebody wants to know. */
  told(asked: boolean): readonly SeenLostNode[]
  /** Nodes that have addresses in use, and of which nothing is known here; where no API tells of nodes. */
  unheard(): readonly string[]
  /** Whether at this very moment its node is gone, and it is this daemon that ends what it has left. */
  mayEnd(attachment: AttachmentRecord): boolean
}

/** How far a look goes. usual: what costs little. whole: everything, for a person who asked. */
type Extent = 'usual' | 'whole'

interface Comparison {
  readonly at: number
  readonly kernel: readonly string[] | undefined
}

/**
 * Looks at everything that a pass compares. Order is part of the meaning: attachments are read before anybody else is asked
 * (plan-snapshot.ts).
 */
export class NodeLook {
  readonly #options: NodeLookOptions
  /** Addresses that runtimes report of sandboxes that are not ours; they do not change. */
  readonly #foreignAddresses = new Map<string, readonly string[]>()
  readonly #compared = new Map<string, Comparison>()
  #podsAskedAt = -Infinity

  constructor(options: NodeLookOptions) {
    this.#options = options
  }

  /** @param addressesDiffer whether the last pass found pods whose addresses differ: then the API is asked again */
  async take(extent: Extent, addressesDiffer: boolean): Promise<NodeSnapshot> {
    const { service } = this.#options
    const attachments = await this.#lookAtAttachments(extent)
    const runtimes = await this.#options.runtimes.list()
    await this.#rememberMakers(attachments, runtimes)
    const attachedSince = new Set(
      Array.from(service.ledger.attachmentKeys(), ({ containerId }) => containerId),
    )
    const pooledSandboxes = await this.#pooled(runtimes, attachedSince)
    const links = await this.#lookAtLinks()
    const namedLinks = new Set<string>()
    for (const [, { hostLink }] of service.ledger.attachmentOutlines())
      if (hostLink !== null) namedLinks.add(hostLink)
    if (attachments.length > lookedAtOnce) await nextTurn()
    const pods = await this.#lookAtPods(extent === 'whole' || addressesDiffer, attachments, runtimes)
    const elsewhere = (await this.#options.lostNodes?.look()) ?? []
    const misnamed = this.#lookAtMisnamed()
    const lostNodes = this.#options.lostNodes?.told(extent === 'whole') ?? []
    const falseAnswers = this.#options.falseAnswers?.() ?? []
    const own = await service.ownAddresses?.()
    const refusedConfig = this.#options.refusedConfig?.()
    const refusedPools = [...service.ledger.pools()].flatMap(record => {
      const pending = pendingSpec(record)
      return pending?.refused ? [pending] : []
    })
    return {
      ...{ attachments, misnamed, runtimes, attachedSince, pooledSandboxes, links, namedLinks, pods },
      ...{ elsewhere, lostNodes, falseAnswers, ...(own && { own }), ...(refusedConfig && { refusedConfig }) },
      refusedPools,
      unheard: this.#options.lostNodes?.unheard() ?? [],
      unrecorded: this.#lookForUnrecorded(attachments),
    }
  }

  /** Leases are looked through only where there are more than attachments have. */
  #lookForUnrecorded(attachments: readonly SeenAttachment[]): readonly LeaseRecord[] {
    const { ledger, node } = this.#options.service
    if (ledger.boundOn(node) === 0) return []
    const recorded = attachments.flatMap(({ leases }) => leases.filter(({ state }) => state === 'bound'))
    if (ledger.boundOn(node) <= recorded.length) return []
    return [...ledger.leasesOn(node)].filter(
      ({ state, attachment }) =>
        state === 'bound' && attachment !== null && !ledger.hasAttachment(attachment),
    )
  }

  async #lookAtAttachments(extent: Extent): Promise<readonly SeenAttachment[]> {
    const { service, death, reach } = this.#options
    const { ledger, node } = service
    const names = ledger.attachmentNames()
    const seen: AttachmentLook[] = []
    for (let first = 0; first === 0 || first < names.length; first += lookedAtOnce) {
      if (first > 0) await nextTurn()
      const own = names.slice(first, first + lookedAtOnce).flatMap(name => {
        const sight = ledger.lookAtAttachment(name)
        return sight?.outline.node === node ? [sight] : []
      })
      await reach(own.map(({ outline }) => outline))
      const clock = ageClock(service)
      for (const sight of own) {
        const leases = ledger.leasesOf(sight.outline)
        seen.push(new AttachmentLook(sight, leases, death(sight.outline), clock, ledger))
      }
    }
    const known = new Set(seen.map(({ name }) => name))
    for (const name of this.#compared.keys()) if (!known.has(name)) this.#compared.delete(name)
    const living = seen.filter(({ death: dead, leases }) => dead === undefined && leases.length > 0)
    await inGroups(extent === 'whole' ? living : this.#toCompare(living), callsAtOnce, one =>
      this.#compare(one),
    )
    for (const one of seen) one.kernel = this.#compared.get(one.name)?.kernel
    return seen
  }

  /** What did not agree, and some of those that were never compared, or long ago. */
  #toCompare(living: readonly AttachmentLook[]): readonly AttachmentLook[] {
    const now = this.#options.service.monotonic()
    const differing: AttachmentLook[] = []
    const due: { readonly at: number; readonly seen: AttachmentLook }[] = []
    for (const seen of living) {
      const last = this.#compared.get(seen.name)
      if (last?.kernel && missingInKernel(seen.leases, last.kernel).length > 0) differing.push(seen)
      else if (!last || now - last.at >= compareEvery) due.push({ at: last?.at ?? -Infinity, seen })
    }
    const longest = due.sort((a, b) => a.at - b.at).slice(0, comparedAtOnce)
    return [...differing, ...longest.map(({ seen }) => seen)]
  }

  async #compare({ name, record }: AttachmentLook): Promise<void> {
    const { service, kernelAddresses, onError } = this.#options
    try {
      this.#compared.set(name, { at: service.monotonic(), kernel: await kernelAddresses(record) })
    } catch (error) {
      this.#compared.set(name, { at: service.monotonic(), kernel: undefined })
      if (!isMissingTool(error)) onError(error)
    }
  }

  /** What is on record here under other names than this node's. */
  #lookAtMisnamed(): NodeSnapshot['misnamed'] {
    const { ledger, node } = this.#options.service
    const others = [...ledger.attachmentOutlines()].filter(([, outline]) => outline.node !== node)
    return others.flatMap(([name]) => {
      const sight = ledger.lookAtAttachment(name)
      return sight ? [{ record: sight.record(), leases: ledger.leasesOf(sight.outline) }] : []
    })
  }

  /** Only a runtime that had a sandbox is believed when it no longer tells of it. */
  async #rememberMakers(
    attachments: readonly SeenAttachment[],
    runtimes: readonly RuntimeAnswer[],
  ): Promise<void> {
    const makers = new Map<string, string>()
    for (const answer of runtimes)
      if (answer.state === 'listed') for (const { id } of answer.sandboxes) makers.set(id, answer.socket)
    const unmarked = attachments.flatMap(seen => {
      const madeBy = makers.get(seen.outline.containerId)
      return madeBy === undefined || madeBy === seen.outline.madeBy ? [] : [{ seen, madeBy }]
    })
    await markMadeBy(this.#options.service, unmarked)
  }

  /** Ready sandboxes that are not ours, and have an address of a pool. */
  async #pooled(
    runtimes: readonly RuntimeAnswer[],
    attached: ReadonlySet<string>,
  ): Promise<readonly PooledSandbox[]> {
    const foreign = runtimes.flatMap(answer =>
      answer.state === 'listed'
        ? answer.sandboxes
            .filter(({ id, ready }) => ready && !attached.has(id))
            .map(sandbox => ({ socket: answer.socket, sandbox }))
        : [],
    )
    const listed = new Set(foreign.map(({ sandbox }) => sandbox.id))
    for (const id of this.#foreignAddresses.keys()) if (!listed.has(id)) this.#foreignAddresses.delete(id)
    await inGroups(
      foreign.filter(({ sandbox }) => !this.#foreignAddresses.has(sandbox.id)),
      callsAtOnce,
      async ({ socket, sandbox: { id } }) => {
        // One that just went, or cannot be asked for, is asked for in the next pass.
        const addresses = await this.#options.runtimes.addressesOf(socket, id).catch(() => [])
        if (addresses.length > 0) this.#foreignAddresses.set(id, addresses)
      },
    )
    return foreign.flatMap(({ sandbox }) =>
      (this.#foreignAddresses.get(sandbox.id) ?? []).flatMap(address => {
        const pool = this.#poolOf(address)
        return pool === undefined ? [] : [{ sandbox, address, pool }]
      }),
    )
  }

  #poolOf(text: string): string | undefined {
    const { ledger } = this.#options.service
    const address = parseAddress(withoutPrefix(text))
    if (!address) return undefined
    for (const { segment } of ledger.pools()) {
      const place = locateAddress(ledger, segment, address)
      if (place.kind === 'usable') return place.pool
    }
    return undefined
  }

  async #lookAtLinks(): Promise<NodeSnapshot['links']> {
    try {
      return { state: 'asked', found: await this.#options.links() }
    } catch (error) {
      // Where there is no ip, nothing was ever wired.
      return isMissingTool(error) ? { state: 'absent' } : { state: 'failed', reason: textOf(error) }
    }
  }

  async #lookAtPods(
    always: boolean,
    attachments: readonly SeenAttachment[],
    runtimes: readonly RuntimeAnswer[],
  ): Promise<Looked<readonly SeenPod[]>> {
    const { service, pods } = this.#options
    if (!pods) return { state: 'absent' }
    const wanted =
      always || service.monotonic() - this.#podsAskedAt >= compareEvery || needsPods(attachments, runtimes)
    if (!wanted || attachments.length === 0) return { state: 'later' }
    try {
      const found = await pods()
      this.#podsAskedAt = service.monotonic()
      return { state: 'asked', found }
    } catch (error) {
      return { state: 'failed', reason: textOf(error) }
    }
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const isMissingTool = (error: unknown): boolean =>
  error instanceof Problem && error.code === 'IPK_TOOL_MISSING'

/** Handles some of the items side by side; resolves when all are done. An error ends the rest. */
export async function inGroups<T>(
  items: readonly T[],
  size: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: Math.min(size, items.length) }, async () => {
      for (const item of queue) await work(item)
    }),
  )
}

/** Who was asked, and what came of it. */
export function witnessesOf(snapshot: NodeSnapshot): AuditWitness[] {
  const { runtimes, attachments, links, pods, unheard = [] } = snapshot
  const ofRuntimes = runtimes.map((answer): AuditWitness => {
    const name = `runtime ${answer.socket}`
    if (answer.state === 'failed') return { name, state: 'failed', says: answer.reason }
    const { length } = answer.sandboxes
    return length === 0 && attachments.length > 0
      ? { name, state: 'doubted', says: 'it lists no sandbox at all, though there are attachments' }
      : { name, state: 'asked', says: `${length} sandboxes` }
  })
  const blind = seesNoNamespaces(snapshot)
  return [
    ...(ofRuntimes.length > 0
      ? ofRuntimes
      : [{ name: 'runtime', state: 'absent' as const, says: 'no socket of containerd or CRI-O is there' }]),
    blind
      ? {
          name: 'network namespaces',
          state: 'doubted',
          says: 'those of all running sandboxes seem to be gone: the daemon may not see /run/netns',
        }
      : { name: 'network namespaces', state: 'asked', says: `${attachments.length} looked at` },
    looked('host links', links, 'no ip is installed, so nothing was wired', found => `${found.length} veths`),
    pods.state === 'asked' && pods.found.length === 0 && attachments.length > 0
      ? {
          name: 'Kubernetes API',
          state: 'doubted',
          says: 'it lists no pod of this node: is "node" in the configuration the name of its Node?',
        }
      : looked('Kubernetes API', pods, 'not configured', found => `${found.length} pods of this node`),
    ...(unheard.length === 0 ? [] : [unheardNodes(unheard)]),
  ]
}

/** So many are named. */
const mostNamed = 5

function unheardNodes(names: readonly string[]): AuditWitness {
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : ''
  return {
    name: 'other nodes',
    state: 'absent',
    says: `it is not known here whether ${names.slice(0, mostNamed).join(', ')}${more} ${names.length === 1 ? 'is' : 'are'} running; addresses are bound there: ipkeeperctl nodes`,
  }
}

function looked<T>(
  name: string,
  look: Looked<T>,
  absent: string,
  describe: (found: T) => string,
): AuditWitness {
  switch (look.state) {
    case 'asked':
      return { name, state: 'asked', says: describe(look.found) }
    case 'absent':
      return { name, state: 'absent', says: absent }
    case 'later':
      return { name, state: 'absent', says: 'not asked in this pass' }
    case 'failed':
      return { name, state: 'failed', says: look.reason }
  }
}
