import type { LintFinding } from '../../../shared/api/lint.schema.ts'
import { readConfDir } from '../../conf-dir/read-conf-dir.ts'
import { lint, type Linted } from '../lint/lint.ts'
import type { NodeView } from './node-view.ts'

/** How many files containerd takes, unless it is told otherwise. */
const maxConfNum = 1

/**
 * What the linter says of the node's folder of network configurations; not of the programs that they name, as checks of
 * their own do that.
 *
 * @throws Problem IPK_CONF_DIR_UNREADABLE
 */
export async function lintNetworks({ confDir }: NodeView): Promise<Linted> {
  return lint({ files: await readConfDir(confDir), directory: { path: confDir, maxConfNum } })
}

/** FILE:LINE:COLUMN: what is wrong. */
export const describeFinding = ({ file, line, column, message }: LintFinding): string =>
  `${file}:${line}:${column}: ${message}`
