import type { FormerSandbox } from '../../ipam/choose/plan-takeover.ts'
import type { ProblemCode } from '../../../shared/problem/catalogue.ts'

/** Verbs that reach the daemon, as their paths name them. */
export const observedVerbs = ['add', 'check', 'del', 'gc', 'status'] as const
export type ObservedVerb = (typeof observedVerbs)[number]

/**
 * How a DEL came late. unknown: nobody knows of the attachment (any more); runtimes repeat DELs, so that some of these are
 * normal. superseded: a newer sandbox of the same pod is there. overtaken: a newer ADD of the same container ID is there.
 */
export const lateDels = ['unknown', 'superseded', 'overtaken'] as const
export type LateDel = (typeof lateDels)[number]

/**
 * Why an ADD was undone. client_gone: nobody waited for its answer any more. never_answered: an earlier daemon's, or one that was
 * deleted before its plugin had answered.
 */
export const undoReasons = ['client_gone', 'never_answered'] as const
export type UndoReason = (typeof undoReasons)[number]

/** Is told what became of verbs. Called on their way: takes microseconds, waits for nothing and never throws. */
export interface VerbObserver {
  /** `seconds` from the handler's begin to its answer. */
  readonly ended: (verb: ObservedVerb, code: 'OK' | ProblemCode, seconds: number) => void
  readonly tookOver: (from: FormerSandbox) => void
  readonly lateDel: (how: LateDel) => void
  readonly undone: (reason: UndoReason) => void
}
