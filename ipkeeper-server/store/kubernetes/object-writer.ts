import { setTimeout as pause } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import type { ApiClient } from '../../kubernetes/api-client.ts'
import { ApiError } from '../../kubernetes/api-error.ts'
import type { ClientClock } from '../../kubernetes/client-context.ts'
import { StoreConflict } from '../lease-store.ts'
import { EngineAway, type EngineWrite } from '../shared/engine.ts'
import type { ApiContinuity } from './api-continuity.ts'
import type { CallStart } from '../shared/continuity.ts'
import { isConflict, judgeFailure, pauseBeforeRetry } from './api-failure.ts'
import { readRevision } from './read-object.ts'
import { apiVersion, collectionPath, objectPath, type ObjectName, type ResourceKind } from './resources.ts'

/** One request that changes one object, if it is of the version `base`; null: if there is none. */
export interface ObjectWrite {
  /** What it is for. */
  readonly write: EngineWrite
  readonly kind: ResourceKind
  readonly object: ObjectName
  readonly base: number | null
  /** null deletes the object. */
  readonly spec: object | null
}

/** Told of every answer, so that what is heard later is not taken for newer. */
export interface WriteWitness {
  written(kind: ResourceKind, object: JsonObject): void
  deleted(kind: ResourceKind, object: ObjectName, base: number): void
  /** The newest version of anything that was heard of. */
  newest(): number
}

export interface ObjectWriterOptions {
  readonly client: ApiClient
  readonly clock: ClientClock
  readonly witness: WriteWitness
  readonly continuity: ApiContinuity
}

/** What was carried out: the revision that it has now, and one at which it was as before. */
interface Done {
  readonly what: ObjectWrite
  readonly revision: number | null
  readonly before: number
}

/** Share of the time of a commit that is kept for taking it back. */
const shareForTakingBack = 0.3

/** What the API server sets itself. */
const serversOwn = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'selfLink']

/**
 * Several objects written as if at once. The API changes one object at a time: intents come first, what frees something
 * comes last, and what was written is taken back when a later one meets a conflict.
 */
export class ObjectWriter {
  readonly #client: ApiClient
  readonly #clock: ClientClock
  readonly #witness: WriteWitness
  readonly #continuity: ApiContinuity

  constructor({ client, clock, witness, continuity }: ObjectWriterOptions) {
    this.#client = client
    this.#clock = clock
    this.#witness = witness
    this.#continuity = continuity
  }

  /**
   * Carries out all of each step in parallel, one step after the other. Rejects as Engine.commit does.
   *
   * @returns the revision of each object
   */
  async commit(
    steps: readonly (readonly ObjectWrite[])[],
    deadlineMs: number,
  ): Promise<ReadonlyMap<ObjectWrite, number | null>> {
    const began = this.#clock.monotonic()
    const until = began + deadlineMs
    const done: Done[] = []
    try {
      for (const step of steps)
        await this.#carryOut(step, began + deadlineMs * (1 - shareForTakingBack), done)
    } catch (error) {
      // Of what is not known nothing can be taken back: whoever remembers the intent settles it.
      if (!(error instanceof EngineAway)) await this.#takeBack(done, until)
      throw error
    }
    return new Map(done.map(({ what, revision }) => [what, revision]))
  }

  /** Sends a request; again where the server was too busy to look at it. What comes out of other data by then is no answer. */
  async send<T>(
    kind: ResourceKind,
    verb: string,
    until: number,
    request: (timeout: number) => Promise<T>,
  ): Promise<T> {
    const start = this.#continuity.begin()
    for (;;) {
      try {
        const left = until - this.#clock.monotonic()
        if (left <= 0) throw new EngineAway('no answer from the Kubernetes API in time')
        const answer = await request(left)
        this.#continuity.expectSame(start)
        return answer
      } catch (error) {
        this.#continuity.expectSame(start)
        const wait = pauseBeforeRetry(error)
        if (wait === undefined || this.#clock.monotonic() + wait >= until) {
          if (isConflict(error)) throw error
          throw judgeFailure(error, kind, verb)
        }
        await pause(wait)
      }
    }
  }

  async #carryOut(step: readonly ObjectWrite[], until: number, done: Done[]): Promise<void> {
    const results = await Promise.allSettled(
      step.map(async what => {
        try {
          done.push(await this.#write(what, until))
        } catch (error) {
          if (!isConflict(error)) throw error
          if (what.base === null && error instanceof ApiError && error.status === 404)
            throw judgeFailure(error, what.kind, 'create')
          throw new StoreConflict(what.write.kind, what.write.key)
        }
      }),
    )
    const errors = results.flatMap(result => (result.status === 'rejected' ? [result.reason as Error] : []))
    const [worst] = [
      ...errors.filter(error => error instanceof EngineAway),
      ...errors.filter(error => !(error instanceof EngineAway) && !(error instanceof StoreConflict)),
      ...errors,
    ]
    if (worst) throw worst
  }

  async #write(what: ObjectWrite, until: number): Promise<Done> {
    const { kind, object, base, spec } = what
    const before = this.#witness.newest()
    if (spec === null) {
      if (base !== null) await this.#delete(kind, object, base, until)
      return { what, revision: null, before }
    }
    const revision =
      base === null
        ? await this.#create(kind, { name: object.name, namespace: object.namespace }, spec, until)
        : await this.#replace(kind, object, base, spec, until)
    return { what, revision, before: revision - 1 }
  }

  async #create(kind: ResourceKind, metadata: ObjectName, spec: unknown, until: number): Promise<number> {
    const path = collectionPath(kind, metadata.namespace)
    const start = this.#continuity.begin()
    return this.#written(
      { kind, start },
      await this.send(kind, 'create', until, timeout =>
        this.#client.post(path, { apiVersion, kind, metadata, spec }, { timeout }),
      ),
    )
  }

  /**
   * A patch leaves alone what people have added to the object besides; with the resource version in it, it is refused for
   * any other one (API conventions, "Concurrency control and consistency").
   */
  async #replace(
    kind: ResourceKind,
    object: ObjectName,
    base: number,
    spec: unknown,
    until: number,
  ): Promise<number> {
    const patch = [
      { op: 'replace', path: '/metadata/resourceVersion', value: String(base) },
      { op: 'replace', path: '/spec', value: spec },
    ] as const
    const start = this.#continuity.begin()
    return this.#written(
      { kind, start, base },
      await this.send(kind, 'patch', until, timeout =>
        this.#client.jsonPatch(objectPath(kind, object), patch, { timeout }),
      ),
    )
  }

  async #delete(kind: ResourceKind, object: ObjectName, base: number, until: number): Promise<void> {
    const preconditions = { resourceVersion: String(base) }
    const answer = await this.send(kind, 'delete', until, timeout =>
      this.#client.delete(objectPath(kind, object), preconditions, { timeout }),
    )
    // With a finalizer on it, it stays until that is removed.
    if (answer['kind'] === kind) this.#witness.written(kind, answer)
    else this.#witness.deleted(kind, object, base)
  }

  /** `base`: what changes nothing leaves it. */
  #written(
    {
      kind,
      start,
      base,
    }: { readonly kind: ResourceKind; readonly start: CallStart<number>; readonly base?: number },
    object: JsonObject,
  ): number {
    const { metadata } = object
    const revision = readRevision(isJsonObject(metadata) ? metadata['resourceVersion'] : undefined)
    if (revision !== base && !this.#continuity.holds(revision, start)) this.#continuity.expectSame(start)
    this.#witness.written(kind, object)
    return revision
  }

  async #takeBack(done: readonly Done[], until: number): Promise<void> {
    const results = await Promise.allSettled(done.map(one => this.#takeBackOne(one, until)))
    const failure = results.find(result => result.status === 'rejected')
    if (!failure) return
    const reason = failure.reason instanceof Error ? failure.reason.message : String(failure.reason)
    throw new EngineAway(`a change that conflicted with another one could not be undone: ${reason}`, {
      cause: failure.reason,
    })
  }

  async #takeBackOne({ what, revision, before }: Done, until: number): Promise<void> {
    const { kind, object, base } = what
    if (base === null) {
      if (revision === null) return
      try {
        await this.#delete(kind, object, revision, until)
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error
        this.#witness.deleted(kind, object, revision)
      }
      return
    }
    const former = await this.#asItWas(kind, object, before, until)
    if (revision !== null) {
      try {
        await this.#replace(kind, object, revision, former['spec'], until)
      } catch (error) {
        // Somebody else has built on it meanwhile, and what he made of it stands.
        if (!(error instanceof ApiError && (error.status === 409 || error.status === 404))) throw error
      }
      return
    }
    const { metadata } = former
    const kept = Object.entries(isJsonObject(metadata) ? metadata : {}).filter(
      ([key]) => !serversOwn.includes(key),
    )
    try {
      await this.#create(kind, Object.fromEntries(kept) as unknown as ObjectName, former['spec'], until)
    } catch (error) {
      // Somebody else has made another one meanwhile, and nothing of this change is left in it.
      if (!(error instanceof ApiError && error.status === 409)) throw error
    }
  }

  /** The object at an earlier version of the collection, which the server has for some minutes. */
  async #asItWas(
    kind: ResourceKind,
    { namespace, name }: ObjectName,
    at: number,
    until: number,
  ): Promise<JsonObject> {
    const query = {
      fieldSelector: `metadata.name=${name}`,
      resourceVersion: String(at),
      resourceVersionMatch: 'Exact',
    }
    const { items } = await this.send(kind, 'list', until, timeout =>
      this.#client.get(collectionPath(kind, namespace), { query, timeout }),
    )
    const [former] = Array.isArray(items) ? (items as readonly unknown[]) : []
    if (isJsonObject(former)) return former
    throw new EngineAway(`${kind} ${name} no longer exists as it was at ${at}`)
  }
}
