import type { StringMap } from '../../ipam/records/pod-facts.ts'
import { Problem } from '../../../shared/problem/problem.ts'

type Requirement = (labels: StringMap) => boolean

const key = String.raw`([\w./-]+)`
const value = String.raw`([\w.-]*)`
const words = (list: string): readonly string[] => list.split(',').map(word => word.trim())

const forms: readonly (readonly [RegExp, (name: string, wanted: string) => Requirement])[] = [
  [new RegExp(`^${key}$`), name => labels => labels[name] !== undefined],
  [new RegExp(`^! *${key}$`), name => labels => labels[name] === undefined],
  [new RegExp(`^${key} *==? *${value}$`), (name, wanted) => labels => labels[name] === wanted],
  [new RegExp(`^${key} *!= *${value}$`), (name, wanted) => labels => labels[name] !== wanted],
  [
    new RegExp(`^${key} +in +\\(([\\w., -]+)\\)$`),
    (name, list) => labels => labels[name] !== undefined && words(list).includes(labels[name]),
  ],
  [
    new RegExp(`^${key} +notin +\\(([\\w., -]+)\\)$`),
    (name, list) => labels => labels[name] === undefined || !words(list).includes(labels[name]),
  ],
]

/**
 * A label selector as kubectl takes it: "app=web,tier in (front,back),!canary".
 *
 * @throws Problem IPK_REQUEST_INVALID
 */
export function readSelector(text: string): Requirement {
  // A comma in brackets divides values.
  const requirements = text.split(/,(?![^(]*\))/).map(part => {
    for (const [pattern, make] of forms) {
      const found = pattern.exec(part.trim())
      if (found) return make(found[1] ?? '', found[2] ?? '')
    }
    throw new Problem('IPK_REQUEST_INVALID', `selector "${text}": cannot read "${part.trim()}"`, {
      hint: 'write it as kubectl takes it: KEY=VALUE, KEY!=VALUE, KEY, !KEY, KEY in (A,B) or KEY notin (A,B), divided by commas',
    })
  })
  return labels => requirements.every(isMet => isMet(labels))
}
