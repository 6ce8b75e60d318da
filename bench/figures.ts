import type { DaemonFigures } from './daemon.ts'
import type { MainPluginFigures } from './main-plugin.ts'
import type { ManyNodesFigures } from './many-nodes.ts'
import type { PairFigures } from './pairs.ts'
import type { WholeProcessLine } from './whole-process.ts'

/** The parts that can be run alone. */
export const parts = ['whole-process', 'daemon', 'pairs', 'main-plugin', 'many-nodes'] as const
export type Part = (typeof parts)[number]

/** What was measured; parts that were not run are absent. Times in milliseconds. */
export interface Figures {
  readonly wholeProcess?: readonly WholeProcessLine[]
  readonly daemon?: DaemonFigures
  readonly pairs?: PairFigures
  /** Absent too where namespaces or the reference plugins are missing. */
  readonly mainPlugin?: MainPluginFigures
  /** Absent too where kube-apiserver or etcd is missing. */
  readonly manyNodes?: ManyNodesFigures
}
