import { shellWord } from '../../../../shared/text/shell-word.ts'
import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../lint-rule.ts'
import { spotOf, topOf, type PluginSeen, type Site, type Spot } from '../site.ts'
import { usedPrograms } from '../used-programs.ts'

interface NamedProgram {
  readonly type: string
  /** Of the value of "type". */
  readonly at: Spot
  /** undefined where the folders of plugins were not searched. */
  readonly seen: PluginSeen | undefined
}

function* namedPrograms(site: Site): Iterable<NamedProgram> {
  for (const { type, holder, document } of usedPrograms(site)) {
    const node = valueOf(holder, 'type')
    if (node) yield { type, at: spotOf(document, node), seen: site.input.plugins?.seen?.get(type) }
  }
}

export const pluginName: LintRule = {
  id: 'plugin-name',
  severity: 'error',
  summary: 'A `type` that is a path. Runtimes want the name of a program in one of their plugin folders.',
  *check(site) {
    for (const { type, at } of namedPrograms(site)) {
      if (!/[/\\]|^\.{0,2}$/.test(type) || type === '') continue
      yield {
        at,
        message: `${JSON.stringify(type)} is not a plugin name: it must be a file name`,
        remedy: `write ${JSON.stringify(type.split(/[/\\]/).at(-1) || 'bridge')}, and put the program into the plugin folder`,
      }
    }
  },
}

export const binDirMissing: LintRule = {
  id: 'bin-dir-missing',
  severity: 'warning',
  summary:
    'None of the plugin folders exists, as on a machine that is not a node, or where the runtime has them elsewhere. Plugins are not checked then.',
  *check({ input: { plugins }, files, networks }) {
    const [file] = files
    if (!plugins || plugins.seen || !file || networks.length === 0) return
    yield {
      at: topOf(file),
      message: `${plugins.binDirs.join(', ')} not found: whether the plugins are installed was not checked`,
      remedy:
        'on a node, name the plugin folder (bin_dir of the runtime): --bin-dir DIR, or conflist.binDirs in the configuration of the daemon',
    }
  },
}

export const pluginMissing: LintRule = {
  id: 'plugin-missing',
  severity: 'error',
  summary: 'A plugin whose program is in none of the plugin folders. Files load; each ADD and DEL fails.',
  *check(site) {
    for (const { type, at, seen } of namedPrograms(site)) {
      if (seen?.kind !== 'missing') continue
      yield {
        at,
        message: `there is no program ${JSON.stringify(type)} in ${site.input.plugins?.binDirs.join(', ') ?? ''}`,
        remedy: 'install the plugin there, or name the folder that the runtime searches: --bin-dir DIR',
      }
    }
  },
}

export const pluginNotExecutable: LintRule = {
  id: 'plugin-not-executable',
  severity: 'error',
  summary:
    'A plugin whose program exists and cannot be run: not executable, a folder, a link that leads nowhere.',
  *check(site) {
    for (const { at, seen } of namedPrograms(site)) {
      if (seen?.kind !== 'unusable') continue
      yield {
        at,
        message: `${seen.path} cannot be run: ${seen.why}`,
        remedy:
          seen.why === 'it is not executable' ? `chmod 755 ${shellWord(seen.path)}` : 'reinstall the plugin',
      }
    }
  },
}

export const pluginUnsafe: LintRule = {
  id: 'plugin-unsafe',
  severity: 'warning',
  summary: 'A plugin that a user other than root can replace. Runtimes run it as root; the linter does not.',
  *check(site) {
    for (const { at, seen } of namedPrograms(site)) {
      if (seen?.kind !== 'executable' || seen.unsafe === undefined) continue
      yield {
        at,
        message: `${seen.path} ${seen.unsafe}, and runtimes run it as root; it was not asked for its versions`,
        remedy: `check what it is, then: chown root:root ${shellWord(seen.path)} && chmod 755 ${shellWord(seen.path)}`,
      }
    }
  },
}

export const pluginSilent: LintRule = {
  id: 'plugin-silent',
  severity: 'warning',
  summary:
    'A plugin that does not answer VERSION within 2 s as the specification requires. CRI-O refuses its network.',
  *check(site) {
    for (const { at, seen } of namedPrograms(site)) {
      if (seen?.kind !== 'executable' || seen.versions || seen.silence === '') continue
      yield {
        at,
        message: `${seen.path} does not say which versions it supports: ${seen.silence}`,
        remedy: `try it: CNI_COMMAND=VERSION ${seen.path} </dev/null`,
      }
    }
  },
}
