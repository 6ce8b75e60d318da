import { release } from 'node:os'
import { basename, join } from 'node:path'
import { Problem } from '../../shared/problem/problem.ts'
import { shellWord } from '../../shared/text/shell-word.ts'
import { lintFiles } from '../conf-dir/lint-files.ts'
import { readSourceFile } from '../conf-dir/read-source-file.ts'
import { readRegularFile } from '../host/regular-file.ts'
import { lackingFeatures } from '../diagnose/doctor/checks/kernel.ts'
import { compilerText } from '../diagnose/lint/format-finding.ts'
import { loadedNetworks } from '../diagnose/lint/loaded-networks.ts'
import { isRuntimeFile } from '../diagnose/lint/runtime-files.ts'
import { describeNetwork, firstNetwork } from './first-network.ts'
import { placeFile } from './place-file.ts'

export interface Installation {
  /** The plugin's executable. */
  readonly plugin: string
  /** What is said of it besides its place. */
  readonly note?: string | undefined
  /** Where the runtime has its plugins. */
  readonly binDir: string
  /** A network configuration, which keeps its name; undefined: the plugin alone. */
  readonly conflist: string | undefined
  /** Where the runtime has its network configurations. */
  readonly confDir: string
}

/**
 * Makes a node ready for pods: the plugin first, the network that names it last, each by a rename. A network that the
 * linter has an error for is not installed, since the runtime would have none then.
 *
 * @returns what was done, in lines
 * @throws Problem IPK_INSTALL_FAILED
 */
export async function install({ plugin, note, binDir, conflist, confDir }: Installation): Promise<string> {
  const bytes = await readRegularFile(plugin, { most: Infinity }).catch((error: unknown) => {
    throw new Problem('IPK_INSTALL_FAILED', `there is no plugin at ${plugin}`, {
      cause: error,
      hint: 'name another one: --plugin FILE',
    })
  })
  const lines = [done(join(binDir, 'ipkeeper'), await placeFile(binDir, 'ipkeeper', bytes, 0o755), note)]
  if (conflist !== undefined) {
    const name = basename(conflist)
    const text = await soundText(conflist, name, binDir)
    const path = join(confDir, name)
    lines.push(done(path, await placeFile(confDir, name, Buffer.from(text), 0o644)))
    const first = await firstNetwork(confDir)
    if (first && first.file !== path)
      lines.push(
        `note: pods go on getting ${first.file} (${describeNetwork(first)}), which comes first by name; to have them get this one: ${asideLine(first.file)}\n`,
      )
  }
  return lines.join('')
}

/** What to type to have a runtime pass over a file. */
const asideLine = (path: string): string => `mv ${shellWord(path)} ${shellWord(`${path}.off`)}`

const done = (path: string, written: boolean, note?: string): string =>
  `${written ? `installed ${path}` : `${path} is up to date`}${note === undefined ? '' : `: ${note}`}\n`

/** The text of a network configuration that a runtime can use. */
async function soundText(path: string, name: string, binDir: string): Promise<string> {
  const refused = (why: string): Problem =>
    new Problem('IPK_INSTALL_FAILED', `${path} was not installed: ${why}`, {
      hint: `see: ipkeeperctl lint ${shellWord(path)} --bin-dir ${shellWord(binDir)}`,
    })
  if (!isRuntimeFile(name)) throw refused('no runtime reads a file of that name; it has to end in .conflist')
  const file = await readSourceFile(path, 'anywhere')
  const linted = await lintFiles([file], { binDirs: [binDir], binDirsNamed: true, maxConfNum: 1 })
  const errors = linted.findings.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (first) throw refused(compilerText(first, linted.lineText(first.file, first.line)).trimEnd())
  if (file.text === undefined) throw refused(file.fault?.why ?? 'it cannot be read')
  const lacking = await lackingFeatures({ networks: loadedNetworks([file]) })
  if (lacking.length > 0)
    throw new Problem(
      'IPK_INSTALL_FAILED',
      `${path} was not installed: this kernel (${release()}) lacks ${lacking.join(', ')}, which its pods need`,
      { hint: `modprobe -a ${lacking.join(' ')}; or another mode: docs/guides/main-plugin.md` },
    )
  return file.text
}
