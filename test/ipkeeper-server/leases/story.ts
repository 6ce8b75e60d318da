import { symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Owner } from '../../../ipkeeper-server/ipam/records/pod-facts.ts'
import type {
  PoolPolicy,
  PoolRules,
  PoolSettings,
} from '../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import type { NodeState } from '../../../ipkeeper-server/kubernetes/cluster-view.ts'
import { addAttachment } from '../../../ipkeeper-server/leases/verbs/add.ts'
import { commitPlan } from '../../../ipkeeper-server/leases/ledger/commit-plan.ts'
import { planExpiry } from '../../../ipkeeper-server/ipam/plan/plan-release.ts'
import { forgetLeases } from '../../../ipkeeper-server/leases/tasks/forget-leases.ts'
import { reserve, unreserve } from '../../../ipkeeper-server/leases/verbs/reserve.ts'
import { attachmentLiveness } from '../../../ipkeeper-server/network/pod/attachment-liveness.ts'
import { inspectNetns } from '../../../ipkeeper-server/network/pod/namespace.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { FragileStore } from '../store/fragile-store.ts'
import { assertSound } from './ledger/sound-ledger.ts'
import { poolFrom, spell, TestService, type PodWords } from './test-service.ts'

/**
 * One step of a story: what happens, and for an ADD its answer (addresses or a code) and what the reason has to say: of a
 * success the plan's reasons, of a problem its message, details and hint.
 */
export type Step =
  | readonly ['add', PodWords, string, RegExp?]
  | readonly ['del', string, ifname?: string, network?: string]
  /** What becomes of the network namespace of a container. */
  | readonly ['netns', string, 'gone' | 'replaced']
  | readonly ['reboot']
  | readonly ['node', string, NodeState]
  | readonly ['wait', milliseconds: number]
  /** The clock is set forward: no timer tells that what is kept comes free. */
  | readonly ['clock', milliseconds: number]
  /** The daemon is started anew on the same store. */
  | readonly ['restart']
  | readonly ['reserve' | 'move', address: string, owner: string]
  | readonly ['unreserve', address: string]
  | readonly ['configure', ...pools: readonly PoolSettings[]]
  /** What is remembered for pools that no longer need it, as after a reload. */
  | readonly ['forget']
  | readonly ['leases', readonly string[]]

export const minute = 60_000

/** A pool of the daemon's configuration. */
export function configured(
  name: string,
  ranges: readonly (readonly string[])[],
  more: { readonly rules?: PoolRules; readonly policy?: Partial<PoolPolicy> } = {},
): PoolSettings {
  return {
    pool: poolFrom(name, ...ranges),
    rules: more.rules ?? {},
    policy: {
      retention: 'release',
      cooldown: minute,
      preferFor: 10 * minute,
      strategy: 'lowest-free',
      ...more.policy,
    },
    network: {},
  }
}

export const owned = (kind: string, name: string, uid = `uid-of-${name}`, ordinalsStart?: number): Owner => ({
  apiVersion: kind.endsWith('Job') ? 'batch/v1' : 'apps/v1',
  kind,
  name,
  uid,
  ...(ordinalsStart !== undefined && { ordinalsStart }),
})

const namespaceHere = '/proc/self/ns/net'
/** Is a namespace too, with another inode. */
const anotherNamespace = '/proc/self/ns/mnt'

/** A service whose sandboxes are judged as on a real node: by paths of network namespaces, boots and what is known of nodes. */
class Stage {
  readonly #folder: string
  readonly #store = new FragileStore()
  readonly #nodes = new Map<string, NodeState>()
  #boot = 1
  /** Whose daemon looks at sandboxes. */
  #here = 'n1'
  #world: TestService

  private constructor(folder: string, world: TestService) {
    this.#folder = folder
    this.#world = world
  }

  static async open(folder: string): Promise<Stage> {
    const stage = new Stage(folder, await TestService.open())
    await stage.restart()
    return stage
  }

  get world(): TestService {
    return this.#world
  }

  async restart(): Promise<void> {
    const { pool, book, time } = this.#world
    const world = await TestService.open(this.#store, undefined, undefined, undefined, time)
    const nodeState = (name: string): NodeState => this.#nodes.get(name) ?? 'unknown'
    const service = {
      ...world.service,
      liveness: (attachment: Parameters<typeof attachmentLiveness>[0]) =>
        attachmentLiveness(attachment, this.#here, `boot-${this.#boot}`, nodeState),
    }
    this.#world = Object.assign(world, { service, pool, book })
  }

  async add(words: PodWords): Promise<{ readonly answer: string; readonly why: string }> {
    this.#here = words.node ?? 'n1'
    const netns = words.netns ?? join(this.#folder, words.container)
    if (words.netns === undefined) this.#point(netns, namespaceHere)
    const state = inspectNetns(netns)
    const request = this.#world.request({
      netns,
      netnsInode: state.kind === 'namespace' ? state.inode : null,
      bootId: `boot-${this.#boot}`,
      ...words,
    })
    try {
      const { answer, reasons } = await addAttachment(this.#world.service, request, { gone: () => false })
      return { answer: spell(answer), why: reasons.join('; ') }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return { answer: error.code, why: `${error.message}; ${error.details}; ${error.hint}` }
    }
  }

  async play(step: Exclude<Step, readonly ['add' | 'leases', ...unknown[]]>): Promise<void> {
    const { service } = this.#world
    switch (step[0]) {
      case 'del':
        await this.#world.del(step[1], step[2], step[3])
        return
      case 'netns':
        if (step[2] === 'gone') unlinkSync(join(this.#folder, step[1]))
        else this.#point(join(this.#folder, step[1]), anotherNamespace)
        return
      case 'reboot':
        this.#boot++
        return
      case 'node':
        this.#nodes.set(step[1], step[2])
        return
      case 'wait':
        this.#world.now += step[1]
        for (const lease of service.ledger.expire(this.#world.now))
          await commitPlan(service.ledger, () => ({
            change: planExpiry(service.ledger, lease, service.pools()),
          }))
        return
      case 'clock':
        this.#world.now += step[1]
        return
      case 'restart':
        await this.restart()
        return
      case 'reserve':
      case 'move':
        await reserve(service, {
          ...{ segment: 'default', address: step[1], owner: step[2], note: '' },
          moves: step[0] === 'move',
        })
        return
      case 'unreserve':
        await unreserve(service, 'default', step[1])
        return
      case 'forget':
        await forgetLeases(service)
        return
      case 'configure':
        this.#world.book = { ...this.#world.book, pools: step.slice(1) as PoolSettings[] }
    }
  }

  #point(path: string, target: string): void {
    try {
      unlinkSync(path)
    } catch {
      // Nothing was there yet.
    }
    symlinkSync(target, path)
  }
}

/** Plays every story of a table, each as a test of its own on a fresh service; records have to be sound after each step. */
export function tellStories(t: Test, stories: Readonly<Record<string, readonly Step[]>>): void {
  for (const [name, steps] of Object.entries(stories)) {
    t.test(name, async t => {
      const stage = await Stage.open(t.testdir())
      for (const [index, step] of steps.entries()) {
        const at = `step ${index + 1}`
        if (step[0] === 'add') {
          const [, words, answer, reason] = step
          const got = await stage.add(words)
          t.equal(got.answer, answer, `${at}: ADD of ${words.container}: ${got.why}`)
          if (reason) t.match(got.why, reason, `${at}: why`)
        } else if (step[0] === 'leases') t.strictSame(stage.world.leases(), step[1], at)
        else await stage.play(step)
        assertSound(stage.world.service.ledger, at)
      }
    })
  }
}
