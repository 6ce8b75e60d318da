import { existsSync } from 'node:fs'
import { lint, type Linted } from '../diagnose/lint/lint.ts'
import { defaultPaths } from '../../shared/paths.ts'
import type { LintInput, PluginSeen, SourceFile } from '../diagnose/lint/site.ts'
import { usedTypes } from '../diagnose/lint/used-programs.ts'
import { readMultusFiles } from './multus-files.ts'
import { findPlugins } from './plugin-search.ts'
import { readConfDir } from './read-conf-dir.ts'

export interface LintNode {
  /** Folders where plugins are looked for. */
  readonly binDirs: readonly string[]
  /** Whether somebody named them: then a plugin is missing also where none of the folders is there. */
  readonly binDirsNamed: boolean
  /** Plugins that will be there, by their names; they are not looked for. */
  readonly willBe?: ReadonlyMap<string, PluginSeen>
  /** How many files the runtime takes; 0 means all. */
  readonly maxConfNum: number
  /** Where the runtime has its networks, and Multus its own configuration. */
  readonly netDir?: string
  /** Of a daemon that shares its store with other nodes; asked at each look. */
  readonly nodeRoutes?: () => 'auto' | 'off' | undefined
}

/** What is known of the plugins that files name. */
async function lookForPlugins(
  files: readonly SourceFile[],
  { binDirs, binDirsNamed, willBe = new Map() }: LintNode,
): Promise<NonNullable<LintInput['plugins']>> {
  const there = binDirsNamed || binDirs.some(folder => existsSync(folder))
  const wanted = usedTypes(files).filter(type => !willBe.has(type))
  const seen = there ? await findPlugins(wanted, { binDirs, askVersions: true }) : undefined
  return { binDirs, seen: seen && new Map([...seen, ...willBe]) }
}

/**
 * Lints files that stand for themselves, with the plugins of this node.
 *
 * @param more.allAttachments whether these are all definitions of Multus that there are
 */
export async function lintFiles(
  files: readonly SourceFile[],
  node: LintNode,
  more: Pick<LintInput, 'allAttachments'> = {},
): Promise<Linted> {
  const multusFiles = await readMultusFiles(node.netDir ?? defaultPaths.confDir)
  return lint({
    ...{ files, ...more, plugins: await lookForPlugins(files, node) },
    ...(multusFiles && { multusFiles }),
  })
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
