import { Problem } from '../../shared/problem/problem.ts'
import { counted } from '../../shared/text/counted.ts'
import { ConfigProblem, missingFile, parseConfig, readConfigText, type DaemonConfig } from './load-config.ts'

/** How many names a line takes. */
const shownNames = 10

export type ConfigCheck = {
  /** What the file says in one line, or every fault of it, a line each. */
  readonly text: string
} & ({ readonly good: true; /** Its text. */ readonly content: string } | { readonly good: false })

function summary({ node, pools, annotations }: DaemonConfig): string {
  const names = pools.map(({ pool }) => pool.name)
  const listed = [...names.slice(0, shownNames), ...(names.length > shownNames ? ['...'] : [])].join(', ')
  return [
    `ok: ${counted(pools.length, 'pool')}${names.length > 0 ? ` (${listed})` : ''}`,
    `node ${node}`,
    ...(annotations.length > 0 ? [`annotations of ${annotations.join(', ')}`] : []),
  ].join(', ')
}

/**
 * Looks at a configuration file as the daemon would, without one. Which addresses are in use only the daemon
 * knows.
 *
 * @param mustExist whether a file that is not there is a fault; else defaults apply
 */
export function checkConfig(path: string, mustExist: boolean): ConfigCheck {
  try {
    const text = readConfigText(path)
    if (text === undefined && mustExist) throw missingFile(path)
    if (text === undefined)
      return { good: true, text: `ok: there is no ${path}, so defaults apply\n`, content: '' }
    return { good: true, text: `${summary(parseConfig(text, path))}\n`, content: text }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const faults = error instanceof ConfigProblem ? error.faults : [error.message]
    return { good: false, text: faults.map(fault => `${fault}\n`).join('') }
  }
}
