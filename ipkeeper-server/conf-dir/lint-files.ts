import { existsSync } from 'node:fs'
import { lint, type Linted } from '../diagnose/lint/lint.ts'
import type { LintInput, SourceFile } from '../diagnose/lint/site.ts'
import { usedTypes } from '../diagnose/lint/used-programs.ts'
import { findPlugins } from './plugin-search.ts'
import { readConfDir } from './read-conf-dir.ts'

export interface LintNode {
  /** Folders where plugins are looked for. */
  readonly binDirs: readonly string[]
  /** Whether somebody named them: then a plugin is missing also where none of the folders is there. */
  readonly binDirsNamed: boolean
  /** How many files the runtime takes; 0 means all. */
  readonly maxConfNum: number
  /** Of a daemon that shares its store with other nodes; asked at each look. */
  readonly nodeRoutes?: () => 'auto' | 'off' | undefined
}

/** What is known of the plugins that files name. */
async function lookForPlugins(
  files: readonly SourceFile[],
  { binDirs, binDirsNamed }: LintNode,
): Promise<NonNullable<LintInput['plugins']>> {
  const there = binDirsNamed || binDirs.some(folder => existsSync(folder))
  const seen = there ? await findPlugins(usedTypes(files), { binDirs, askVersions: true }) : undefined
  return { binDirs, seen }
}

/** Lints files that stand for themselves, with the plugins of this node. */
export async function lintFiles(files: readonly SourceFile[], node: LintNode): Promise<Linted> {
  return lint({ files, plugins: await lookForPlugins(files, node) })
}

/**
 * Lints a folder as a runtime would read it.
 *
 * @throws Problem IPK_CONF_DIR_UNREADABLE
 */
export async function lintDirectory(directory: string, node: LintNode): Promise<Linted> {
  const files = await readConfDir(directory)
  return lint({
    files,
    directory: { path: directory, maxConfNum: node.maxConfNum },
    nodeRoutes: node.nodeRoutes?.(),
    plugins: await lookForPlugins(files, node),
  })
}
