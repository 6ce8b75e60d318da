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

/** Tells the pod; never waits and never fails. */
export type TellPod = (pod: NamedPod, outcome: AddOutcome) => void
