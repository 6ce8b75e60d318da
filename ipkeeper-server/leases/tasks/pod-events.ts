import type { Problem } from '../../../shared/problem/problem.ts'

/** A pod as the runtime names it. */
export interface NamedPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string | null
}

/** What became of an ADD, for the pod's Events. */
export type AddOutcome =
  | { readonly addresses: readonly string[]; readonly reasons: readonly string[] }
  | { readonly problem: Problem }

/** Which interface of the pod an ADD was for, in which network, as the request says; neither need be sound. */
export interface AddPlace {
  readonly ifname: string
  readonly network: unknown
}

/** Tells the pod; never waits and never fails. */
export type TellPod = (pod: NamedPod, outcome: AddOutcome, place: AddPlace) => void
