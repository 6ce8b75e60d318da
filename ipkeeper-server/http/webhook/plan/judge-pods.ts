import { problemRow } from '../../../../shared/problem/catalogue.ts'
import type { StringMap } from '../../../ipam/records/pod-facts.ts'
import { readMeta } from '../../../kubernetes/kube-object.ts'
import { admitted, sayProblem, type Admission, type AdmissionVerdict } from './admission-review.ts'
import { broughtPods } from './brought-pods.ts'
import { objectionsTo, type Ground, type Objection } from './request-objections.ts'

/** What of the old is still there, though with another value. One that goes may have hidden what is wrong with the rest. */
function remaining(old: StringMap, present: StringMap): StringMap {
  return Object.fromEntries(Object.entries(old).filter(([key]) => Object.hasOwn(present, key)))
}

/**
 * What may come right by itself is not refused: an ADD waits for it. Nor is what drains, since it may stop before the pod is
 * there, and a pod that was there before gets its address again; nor what an ADD may see otherwise.
 */
const isWarning = ({ problem: { code }, doubtful }: Objection): boolean =>
  doubtful === true || problemRow(code).retryable || code === 'IPK_POOL_DRAINING'

/**
 * What is said to a pod, or to an object that brings some: before the API keeps it, in the words in which an ADD would be
 * refused. What was wrong before a change and is no worse after it is no reason to refuse the change; who goes may go.
 */
export function judgePods(admission: Admission, ground: Ground): AdmissionVerdict {
  const { operation, object, oldObject, subresource } = admission
  const pods = object && broughtPods(admission, object)
  const asked = operation === 'CREATE' || operation === 'UPDATE'
  if (!asked || !pods || subresource !== '' || readMeta(object)?.deleting === true) return admitted
  const old = oldObject && broughtPods(admission, oldObject)
  const before = old
    ? [old, { ...old, annotations: remaining(old.annotations, pods.annotations) }].flatMap(was =>
        objectionsTo(was, ground, was.atOnce),
      )
    : []
  const news = objectionsTo(pods, ground, old?.atOnce).filter(
    ({ key, weight }) => !before.some(known => known.key === key && known.weight >= weight),
  )
  const [warned, refused] = [true, false].map(only =>
    news.flatMap(objection => (isWarning(objection) === only ? objection.problem : [])),
  )
  return {
    refusals: refused ?? [],
    warnings: [...pods.misplaced, ...(warned ?? []).map(sayProblem)],
  }
}
