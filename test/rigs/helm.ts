/** The real helm, with a home of its own: nothing of a person's repositories, plugins or credentials. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { helmModule } from './helm-module.ts'
import { mustRun, runProgram, type Finished } from './run-program.ts'
import type { TempFolder } from './temp-folder.ts'

/** The chart of this checkout. */
export const chartFolder = join(import.meta.dirname, '..', '..', 'deploy', 'helm', 'ipkeeper')

/** Full path of helm, or undefined when it is not built. */
export function findHelm(): string | undefined {
  const path = join(helmModule.built, 'helm')
  return existsSync(path) ? path : undefined
}

export interface Helm {
  /** Folder of the program, for the PATH of a person who types. */
  readonly folder: string
  run(...words: readonly string[]): Promise<Finished>
  /** The output of a call that has to succeed. */
  must(...words: readonly string[]): Promise<string>
}

/** @param cluster that it speaks to; none is needed to render and to lint */
export function openHelm(home: TempFolder, cluster?: Pick<Cluster, 'kubeconfig'>): Helm {
  const program = findHelm() ?? ''
  const env = { HOME: home.path, PATH: '/usr/bin:/bin', ...(cluster && { KUBECONFIG: cluster.kubeconfig }) }
  return {
    folder: dirname(program),
    run: (...words) => runProgram(program, words, { env, cwd: home.path }),
    must: (...words) => mustRun(program, words, { env, cwd: home.path }),
  }
}
