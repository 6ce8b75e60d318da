import type { Test } from 'tap'
import type { CniVersion } from '../../shared/cni/versions.ts'
import type { Rig } from './rig.ts'

/** One thing that is tried on the packaged executables. */
export interface Case {
  readonly title: string
  /** Run once for each of these; once, with 1.0.0, when absent. */
  readonly versions?: readonly CniVersion[]
  /** True when nothing may be left behind: such cases share a daemon, which has no lease at the end. */
  readonly changesNothing?: true
  /** The rig has a host of its own, on which pods can be wired. */
  readonly wiresPods?: true
  /** Where the answer is another than the reference's, and why. */
  readonly differs?: string
  readonly run: (t: Test, rig: Rig, version: CniVersion) => Promise<void>
}

/**
 * One row of the catalogue of what runtimes expect of a plugin, by its number there; the title is ours. A row has cases,
 * or says where else it is tested, or why it cannot be tested from outside.
 */
export interface Row {
  readonly id: string
  readonly title: string
  readonly cases?: readonly Case[]
  /** Rows whose cases cover this one as well. */
  readonly see?: readonly string[]
  /** Test files that cover it, relative to the project's folder. */
  readonly elsewhere?: readonly string[]
  readonly notTested?: string
}

export interface Section {
  readonly title: string
  readonly rows: readonly Row[]
}
