import fc from 'fast-check'
import type { Retention } from '../../../ipkeeper-server/ipam/records/retention.ts'
import type { ConfiguredPool } from './pool-shapes.ts'
import { configuredShapes, inlineShapes } from './pool-shapes.ts'
import { namespaces, nodes, pods } from './pods.ts'

/**
 * Steps of a history. A number called `pick` means one of the sandboxes there have been so far, from the latest; who it is, and every
 * other word of a step, is known only when the history is played.
 */

/** What a pod asks for; the addresses are numbers behind the prefix of a pool that it may use. */
export interface AskWords {
  readonly form: 'nothing' | 'address' | 'list'
  readonly families: readonly (4 | 6)[]
  /** Which of the pools that may serve the pod. */
  readonly where: number
  readonly numbers: readonly number[]
  /** In place of the first number: one of the addresses that somebody has, keeps, lets rest or was promised. */
  readonly theirs: number | undefined
  /** Names of pools in place of the network's. */
  readonly pools: readonly string[]
  readonly retain: Retention | undefined
}

export type WhoWords =
  /** A pod, or a container without one (pod undefined), on a node, network and interface. */
  | {
      readonly kind: 'anybody'
      readonly pod: number | undefined
      readonly namespace: number
      readonly node: number
      readonly network: number
      readonly ifname: 'eth0' | 'net1'
    }
  /** A new sandbox of a pod that was there before; `uid`: of the same pod, of a new one, or not told. */
  | {
      readonly kind: 'again'
      readonly pick: number
      readonly uid: 'same' | 'new' | 'none'
      readonly node: number | undefined
    }
  /** The same sandbox: the same run of the plugin sent again, another run, or the first one's coming late. */
  | { readonly kind: 'same sandbox'; readonly pick: number; readonly run: 'same' | 'other' | 'late' }
  /** Another interface of the sandbox. */
  | { readonly kind: 'other interface'; readonly pick: number; readonly network: number }

export interface AddStep {
  readonly kind: 'add'
  readonly who: WhoWords
  readonly ask: AskWords
  /** The client goes away before its answer. */
  readonly gone: boolean
  /** What becomes of the answer of one that leaves a mark: it is printed, or its plugin dies before. no: it leaves none. */
  readonly confirms: 'no' | 'marked' | 'lost'
}

export interface DelStep {
  readonly kind: 'del'
  readonly pick: number
  /** When the DEL's run began: now, unknown, before the sandbox's ADD, or in a boot before this one. */
  readonly began: 'now' | 'unknown' | 'before the ADD' | 'before the boot'
}

/** A GC of a sandbox's network and node, whose list omits that sandbox and what came after the list. */
export interface GcStep {
  readonly kind: 'gc'
  readonly pick: number
  /** When its run began: now, unknown, before the sandbox's ADD, or while that was under way. */
  readonly began: 'now' | 'unknown' | 'before the ADD' | 'amid the ADD'
}

/** New settings of one pool; null takes it out of the configuration. */
export interface ReloadStep {
  readonly kind: 'reload'
  readonly pool: string
  readonly to: (Omit<ConfiguredPool, 'words'> & { readonly shape: number }) | null
}

/** What happens around the daemons, or to them. */
export type WorldChange =
  | ReloadStep
  | { readonly kind: 'crash'; readonly pick: number }
  | { readonly kind: 'restart' }
  | { readonly kind: 'reboot' | 'node gone'; readonly node: number }
  /** Time goes by, or somebody sets the wall clock. `noticed`: those whose time is over go. */
  | { readonly kind: 'clock'; readonly by: number; readonly how: 'passes' | 'set'; readonly noticed: boolean }
  | { readonly kind: 'conflist'; readonly network: string; readonly shape: number }
  | { readonly kind: 'api'; readonly up: boolean }
  | { readonly kind: 'made anew' }

export interface ReserveStep {
  readonly kind: 'reserve' | 'move' | 'unreserve'
  readonly where: number
  readonly number: number
  /** As of an ADD. */
  readonly theirs: number | undefined
  readonly pod: number
  readonly namespace: number
  readonly forWorkload: boolean
}

export interface UndoStep {
  readonly kind: 'undo'
  readonly pick: number
}

export interface TogetherStep {
  readonly kind: 'together'
  readonly steps: readonly (AddStep | DelStep)[]
}

export type Step = AddStep | DelStep | GcStep | UndoStep | ReserveStep | TogetherStep | WorldChange

/** A step during which the store refuses the changes at these places: the first, the second, ... */
export interface HistoryStep {
  readonly step: Step
  readonly refused: readonly boolean[]
}

export type History = readonly HistoryStep[]

/** Counted from the latest, which are picked most. */
const pick = fc.oneof(fc.nat(1), fc.nat(3), fc.nat(30))
const minute = 60_000
const year = 365 * 24 * 60 * minute

const often = <T>(value: T, other: fc.Arbitrary<T>, times: number): fc.Arbitrary<T> =>
  fc.oneof({ weight: times, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: other })

const retention: fc.Arbitrary<Retention> = fc.constantFrom<Retention[]>(
  'release',
  { milliseconds: 5 * minute },
  'forever',
  { milliseconds: minute },
  'while-owner-exists',
  { milliseconds: minute },
)

const families = fc.constantFrom<(readonly (4 | 6)[])[]>([4], [4], [4, 6], [6])

const ask: fc.Arbitrary<AskWords> = fc.record({
  form: fc.constantFrom('nothing', 'nothing', 'address', 'address', 'list'),
  families,
  where: often(0, fc.nat(4), 2),
  numbers: fc.oneof(
    { weight: 6, arbitrary: fc.uniqueArray(fc.integer({ min: 2, max: 4 }), { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom([2, 3, 4], [2, 3, 4, 5], [1, 2, 3, 4, 5, 6], [15]) },
  ),
  theirs: often<number | undefined>(undefined, pick, 3),
  pools: often<readonly string[]>(
    [],
    fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(['prod'], ['prod'], ['tiny'], ['dual'], ['prod', 'six']) },
      { weight: 1, arbitrary: fc.constantFrom(['lab'], ['flat'], ['prod', 'dual'], ['nosuch']) },
    ),
    3,
  ),
  retain: often<Retention | undefined>(undefined, retention, 1),
})

const network = fc.nat(3)

const who: fc.Arbitrary<WhoWords> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('anybody' as const),
      pod: fc.option(fc.nat(pods.length - 1), { nil: undefined, freq: 12 }),
      namespace: often(0, fc.nat(namespaces.length - 1), 5),
      node: often(0, fc.nat(nodes.length - 1), 2),
      network,
      ifname: often<'eth0' | 'net1'>('eth0', fc.constant('net1'), 6),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('again' as const),
      pick,
      uid: fc.constantFrom('same', 'new', 'new', 'none'),
      node: often<number | undefined>(undefined, fc.nat(nodes.length - 1), 3),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('same sandbox' as const),
      pick,
      run: fc.constantFrom('same', 'other', 'late'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('other interface' as const), pick, network }) },
)

const add: fc.Arbitrary<AddStep> = fc.record({
  kind: fc.constant('add' as const),
  who,
  ask,
  gone: often(false, fc.constant(true), 9),
  confirms: fc.constantFrom('no', 'no', 'no', 'marked', 'lost'),
})

const del: fc.Arbitrary<DelStep> = fc.record({
  kind: fc.constant('del' as const),
  pick,
  began: fc.constantFrom('now', 'now', 'now', 'now', 'now', 'unknown', 'before the ADD', 'before the boot'),
})

const gc: fc.Arbitrary<GcStep> = fc.record({
  kind: fc.constant('gc' as const),
  pick,
  began: fc.constantFrom('now', 'now', 'unknown', 'before the ADD', 'amid the ADD'),
})

const reload: fc.Arbitrary<ReloadStep> = fc.constantFrom(...Object.keys(configuredShapes)).chain(name => {
  const settings = fc.record({
    shape: fc.nat((configuredShapes[name]?.length ?? 1) - 1),
    rules: often(
      {},
      fc.constantFrom<Partial<ConfiguredPool>[]>(
        { namespaces: ['shop'] },
        { namespaces: ['team-*'] },
        { team: 'a' },
        { nodes: ['n1'] },
      ),
      2,
    ),
    quota: often<number | undefined>(undefined, fc.integer({ min: 1, max: 2 }), 1),
    retention: often<Retention>('release', retention, 1),
    cooldown: fc.constantFrom(minute, 1000),
    preferFor: fc.constantFrom(10 * minute, 1000),
    strategy: fc.constantFrom<ConfiguredPool['strategy'][]>('lowest-free', 'least-recently-used'),
  })
  const to = settings.map(({ rules, quota, ...rest }) => ({
    ...rest,
    ...rules,
    ...(quota !== undefined && { quota }),
  }))
  // One pool stays, so that there always is one to ask.
  const step = name === 'prod' ? to : fc.option(to, { nil: null, freq: 8 })
  return step.map(settled => ({ kind: 'reload' as const, pool: name, to: settled }))
})

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 24, arbitrary: add },
  { weight: 12, arbitrary: del },
  { weight: 4, arbitrary: gc },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('undo' as const), pick: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('crash' as const), pick }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'restart' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('reboot' as const, 'node gone' as const),
      node: fc.nat(nodes.length - 1),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      by: fc.constantFrom(1000, 61_000, 6 * minute, 11 * minute, 24 * 60 * minute),
      how: fc.constant('passes' as const),
      noticed: often(true, fc.constant(false), 2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      by: fc.constantFrom(-1000, -2 * minute, -60 * minute, 60 * minute, -2 * year, 2 * year),
      how: fc.constant('set' as const),
      noticed: often(true, fc.constant(false), 2),
    }),
  },
  { weight: 4, arbitrary: reload },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('conflist' as const),
      network: fc.constantFrom(...Object.keys(inlineShapes)),
      shape: fc.nat(1),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('reserve' as const, 'reserve' as const, 'unreserve' as const),
      where: fc.nat(7),
      number: fc.integer({ min: 2, max: 5 }),
      theirs: often<number | undefined>(undefined, pick, 1),
      pod: fc.nat(pods.length - 1),
      namespace: often(0, fc.nat(namespaces.length - 1), 4),
      forWorkload: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      ...{ where: fc.nat(7), number: fc.integer({ min: 2, max: 5 }), theirs: pick },
      pod: fc.nat(pods.length - 1),
      namespace: often(0, fc.nat(namespaces.length - 1), 4),
      forWorkload: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('api' as const), up: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'made anew' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('together' as const),
      steps: fc.array(
        fc.oneof(
          { weight: 2, arbitrary: add.map(one => ({ ...one, gone: false, confirms: 'no' as const })) },
          { weight: 1, arbitrary: del },
        ),
        { minLength: 2, maxLength: 3 },
      ),
    }),
  },
)

const historyStep: fc.Arbitrary<HistoryStep> = fc.record({
  step,
  refused: often<boolean[]>([], fc.constantFrom([true], [false, true], [true, true]), 14),
})

/** Few pods on few networks in one history: so they meet. Numbers are places in the lists of pods and networks. */
const cast = fc.record({
  pods: fc.constantFrom(
    [0, 1, 4],
    [2, 3, 7],
    [2, 3, 0, 4],
    [0, 5, 6, 8],
    [9, 10, 3],
    [11, 12, 13, 0],
    pods.map((_, index) => index),
  ),
  networks: fc.constantFrom([0], [0], [0, 2], [0, 1], [1, 3], [1, 3], [2], [2, 4], [4]),
})

/** Where pods on a network have their addresses, as the places of `reserve` count. */
const reservable: readonly (readonly number[])[] = [[0, 0, 1, 5], [3], [0, 5], [3], [4]]

const one = (list: readonly number[], number: number): number => list[number % list.length] ?? 0

/** The step, played by the cast. */
function playedBy<S extends Step>(
  step: S,
  { pods: actors, networks }: typeof cast extends fc.Arbitrary<infer T> ? T : never,
): S {
  switch (step.kind) {
    case 'add': {
      const { who: asks } = step
      const network = 'network' in asks && { network: one(networks, asks.network) }
      const pod = asks.kind === 'anybody' && asks.pod !== undefined && { pod: one(actors, asks.pod) }
      return { ...step, who: { ...asks, ...network, ...pod } }
    }
    case 'together':
      return { ...step, steps: step.steps.map(part => playedBy(part, { pods: actors, networks })) }
    case 'reserve':
    case 'move':
    case 'unreserve': {
      const where = networks.flatMap(network => reservable[network] ?? [])
      return { ...step, pod: one(actors, step.pod), where: one(where, step.where) }
    }
    default:
      return step
  }
}

/** Histories begin with some settings. They are long, but for a failure every step can be left out. */
export const histories: fc.Arbitrary<History> = fc
  .record({
    cast,
    settings: fc.array(reload, { maxLength: 4, size: 'max' }),
    steps: fc.array(fc.option(historyStep, { freq: 30 }), { minLength: 18, maxLength: 30, size: 'max' }),
  })
  .map(({ cast: players, settings, steps }) => [
    ...settings.map(settled => ({ step: settled, refused: [] })),
    ...steps.flatMap(next =>
      next === null ? [] : [{ step: playedBy(next.step, players), refused: next.refused }],
    ),
  ])
