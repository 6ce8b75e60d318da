import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import type { PoolVerdict } from '../../ipam/pools/judge-pool-objects.ts'
import { at } from '../../kubernetes/kube-object.ts'
import type { PoolStatus } from '../pool-status-sink.ts'
import type { IPPoolStatus } from './ip-pool.schema.ts'

export type Condition = NonNullable<IPPoolStatus['conditions']>[number]
export type NewCondition = Omit<Condition, 'lastTransitionTime'>

/** What earlier versions wrote. */
const former = ['Exhausted']

/** Whether the pool serves, and whether what people wrote last is what it serves by. */
export function conditionsOfVerdict({ generation, isInForce, refusal }: PoolVerdict): NewCondition[] {
  const observedGeneration = generation
  const inForce = refusal
    ? { reason: 'EarlierSpecInForce', message: 'Addresses are given by an earlier spec: see status.inForce.' }
    : { reason: 'InForce', message: 'Addresses are given from it.' }
  return [
    isInForce
      ? { type: 'Ready', status: 'True', ...inForce, observedGeneration }
      : {
          ...{ type: 'Ready', status: 'False', reason: 'NotInForce', observedGeneration },
          message: 'No address is given from it: see the condition Refused.',
        },
    refusal
      ? { type: 'Refused', status: 'True', ...refusal, observedGeneration }
      : {
          ...{ type: 'Refused', status: 'False', reason: 'Accepted', observedGeneration },
          message: 'Its spec is in force.',
        },
  ]
}

/** Of a pool that ipkeeper itself remembers. */
export const recordedConditions = (observed: Pick<NewCondition, 'observedGeneration'>): NewCondition[] => [
  { type: 'Ready', status: 'True', reason: 'InForce', message: 'Addresses are given from it.', ...observed },
]

export function fullCondition(
  exhausted: readonly number[],
  observed: Pick<NewCondition, 'observedGeneration'>,
): NewCondition {
  return exhausted.length > 0
    ? {
        ...{ type: 'Full', status: 'True', reason: 'NoneFree', ...observed },
        message: `Range set ${exhausted.join(', ')} has no free address; a pod needs one of each.`,
      }
    : {
        ...{ type: 'Full', status: 'False', reason: 'SomeFree', ...observed },
        message: 'Every range set has free addresses.',
      }
}

/** Whether some range gives no new address, and how many are left there. */
export function drainingCondition(
  draining: PoolStatus['draining'],
  observed: Pick<NewCondition, 'observedGeneration'>,
): NewCondition {
  if (!draining)
    return {
      ...{ type: 'Draining', status: 'False', reason: 'NotDraining', ...observed },
      message: 'New pods get addresses of all of its ranges.',
    }
  const what = draining.whole ? 'the pool' : 'a range of it'
  return draining.left === 0n
    ? {
        ...{ type: 'Draining', status: 'True', reason: 'Drained', ...observed },
        message: `No new pod gets an address of ${what}, and none is left.`,
      }
    : {
        ...{ type: 'Draining', status: 'True', reason: 'AddressesLeft', ...observed },
        message: `No new pod gets an address of ${what}; ${draining.left} left.`,
      }
}

/**
 * All conditions of an object, those of others as they are; undefined when they are as they should be.
 *
 * @param now milliseconds since the epoch
 */
export function mergeConditions(
  object: JsonObject,
  wanted: readonly NewCondition[],
  now: number,
): readonly Condition[] | undefined {
  const listed = at(object, 'status', 'conditions')
  const present = (Array.isArray(listed) ? listed : []).filter(isJsonObject) as unknown as Condition[]
  const before = (condition: NewCondition): Condition | undefined =>
    present.find(({ type }) => type === condition.type)
  const isSame = (condition: NewCondition): boolean => {
    const was = before(condition)
    return (['status', 'reason', 'message', 'observedGeneration'] as const).every(
      key => was?.[key] === condition[key],
    )
  }
  const others = present.filter(
    ({ type }) => !former.includes(type) && !wanted.some(condition => condition.type === type),
  )
  if (wanted.every(isSame) && others.length + wanted.length === present.length) return undefined
  const moment = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z')
  return [
    ...others,
    ...wanted.map(condition => {
      const was = before(condition)
      return {
        ...condition,
        lastTransitionTime: was?.status === condition.status ? was.lastTransitionTime : moment,
      }
    }),
  ]
}
