import type { NomadAllocation } from '../../../shared/cni/nomad-args.ts'
import type { Holder, Workload } from './records.ts'

/**
 * Allocations of Nomad are held as pods are, in the namespace of Nomad, under the name that Nomad gives them: JOB.GROUP[INDEX].
 * No pod of Kubernetes can bear it, because of the brackets. Where no index is known, the allocation's ID stands for it.
 */
const named = /^([^[\]/\s]+)\[(?:[0-9]{1,9}|([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))\]$/

/** What a periodic or a dispatched job has after the ID of the job that it is made from: never the same again. */
const launched = /\/(?:periodic-[0-9]+|dispatch-(?:[^/]+-)?[0-9]+-[0-9a-f]{8})$/

/** As a workload: Kubernetes has no such kind. */
export const groupKind = 'NomadGroup'

/** "web.cache[0]", "web.cache[5b0ff3f4-…]"; "/" becomes ":", since "shop/web" is a pod with its namespace. */
export function allocationName({ job, group, id, index }: NomadAllocation): string {
  const maker = job.replace(launched, '')
  const place = maker === job ? (index ?? id) : id
  return `${maker.replaceAll('/', ':')}.${group}[${place}]`
}

export function isAllocationName(name: string): boolean {
  return named.test(name)
}

export function isAllocation(holder: Holder): boolean {
  return holder.kind === 'pod' && isAllocationName(holder.name)
}

/** Whether the name ends in the ID of one allocation, whose place another one takes under another name. */
export function bearsAllocationId(name: string): boolean {
  return named.exec(name)?.[2] !== undefined
}

/** The group of a job; undefined where the name is none of an allocation. */
export function groupOf({
  namespace,
  name,
}: {
  readonly namespace: string
  readonly name: string
}): Workload | undefined {
  const group = named.exec(name)?.[1]
  return group === undefined
    ? undefined
    : { namespace, kind: groupKind, name: group, apiVersion: null, uid: null }
}
