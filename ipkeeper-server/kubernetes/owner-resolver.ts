import type { JsonObject } from '../../shared/json/fold.ts'
import type { Owner, StringMap } from '../ipam/records/pod-facts.ts'
import { metadataOnly, type ApiClient } from './api-client.ts'
import { ApiError } from './api-error.ts'
import { resourcePath } from './api-path.ts'
import type { ClientClock, ClusterLog } from './client-context.ts'
import { at, readMeta, stringMap, type OwnerReference } from './kube-object.ts'
import { misplaced, type Misplaced, ownerKind, type OwnerKind } from './owner-kinds.ts'
import { forerunnerPrefix } from './dialects/owner-keys.ts'
import { backoff, jittered } from './watch-progress.ts'

/** The controller at the top of a pod, and what of it concerns the pod. */
export interface ResolvedOwner {
  readonly owner: Owner
  /** Its own annotations under `ipkeeper.generals.space/`. */
  readonly annotations: StringMap
  readonly misplaced: readonly Misplaced[]
}

/** What one owner says: undefined members of one that is gone, or that we may not read. */
interface OwnerFacts {
  readonly parent: OwnerReference | undefined
  readonly ordinalsStart: number | undefined
  readonly annotations: StringMap
  readonly misplaced: readonly Misplaced[]
}

const nothing: OwnerFacts = { parent: undefined, ordinalsStart: undefined, annotations: {}, misplaced: [] }

interface Known {
  readonly readAt: number
  readonly facts: OwnerFacts
}

interface Wanted {
  readonly namespace: string
  readonly controller: OwnerReference
  readonly settle: (resolved: ResolvedOwner) => void
}

/** Milliseconds for which the pods of one roll-out share an answer; later pods see what was changed meanwhile. */
const sharedFor = 5_000
/** Owners that are remembered: more than a node has pods. */
const remembered = 1_000
/** An owner's owner's owner is nobody's workload; a cycle has no end. */
const steps = 4

/**
 * Finds the controllers of pods as soon as the pods are seen, so that no ADD has to wait for it. What the API refuses us
 * (403) or does not have any more is left out; any other failure is tried again until the pod is forgotten, unless an
 * earlier answer is still known.
 */
export class OwnerResolver {
  readonly #client: ApiClient
  readonly #clock: ClientClock
  readonly #log: ClusterLog
  readonly #known = new Map<string, Known>()
  readonly #asking = new Map<string, Promise<OwnerFacts>>()
  readonly #wanted = new Map<string, Wanted>()
  readonly #forbidden = new Set<string>()
  #failures = 0
  #retry: NodeJS.Timeout | undefined
  #stopped = false

  constructor(client: ApiClient, clock: ClientClock, log: ClusterLog) {
    this.#client = client
    this.#clock = clock
    this.#log = log
  }

  /** How many pods wait for an answer. */
  get waiting(): number {
    return this.#wanted.size
  }

  /** Calls `settle` once, later, unless the pod is forgotten before. */
  want(
    podUid: string,
    namespace: string,
    controller: OwnerReference,
    settle: (resolved: ResolvedOwner) => void,
  ): void {
    this.#wanted.set(podUid, { namespace, controller, settle })
    void this.#try(podUid)
  }

  forget(podUid: string): void {
    this.#wanted.delete(podUid)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#retry)
    this.#wanted.clear()
  }

  async #try(podUid: string): Promise<void> {
    const wanted = this.#wanted.get(podUid)
    if (!wanted) return
    let resolved: ResolvedOwner
    try {
      resolved = await this.resolve(wanted.namespace, wanted.controller)
    } catch (error) {
      if (!this.#stopped) this.#tryLater(error)
      return
    }
    this.#failures = 0
    // It may have been forgotten, or be another pod's by now.
    if (this.#wanted.get(podUid) !== wanted) return
    this.#wanted.delete(podUid)
    wanted.settle(resolved)
  }

  /** One timer for all that wait: they fail for one reason. */
  #tryLater(error: unknown): void {
    if (this.#retry !== undefined || this.#wanted.size === 0) return
    this.#failures++
    if (this.#failures === 1) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#log.warn({ reason }, 'the controllers of pods cannot be asked for; trying on')
    }
    this.#retry = setTimeout(
      () => {
        this.#retry = undefined
        for (const podUid of [...this.#wanted.keys()]) void this.#try(podUid)
      },
      jittered(backoff(this.#failures), this.#clock.random()),
    )
  }

  /** The controller at the top, asked for now. Rejects with ApiError where `want` would try again. */
  async resolve(namespace: string, controller: OwnerReference): Promise<ResolvedOwner> {
    let top = controller
    for (let step = 0; ; step++) {
      const kind = ownerKind(top)
      if (!kind || kind.use === 'direct') return describe(top, nothing)
      const facts = await this.#facts(namespace, top, kind)
      if (kind.use !== 'climb' || !facts.parent || step >= steps) return describe(top, facts)
      top = facts.parent
    }
  }

  async #facts(namespace: string, owner: OwnerReference, kind: OwnerKind): Promise<OwnerFacts> {
    const known = this.#known.get(owner.uid)
    // What a ReplicaSet or Job belongs to does not change.
    const lasts = kind.use === 'climb' ? Infinity : sharedFor
    if (known && this.#clock.monotonic() - known.readAt < lasts) return known.facts
    let asking = this.#asking.get(owner.uid)
    if (!asking) {
      asking = this.#ask(namespace, owner, kind).finally(() => this.#asking.delete(owner.uid))
      this.#asking.set(owner.uid, asking)
    }
    try {
      return await asking
    } catch (error) {
      if (known) return known.facts
      throw error
    }
  }

  async #ask(namespace: string, owner: OwnerReference, kind: OwnerKind): Promise<OwnerFacts> {
    let object: JsonObject
    try {
      const path = resourcePath(kind.apiVersion, kind.resource, { namespace, name: owner.name })
      object = await this.#client.get(path, kind.template ? {} : { accept: metadataOnly })
    } catch (error) {
      if (error instanceof RangeError || (error instanceof ApiError && error.status === 404)) return nothing
      if (!(error instanceof ApiError) || error.status !== 403) throw error
      if (!this.#forbidden.has(kind.resource)) {
        this.#forbidden.add(kind.resource)
        this.#log.warn(
          { resource: kind.resource, reason: error.message },
          `not allowed to get ${kind.resource}: pods are known by their direct controller`,
        )
      }
      return nothing
    }
    const meta = readMeta(object, key => key.startsWith(forerunnerPrefix))
    // Another object of the same name: the one that made the pod has gone.
    if (meta?.uid !== owner.uid) return nothing
    this.#forbidden.delete(kind.resource)
    const start = at(object, 'spec', 'ordinals', 'start')
    const facts: OwnerFacts = {
      parent: meta.controller,
      ordinalsStart:
        kind.kind === 'StatefulSet' ? (Number.isSafeInteger(start) ? (start as number) : 0) : undefined,
      annotations: stringMap(meta.annotations),
      misplaced: misplaced(object, kind),
    }
    this.#remember(owner.uid, facts)
    return facts
  }

  #remember(uid: string, facts: OwnerFacts): void {
    this.#known.delete(uid)
    this.#known.set(uid, { readAt: this.#clock.monotonic(), facts })
    const [oldest] = this.#known.keys()
    if (this.#known.size > remembered && oldest !== undefined) this.#known.delete(oldest)
  }
}

function describe(top: OwnerReference, { ordinalsStart, annotations, misplaced }: OwnerFacts): ResolvedOwner {
  return {
    owner: { ...top, ...(ordinalsStart !== undefined && { ordinalsStart }) },
    annotations,
    misplaced,
  }
}
