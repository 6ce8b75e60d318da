import fc from 'fast-check'
import t from 'tap'
import { addAttachment } from '../../ipkeeper-server/leases/verbs/add.ts'
import { undoAdd } from '../../ipkeeper-server/leases/verbs/undo-add.ts'
import { attachmentKey, type Change } from '../../ipkeeper-server/ipam/records/records.ts'
import { MemoryStore } from '../../ipkeeper-server/store/memory/memory-store.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { assertSound } from '../ipkeeper-server/leases/ledger/sound-ledger.ts'
import { assertOnceEach } from '../ipkeeper-server/store/assert-once-each.ts'
import { poolFrom, TestService, type PodWords } from '../ipkeeper-server/leases/test-service.ts'
import { sampleConfig } from '../ipkeeper-server/network/plan/sample-job.ts'

/**
 * ADDs that are committed and turn out, after any number of other things, never to have been answered; some of them in the
 * main role, where the wiring may fail as well. Whatever the order of takeovers, undos, DELs and deaths: no lease without
 * its attachment, no holder with what is not its own, wired is what the records say, and when every container is deleted,
 * nothing is in use. The pods are of a Deployment in some histories: they inherit from each other.
 */

type Step =
  | {
      readonly kind: 'add'
      readonly pod: number
      readonly uid: number
      readonly address: number | undefined
      readonly retain: boolean
      readonly fails: boolean
    }
  | { readonly kind: 'again' | 'undo' | 'del' | 'dies'; readonly pick: number }
  | { readonly kind: 'wait' }

const pick = fc.nat(20)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      pod: fc.nat(1),
      uid: fc.nat(1),
      address: fc.option(fc.integer({ min: 2, max: 4 }), { nil: undefined, freq: 2 }),
      retain: fc.nat(3).map(value => value === 0),
      fails: fc.nat(4).map(value => value === 0),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('undo' as const), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('del' as const, 'dies' as const, 'again' as const), pick }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'wait' as const }) },
)

/**
 * Watches what is wired. An attachment whose wiring went to a newer sandbox of its pod is recorded as wired and is not,
 * until its DEL, or an ADD that wires it anew.
 */
class WiringWatch {
  readonly #story: TestService
  readonly #superseded = new Set<string>()

  constructor(story: TestService) {
    this.#story = story
    const wire = story.network.wire.bind(story.network)
    story.network.wire = order => {
      for (const former of order.superseded) this.#superseded.add(attachmentKey(former))
      this.#superseded.delete(attachmentKey(order.key))
      return wire(order)
    }
  }

  assertAsRecorded(when: string): void {
    const { service, network } = this.#story
    const recorded = [...service.ledger.attachments()].filter(({ wiring }) => wiring).map(attachmentKey)
    const expected = recorded.filter(key => !this.#superseded.has(key)).sort()
    const actual = [...network.wired].sort()
    if (actual.join() !== expected.join())
      throw new Error(`${when}: wired are ${actual.join()}, recorded ${expected.join()}`)
    for (const attachment of service.ledger.attachments())
      if (network.wired.has(attachmentKey(attachment)) && service.ledger.leasesOf(attachment).length === 0)
        throw new Error(
          `${when}: ${attachment.containerId} is wired with an address that another sandbox has`,
        )
  }
}

class OnceEachStore extends MemoryStore {
  override async commit(change: Change): Promise<void> {
    assertOnceEach(change)
    await super.commit(change)
  }
}

const names = { apart: ['p0', 'p1'], 'of a Deployment': ['api-6d4cf56db6-x2x5z', 'api-6d4cf56db6-b4d5f'] }

/** @param wiredPods which of the pods are of a network in the main role */
async function run(
  steps: readonly Step[],
  wiredPods: readonly boolean[],
  pods: keyof typeof names,
): Promise<void> {
  const story = await TestService.open(new OnceEachStore())
  story.pool = poolFrom('net', ['10.22.0.0/29'])
  const watch = new WiringWatch(story)
  const words: PodWords[] = []
  const open = new Map<string, { words: PodWords; generation: number }>()

  const add = async (asked: PodWords): Promise<void> => {
    const { key } = story.request(asked)
    const before = story.service.ledger.attachment(key)
    try {
      const plan = await addAttachment(story.service, story.request(asked), { gone: () => false })
      open.set(asked.container, { words: asked, generation: plan.generation })
      // A container that is added again has a new sandbox.
      story.dead.delete(asked.container)
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'IPK_INTERNAL') throw error
      if (!before && story.service.ledger.attachment(key))
        throw new Error(`the ADD of ${asked.container} failed and left its record`, { cause: error })
    }
  }

  for (const [index, now] of steps.entries()) {
    const chosen = 'pick' in now ? words[now.pick % Math.max(words.length, 1)] : undefined
    if (now.kind === 'add') {
      const fresh: PodWords = {
        pod: names[pods][now.pod] ?? '',
        uid: `u${now.uid}`,
        container: `c${words.length}`,
        ...(now.address !== undefined && { ip: `10.22.0.${now.address}` }),
        ...(now.retain && { retain: 'forever' }),
        // Those of a Deployment ask in one role.
        ...(wiredPods[pods === 'apart' ? now.pod : 0] && { main: sampleConfig }),
      }
      words.push(fresh)
      story.network.failNext = now.fails
      await add(fresh)
      story.network.failNext = false
    } else if (now.kind === 'wait') {
      story.now += 1_000_000
      story.service.ledger.expire(story.now)
    } else if (chosen) {
      const { container } = chosen
      const opened = open.get(container)
      if (now.kind === 'del') await story.del(container)
      else if (now.kind === 'dies') story.dead.add(container)
      else if (now.kind === 'again') await add(chosen)
      else if (opened) {
        open.delete(container)
        await undoAdd(story.service, story.request(opened.words), opened.generation)
      }
      if (now.kind === 'del') open.delete(container)
    }
    const when = `step ${index} ${JSON.stringify(now)}`
    assertSound(story.service.ledger, when)
    watch.assertAsRecorded(when)
  }

  for (const { container } of words) await story.del(container)
  assertSound(story.service.ledger, 'after all DELs')
  watch.assertAsRecorded('after all DELs')
  const left = story.leases().filter(line => line.includes('bound'))
  if (left.length > 0) throw new Error(`left after all DELs: ${left.join(', ')}`)
  const { attachment, holder } = story.service.ledger.counts()
  const held = [...story.service.ledger.leases()].filter(lease => lease.state === 'held').length
  if (attachment > 0 || holder > held)
    throw new Error(`${attachment} attachments and ${holder} holders are left`)
}

t.test('undone at any later moment, an ADD leaves the records sound', async t => {
  await t.resolves(
    fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 16 }),
        fc.tuple(fc.boolean(), fc.boolean()),
        fc.constantFrom('apart', 'of a Deployment'),
        run,
      ),
      { numRuns: 5000 },
    ),
  )
})
