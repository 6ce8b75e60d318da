import fc from 'fast-check'
import type { Wish } from './judge.ts'
import { moods, type Mood, type RuntimeMood } from './machine.ts'
import type { PoolForm } from './pools.ts'

/** What happens in a history, and how often. */

const hour = 3_600_000

/** Pods that meet: by name, kept, dynamic, and two that want what another one has. */
export const wishes: readonly Wish[] = [
  { pod: 'web-0', ip: '10.22.0.5' },
  { pod: 'web-1', ip: '10.22.0.6', keep: hour },
  { pod: 'db-0', keep: hour },
  { pod: 'app-a', mac: '0e:00:00:00:00:0a' },
  { pod: 'app-b' },
  { pod: 'envy', ip: '10.22.0.5' },
  { pod: 'twin', mac: '0e:00:00:00:00:0a' },
]

export type Step =
  /**
   * A pod is to run on a machine. `same`: the pod that it was, whose sandbox has died; else the pod is deleted first, `forced`
   * without waiting for the end of its sandbox. `killed`: the plugin is, after so many milliseconds.
   */
  | {
      readonly do: 'start'
      readonly pod: number
      readonly on: number
      readonly as: 'same' | 'new' | 'forced'
      readonly killed?: number | undefined
    }
  /** `dies`: its namespace goes before its DEL, or without one. */
  | { readonly do: 'stop'; readonly which: number; readonly dies?: 'first' | 'without a DEL' | undefined }
  /** Once more, of a sandbox that has ended. */
  | { readonly do: 'DEL again' | 'CHECK'; readonly which: number }
  | { readonly do: 'GC'; readonly on: number; readonly late: number }
  | { readonly do: 'engine'; readonly on: number; readonly is: Mood }
  | { readonly do: 'runtime'; readonly on: number; readonly is: RuntimeMood }
  /** The daemon ends, by a signal or killed, and begins after so many milliseconds; undefined: not before the end. */
  | {
      readonly do: 'restart'
      readonly on: number
      readonly killed: boolean
      readonly away: number | undefined
      readonly name?: number | undefined
    }
  | { readonly do: 'power'; readonly on: number; readonly away: number | undefined }
  | { readonly do: 'clock'; readonly on: number; readonly by: number }
  | { readonly do: 'forget'; readonly on: number; readonly name: number }
  | { readonly do: 'reserve' | 'unreserve'; readonly on: number; readonly pod: number }
  | { readonly do: 'release'; readonly on: number; readonly number: number }
  /** Of an address that is in use there, as that daemon knows it. `poweredOff`: the operator says that the machine is, true or not. */
  | {
      readonly do: 'release --force'
      readonly on: number
      readonly which: number
      readonly poweredOff: boolean
    }
  /** An address that somebody has, as that daemon knows it, is for this pod from then on. */
  | { readonly do: 'move'; readonly on: number; readonly which: number; readonly pod: number }
  /** Its configuration says something else of the pool from then on. */
  | { readonly do: 'configure'; readonly on: number; readonly as: PoolForm }
  /** The webhook is asked about a pod that does not run. */
  | { readonly do: 'review'; readonly on: number; readonly pod: number }
  | { readonly do: 'STATUS'; readonly on: number }
  /** Of its disk, as it is in that moment. */
  | { readonly do: 'copy'; readonly on: number }
  /**
   * That copy is put back. `folder`: the state folder alone, while the daemon is away and pods run. `disk`: all of it, while the machine is
   * off.
   */
  | { readonly do: 'put back'; readonly on: number; readonly what: 'folder' | 'disk'; readonly away: number }
  /**
   * Another machine starts from its disk, or from that copy. `same`: nothing tells its hardware from the first one's. `named`: it is called
   * as the first one is. Where there is one machine alone, it takes the place of that.
   */
  | {
      readonly do: 'clone'
      readonly on: number
      readonly of: 'disk' | 'copy'
      readonly same: boolean
      readonly named: boolean
    }
  | { readonly do: 'compact' | 'snapshot' }
  | { readonly do: 'restore'; readonly wiped: boolean; readonly seen: boolean }

/** A step, and the millisecond after the beginning at which it comes. */
export interface Moment {
  readonly at: number
  readonly step: Step
}

export interface History {
  readonly kind: Kind
  /** Of what is drawn while it is played: how long calls take. */
  readonly seed: number
  /** The soonest first. */
  readonly moments: readonly Moment[]
  /** The millisecond at which all is well again. */
  readonly end: number
  /**
   * Whether the pool is of the configurations of machines; else it is of the conflist. In every other such history the conflist names a
   * fallback.
   */
  readonly configured?: true
  /** Whether disks are copied and put back. */
  readonly copies?: true
}

/** What machines share. amnesia: an engine with transactions, whose data is lost or goes back. */
export const kinds = ['embedded', 'transactions', 'piecewise', 'amnesia'] as const
export type Kind = (typeof kinds)[number]

export const machinesOf = (kind: Kind): number => (kind === 'embedded' ? 1 : 3)

/** What is written in a transaction is never half there. */
export const isHalf = (mood: string): boolean => mood === 'half' || mood === 'most'

const maybe = <T>(arbitrary: fc.Arbitrary<T>, weight = 1): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight, arbitrary })

export interface Drawn {
  /** `release --force` and `move` as well. */
  readonly takesAway: boolean
  /** `configure`, `review` and `STATUS` as well. */
  readonly configures: boolean
  /** `copy`, `put back` and `clone` as well. */
  readonly copies: boolean
}

function stepsOf(kind: Kind, { takesAway, configures, copies }: Drawn): fc.Arbitrary<Step> {
  // Where there is no clone, its number means the first machine.
  const on = fc.nat(copies && kind !== 'embedded' ? machinesOf(kind) : machinesOf(kind) - 1)
  const pod = fc.nat(wishes.length - 1)
  const which = fc.nat(30)
  const of = <D extends Step['do']>(...names: readonly D[]): fc.Arbitrary<D> => fc.constantFrom(...names)
  const isShared = kind !== 'embedded'
  const all: readonly { readonly weight: number; readonly arbitrary: fc.Arbitrary<Step> }[] = [
    {
      weight: 30,
      arbitrary: fc.record({
        do: of('start'),
        pod,
        on,
        as: fc.constantFrom('new', 'new', 'same', 'same', 'forced'),
        killed: maybe(fc.constantFrom(1, 4, 15, 2_000)),
      }),
    },
    {
      weight: 16,
      arbitrary: fc.record({
        do: of('stop'),
        which,
        dies: maybe(fc.constantFrom('first', 'without a DEL'), 2),
      }),
    },
    { weight: 4, arbitrary: fc.record({ do: of('DEL again', 'CHECK'), which }) },
    { weight: 3, arbitrary: fc.record({ do: of('GC'), on, late: fc.constantFrom(0, 20, 3_000, 40_000) }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: of('runtime'), on, is: fc.constantFrom('lists', 'nothing', 'fails') }),
    },
    {
      weight: 7,
      arbitrary: fc.record({
        do: of('restart'),
        on,
        killed: fc.constantFrom(true, true, false),
        away: fc.constantFrom(0, 300, 20_000, undefined),
        name: maybe(fc.nat(3)),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: of('power'), on, away: fc.constantFrom(1_000, 60_000, 600_000, undefined) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: of('clock'),
        on,
        by: fc.constantFrom(-hour, -120_000, 120_000, hour, 48 * hour),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: of('reserve', 'unreserve'), on, pod }) },
    { weight: 1, arbitrary: fc.record({ do: of('release'), on, number: fc.integer({ min: 2, max: 8 }) }) },
    ...(takesAway
      ? [
          {
            weight: 3,
            arbitrary: fc.record({ do: of('release --force'), on, which, poweredOff: fc.boolean() }),
          },
          { weight: 2, arbitrary: fc.record({ do: of('move'), on, which, pod }) },
        ]
      : []),
    ...(configures
      ? [
          {
            weight: 4,
            arbitrary: fc.record({
              do: of('configure'),
              on,
              as: fc.constantFrom('whole' as const, 'drained' as const, 'less' as const),
            }),
          },
          { weight: 3, arbitrary: fc.record({ do: of('review'), on, pod }) },
          { weight: 3, arbitrary: fc.record({ do: of('STATUS'), on }) },
        ]
      : []),
    ...(copies
      ? [
          { weight: 4, arbitrary: fc.record({ do: of('copy'), on }) },
          {
            weight: 4,
            arbitrary: fc.record({
              do: of('put back'),
              on,
              what: fc.constantFrom('folder' as const, 'folder' as const, 'disk' as const),
              away: fc.constantFrom(1_000, 5_000, 20_000),
            }),
          },
          {
            weight: 1,
            arbitrary: fc.record({
              do: of('clone'),
              on,
              of: fc.constantFrom('disk' as const, 'copy' as const),
              same: fc.boolean(),
              named: fc.boolean(),
            }),
          },
        ]
      : []),
    ...(isShared
      ? [
          {
            weight: 12,
            arbitrary: fc.record({
              do: of('engine'),
              on,
              is: fc.constantFrom(
                ...(Object.keys(moods) as Mood[]).filter(mood => kind === 'piecewise' || !isHalf(mood)),
                'well',
                'well',
                'well',
              ),
            }),
          },
          { weight: 2, arbitrary: fc.record({ do: of('forget'), on, name: fc.nat(3) }) },
          { weight: 1, arbitrary: fc.record({ do: of('compact') }) },
        ]
      : []),
    ...(kind === 'amnesia'
      ? [
          { weight: 4, arbitrary: fc.record({ do: of('snapshot') }) },
          {
            weight: 4,
            arbitrary: fc.record({ do: of('restore'), wiped: fc.boolean(), seen: fc.boolean() }),
          },
        ]
      : []),
  ]
  return fc.oneof(...all)
}

/** Milliseconds until the next step. */
const then = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(0, 1, 3, 7, 12) },
  { weight: 4, arbitrary: fc.constantFrom(60, 400, 2_000) },
  { weight: 2, arbitrary: fc.constantFrom(6_000, 20_000, 70_000) },
  { weight: 1, arbitrary: fc.constantFrom(400_000, 900_000) },
)

/** Long ones, of which a failure may leave out whatever it does not need. */
export function historiesOf(kind: Kind, drawnAs: Drawn): fc.Arbitrary<History> {
  return fc
    .record({
      seed: fc.nat(),
      drawn: fc.array(fc.record({ step: stepsOf(kind, drawnAs), then }), {
        minLength: 30,
        maxLength: 60,
        size: 'max',
      }),
    })
    .map(({ seed, drawn }) => {
      let end = 0
      const moments = drawn.map(({ step, then }) => {
        const at = end
        end += then
        return { at, step }
      })
      return {
        kind,
        seed,
        moments,
        end,
        ...(drawnAs.configures && { configured: true }),
        ...(drawnAs.copies && { copies: true }),
      }
    })
}

/** In words; what is not said is as usual. */
export function describeStep(step: Step): string {
  const { do: what, ...rest } = step
  const words = Object.entries(rest).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [name === 'pod' ? (wishes[value as number]?.pod ?? '') : `${name} ${String(value)}`],
  )
  return [what, ...words].join(', ')
}
