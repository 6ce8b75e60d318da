import type { Section } from './row.ts'
import { argumentRows } from './rows/arguments.ts'
import { cacheRows } from './rows/cache.ts'
import { chainingRows } from './rows/chaining.ts'
import { environmentRows } from './rows/environment.ts'
import { errorRows } from './rows/errors.ts'
import { processRows } from './rows/process.ts'
import { resultRows } from './rows/results.ts'
import { stdinRows } from './rows/stdin.ts'
import { verbRows } from './rows/verbs.ts'
import { versionRows } from './rows/versions.ts'

/** The catalogue, in its order. */
export const sections: readonly Section[] = [
  { title: 'Process', rows: processRows },
  { title: 'Environment', rows: environmentRows },
  { title: 'stdin', rows: stdinRows },
  { title: 'Versions', rows: versionRows },
  { title: 'Results', rows: resultRows },
  { title: 'Errors', rows: errorRows },
  { title: 'Verbs', rows: verbRows },
  { title: 'Chains and delegation', rows: chainingRows },
  { title: 'Arguments', rows: argumentRows },
  { title: 'Conflists, the result cache, and Node', rows: cacheRows },
]
