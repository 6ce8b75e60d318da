import type { LabelRequirement, LabelSelector } from '../../ipam/pools/pool-settings.ts'
import { Problem } from '../../../shared/problem/problem.ts'

const key = String.raw`([\w./-]+)`
const value = String.raw`([\w.-]*)`
const list = String.raw`\(([\w., -]+)\)`
const words = (text: string): readonly string[] => text.split(',').map(word => word.trim())
const alone = (text: string): readonly string[] => [text]
const none = (): readonly string[] => []

const forms: readonly (readonly [
  RegExp,
  LabelRequirement['operator'],
  (text: string) => readonly string[],
])[] = [
  [new RegExp(`^${key}$`), 'Exists', none],
  [new RegExp(`^! *${key}$`), 'DoesNotExist', none],
  [new RegExp(`^${key} *==? *${value}$`), 'In', alone],
  [new RegExp(`^${key} *!= *${value}$`), 'NotIn', alone],
  [new RegExp(`^${key} +in +${list}$`), 'In', words],
  [new RegExp(`^${key} +notin +${list}$`), 'NotIn', words],
]

/**
 * A label selector as kubectl takes it: "app=web,tier in (front,back),!canary".
 *
 * @throws Problem IPK_REQUEST_INVALID
 */
export function parseSelector(text: string): LabelSelector {
  // A comma in brackets divides values.
  const matchExpressions = text.split(/,(?![^(]*\))/).map((part): LabelRequirement => {
    for (const [pattern, operator, valuesOf] of forms) {
      const found = pattern.exec(part.trim())
      if (found) return { key: found[1] ?? '', operator, values: valuesOf(found[2] ?? '') }
    }
    throw new Problem('IPK_REQUEST_INVALID', `selector "${text}": cannot read "${part.trim()}"`, {
      hint: 'write it as kubectl takes it: KEY=VALUE, KEY!=VALUE, KEY, !KEY, KEY in (A,B) or KEY notin (A,B), separated by commas',
    })
  })
  return { matchLabels: {}, matchExpressions }
}
