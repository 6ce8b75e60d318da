import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Finding } from '../../../shared/api/audit.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { Liveness } from '../../../ipkeeper-server/ipam/records/standing.ts'
import type { AttachmentRecord } from '../../../ipkeeper-server/ipam/records/records.ts'
import type { SeenVeth } from '../../../ipkeeper-server/reconcile/plan-snapshot.ts'
import type { ReconcileSettings } from '../../../ipkeeper-server/reconcile/plan-settings.ts'
import { Reconciler, type ReconcilerOptions } from '../../../ipkeeper-server/reconcile/reconciler.ts'
import type { RuntimeAnswer } from '../../../ipkeeper-server/runtime/sandboxes.ts'
import { until } from '../../rigs/poll.ts'
import { poolFrom, TestService } from '../leases/test-service.ts'
import { link, runtime, usualTerms } from './snapshot-words.ts'

const socket = '/run/containerd/containerd.sock'

/** What a container is, as far as a node can tell. */
interface Container {
  /** Of its namespace; another one when it is started again. */
  inode: string
  /** Whether its namespace is there. */
  alive: boolean
  /** Whether the runtime lists it. */
  listed: boolean
  /** Made by something that no list tells of. */
  readonly bare: boolean
}

/** A daemon's reconciler over a node of which only what it asks for exists. Its passes wait until they are wanted. */
class World {
  readonly story: TestService
  readonly reconciler: Reconciler
  readonly containers = new Map<string, Container>()
  readonly found: Finding[] = []
  readonly repaired: Finding[] = []
  readonly errors: unknown[] = []
  links: SeenVeth[] = []
  terms: ReconcileSettings = { ...usualTerms, interval: 1 }
  runtimeIs: 'well' | 'empty' | 'failing' | 'away' = 'well'
  /** Done when the runtime has answered and nothing else was looked at yet. */
  amidst: (() => Promise<void>) | undefined
  #waiting: (() => void) | undefined
  #inodes = 0

  private constructor(story: TestService, more: Partial<ReconcilerOptions>) {
    this.story = story
    const liveness = (record: AttachmentRecord): Liveness => (this.death(record) ? 'dead' : 'unknown')
    Object.assign(story.service, { liveness })
    this.reconciler = new Reconciler({
      service: story.service,
      settings: () => this.terms,
      death: record => this.death(record),
      reach: () => Promise.resolve(),
      runtimes: {
        list: async () => {
          await new Promise<void>(resolve => (this.#waiting = resolve))
          return this.answers()
        },
        addressesOf: () => Promise.resolve([]),
        conditions: () => Promise.resolve([]),
        close: () => undefined,
      },
      links: async () => {
        const { amidst } = this
        this.amidst = undefined
        await amidst?.()
        return this.links
      },
      removeLink: ({ index }) => {
        const before = this.links.length
        this.links = this.links.filter(one => one.index !== index)
        return Promise.resolve(this.links.length < before)
      },
      kernelAddresses: () => Promise.resolve(undefined),
      pods: undefined,
      otherLooks: () => [],
      onFound: finding => this.found.push(finding),
      onRepaired: finding => this.repaired.push(finding),
      onError: error => this.errors.push(error),
      ...more,
    })
  }

  static async open(more: Partial<ReconcilerOptions> = {}): Promise<World> {
    const story = await TestService.open()
    story.pool = poolFrom('net', ['10.22.0.0/16'])
    const world = new World(story, more)
    world.reconciler.start()
    await world.#untilWaiting()
    return world
  }

  death({
    containerId,
    netnsInode,
  }: Pick<AttachmentRecord, 'containerId' | 'netnsInode'>): 'namespace' | undefined {
    const container = this.containers.get(containerId)
    return container?.alive === true && container.inode === netnsInode ? undefined : 'namespace'
  }

  answers(): readonly RuntimeAnswer[] {
    if (this.runtimeIs === 'away') return []
    if (this.runtimeIs === 'failing') return [runtime(socket, 'failed')]
    const listed = [...this.containers].flatMap(([id, { listed }]) => (listed ? [id] : []))
    return [runtime(socket, this.runtimeIs === 'empty' ? [] : listed)]
  }

  async add(id: string, { bare = false, dated = true, pod = id } = {}): Promise<string> {
    const inode = String(++this.#inodes)
    this.containers.set(id, { inode, alive: true, listed: false, bare })
    const answer = await this.story.add({
      ...{ container: id, netnsInode: inode, invocation: `run-${inode}` },
      ...(bare ? { uid: null } : { pod, uid: `uid-${pod}` }),
      ...(dated && { startedAt: Math.floor(this.story.time.monotonic * 1000) }),
    })
    if (!answer.startsWith('10.22.')) throw new Error(`ADD of ${id}: ${answer}`)
    const container = this.containers.get(id)
    // The runtime lists it when its network is up.
    if (container && !bare) container.listed = true
    return answer
  }

  /** One pass. Attachments were read already, when the one before had ended. */
  async pass(count = 1): Promise<void> {
    for (let pass = 0; pass < count; pass++) {
      const go = this.#waiting
      this.#waiting = undefined
      go?.()
      await this.#untilWaiting()
    }
  }

  has(id: string): boolean {
    return this.#attachment(id) !== undefined
  }

  makerOf(id: string): string | undefined {
    return this.#attachment(id)?.madeBy
  }

  #attachment(containerId: string): AttachmentRecord | undefined {
    return this.story.service.ledger.attachment({ network: 'net', containerId, ifname: 'eth0' })
  }

  later(milliseconds: number): void {
    this.story.time.pass(milliseconds)
  }

  async close(): Promise<void> {
    const stopped = this.reconciler.stop()
    this.#waiting?.()
    await stopped
  }

  async #untilWaiting(): Promise<void> {
    await until('a pass', () => this.#waiting !== undefined)
  }
}

async function worldFor(t: Test, more: Partial<ReconcilerOptions> = {}): Promise<World> {
  const world = await World.open(more)
  t.teardown(() => world.close())
  return world
}

t.test('what is dead is ended when it is old enough, and told once', async t => {
  const world = await worldFor(t)
  for (const id of ['a', 'b', 'c']) await world.add(id)
  world.containers.get('a')!.alive = false
  await world.pass(2)
  world.later(44_000)
  await world.pass(2)
  t.same([world.has('a'), world.repaired, world.found], [true, [], []])
  world.later(1_000)
  await world.pass(2)
  t.same(
    ['a', 'b', 'c'].map(id => world.has(id)),
    [false, true, true],
  )
  t.match(world.repaired, [
    { kind: 'lease-without-sandbox', containerId: 'a', pod: 'shop/a', podUid: 'uid-a' },
  ])
  t.same([world.repaired.length, world.found, world.errors], [1, [], []])
  t.same([...world.reconciler.repaired()], [['lease-without-sandbox', 1]])
  t.same([...world.reconciler.counts()], [])
  t.match(world.story.leases(), ['10.22.0.2 cooling shop/a -', /10\.22\.0\.3 bound/, /10\.22\.0\.4 bound/])
})

t.test('in mode "report" it is told once, and nothing done; switched off, nothing is looked for', async t => {
  const world = await worldFor(t)
  world.terms = { ...world.terms, mode: 'report' }
  await world.add('a')
  world.containers.get('a')!.alive = false
  world.later(45_000)
  await world.pass(3)
  t.match(world.found, [{ state: 'due', action: 'end-attachment', remedy: 'set reconcile.mode to repair' }])
  t.same([world.found.length, world.repaired, world.has('a')], [1, [], true])
  t.same([...world.reconciler.counts()], [['lease-without-sandbox', 1]])
})

t.test('added anew under its ID while a pass is about to end it', async t => {
  const rows: readonly { readonly dated: boolean; readonly by: 'proof' | 'absence' }[] = [
    { dated: true, by: 'proof' },
    { dated: false, by: 'proof' },
    { dated: true, by: 'absence' },
    { dated: false, by: 'absence' },
  ]
  for (const { dated, by } of rows) {
    const world = await worldFor(t)
    for (const id of ['again', 'other']) await world.add(id, { dated })
    await world.pass(2)
    const again = world.containers.get('again')!
    if (by === 'proof') again.alive = false
    else again.listed = false
    world.later(40_000)
    await world.pass(2)
    world.later(by === 'proof' ? 5_000 : 260_000)
    world.amidst = async () => {
      await world.story.del('again')
      world.later(1)
      t.match(await world.add('again', { dated }), '10.22.0.')
    }
    await world.pass(2)
    t.ok(world.has('again'), `${by}, ${dated ? 'dated' : 'not dated'}`)
    t.same(world.repaired, [])
    // And after a sweep, its tombstone refuses nobody who comes later.
    world.containers.get('again')!.alive = false
    world.later(45_000)
    await world.pass(2)
    t.notOk(world.has('again'))
    world.later(1)
    t.match(await world.add('again', { dated }), '10.22.0.')
    await world.pass(2)
    t.ok(world.has('again'))
  }
})

t.test('a namespace that comes into sight again before the act', async t => {
  const world = await worldFor(t)
  for (const id of ['a', 'b']) await world.add(id)
  await world.pass(2)
  world.containers.get('a')!.alive = false
  world.later(45_000)
  // Read as dead by the pass that waits now.
  await world.pass()
  const wasThere = world.has('a')
  world.amidst = () => {
    world.containers.get('a')!.alive = true
    return Promise.resolve()
  }
  await world.pass()
  t.ok(wasThere && world.has('a'))
  t.same([world.repaired, world.errors], [[], []])
})

t.test('what the audit calls due is what the next pass does', async t => {
  const world = await worldFor(t)
  for (const id of ['dead', 'omitted', 'young', 'lives']) await world.add(id)
  world.links = [link('ipk000000000001'), link('cali0', { index: 8 })]
  await world.pass(2)
  world.containers.get('dead')!.alive = false
  world.containers.get('omitted')!.listed = false
  world.later(300_000)
  await world.story.del('young')
  await world.add('young')
  await world.pass()
  world.containers.get('young')!.alive = false
  const audit = world.reconciler.audit()
  await world.pass()
  // The turn of the audit, which asks the runtime as well.
  await world.pass()
  const { findings, attachments, mode } = await audit
  const due = findings.filter(({ state }) => state === 'due')
  t.same([mode, attachments], ['repair', 2])
  t.same(due, [], 'all that was due was done before its turn came')
  t.match(findings.map(({ kind, state }) => `${kind} ${state}`).sort(), [
    'foreign-link reported',
    'lease-without-sandbox waiting',
  ])
  t.same(world.repaired.map(({ containerId, link: name }) => containerId ?? name).sort(), [
    'c1',
    'dead',
    'omitted',
  ])
})

t.test('however many ask for an audit at a time, they get one look, and the next pass its turn', async t => {
  let looks = 0
  const pods = () => {
    looks++
    return Promise.resolve([])
  }
  const world = await worldFor(t, { pods })
  await world.add('lives')
  await world.pass(2)
  const before = looks
  const audits = Array.from({ length: 20 }, () => world.reconciler.audit())
  await world.pass()
  const late = world.reconciler.audit()
  await world.pass()
  const replies = await Promise.all([...audits, late])
  t.equal(new Set(replies).size, 1)
  t.equal(looks, before + 1, 'only an audit asks for the pods of a node where all is well')
  const again = world.reconciler.audit()
  await world.pass()
  await world.pass()
  t.not(await again, replies[0], 'whoever asks afterwards gets a look of his own')
  t.equal(looks, before + 2)
})

t.test('one that cannot be ended keeps nobody else from it, and is tried again', async t => {
  const world = await worldFor(t)
  for (const id of ['a', 'b']) await world.add(id)
  const { ledger } = world.story.service
  const commit = ledger.commit.bind(ledger)
  let refuse = true
  ledger.commit = change =>
    refuse && change.some(({ key }) => key.includes('"a"'))
      ? Promise.reject(new Problem('IPK_WIRING_FAILED', 'no'))
      : commit(change)
  for (const container of world.containers.values()) {
    container.alive = false
    container.listed = false
  }
  world.later(45_000)
  await world.pass(3)
  t.same([world.has('a'), world.has('b')], [true, false])
  t.ok(world.errors.length > 0)
  refuse = false
  await world.pass(2)
  t.notOk(world.has('a'))
})

type Step =
  | { readonly do: 'add'; readonly id: string; readonly bare: boolean; readonly dated: boolean }
  | { readonly do: 'del' | 'die' | 'dieUnlisted' | 'omit'; readonly id: string }
  | { readonly do: 'runtime'; readonly is: World['runtimeIs'] }
  | { readonly do: 'clock' | 'wall clock'; readonly ms: number }
  | { readonly do: 'pass' }

t.test('whoever lives is never ended, and whoever is dead is, whatever happens between', async t => {
  const ended = { proof: 0, absence: 0 }
  const ids = ['a', 'b', 'c'] as const
  const id = fc.constantFrom(...ids)
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
      fc.record({ do: fc.constant('add' as const), id, bare: fc.boolean(), dated: fc.boolean() }),
      fc.record({
        do: fc.constantFrom('del' as const, 'die' as const, 'dieUnlisted' as const, 'omit' as const),
        id,
      }),
      fc.record({
        do: fc.constant('runtime' as const),
        is: fc.constantFrom(
          'well' as const,
          'well' as const,
          'empty' as const,
          'failing' as const,
          'away' as const,
        ),
      }),
      fc.record({ do: fc.constant('clock' as const), ms: fc.constantFrom(1, 15_000, 45_000, 300_000) }),
      fc.record({ do: fc.constant('wall clock' as const), ms: fc.constantFrom(-3_600_000, 3_600_000) }),
      fc.constant({ do: 'pass' as const }),
      fc.constant({ do: 'pass' as const }),
    ),
    { minLength: 10, maxLength: 40, size: 'max' },
  )
  const take = async (world: World, step: Step): Promise<void> => {
    const of = 'id' in step ? world.containers.get(step.id) : undefined
    switch (step.do) {
      case 'add':
        if (of?.alive === true) return
        world.later(1)
        await world.add(step.id, step)
        return
      case 'runtime':
        world.runtimeIs = step.is
        return
      case 'clock':
        world.later(step.ms)
        return
      case 'wall clock':
        world.story.time.set(step.ms)
        return
      case 'pass':
        await world.pass()
        return
      case 'omit':
        if (of) of.listed = false
        return
      case 'die':
        if (of) of.alive = false
        return
      case 'dieUnlisted':
        if (of) [of.alive, of.listed] = [false, false]
        return
      case 'del':
        if (!of) return
        of.listed = false
        await world.story.del(step.id)
        of.alive = false
    }
  }

  const property = fc.asyncProperty(steps, steps, fc.nat(9), async (before, amidst, when) => {
    const world = await World.open()
    try {
      /** Alive, and either in the list or in none ever. */
      const lost = (): string[] =>
        [...world.containers].flatMap(([id, { alive, listed, bare }]) =>
          alive && (listed || bare) && !world.has(id) ? [id] : [],
        )
      for (const first of ids) await world.add(first, { bare: first === 'c' })
      await world.pass(2)
      for (const [index, step] of before.entries()) {
        if (index === when) {
          world.amidst = async () => {
            for (const other of amidst) if (other.do !== 'pass') await take(world, other)
          }
          await world.pass()
        }
        await take(world, step)
        if (lost().length > 0) throw new Error(`${lost().join()} lives and was ended at step ${index}`)
      }
      // The dead are out of the list at last, as a runtime tells; one that stays lists itself.
      world.runtimeIs = 'well'
      for (const container of world.containers.values()) if (!container.alive) container.listed = false
      await world.add('witness')
      world.later(usualTerms.minAge)
      const dead = [...world.containers].flatMap(([id, { alive }]) => (!alive && world.has(id) ? [id] : []))
      await world.pass(3)
      const left = dead.filter(id => world.has(id))
      if (left.length > 0) throw new Error(`${left.join()} is dead and is still there`)
      const omitted = [...world.containers].flatMap(([id, { alive, listed, bare }]) =>
        alive && !listed && !bare && world.makerOf(id) === socket ? [id] : [],
      )
      world.later(usualTerms.minAgeUnproved)
      await world.pass(usualTerms.passes + 2)
      const omittedStill = omitted.filter(id => world.has(id))
      if (omittedStill.length > 0) throw new Error(`${omittedStill.join()} is omitted and is still there`)
      if (lost().length > 0) throw new Error(`${lost().join()} lives and was ended at last`)
      if (world.errors.length > 0) throw world.errors[0]
      for (const { why } of world.repaired) ended[/ and not this one$/.test(why) ? 'absence' : 'proof']++
    } finally {
      await world.close()
    }
  })
  await fc.assert(property, { numRuns: 60, seed: 6 })
  t.ok(ended.proof > 50 && ended.absence > 5, JSON.stringify(ended))
})
