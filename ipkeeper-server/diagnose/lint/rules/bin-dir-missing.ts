import type { LintRule } from '../rule.ts'
import { topOf } from '../site.ts'

export const binDirMissing: LintRule = {
  id: 'bin-dir-missing',
  severity: 'warning',
  summary:
    'None of the folders for plugins is there, as on a machine that is no node, or where the runtime has them elsewhere. Nothing is said of plugins then.',
  *check({ input: { plugins }, files, networks }) {
    const [file] = files
    if (!plugins || plugins.seen || !file || networks.length === 0) return
    yield {
      at: topOf(file),
      message: `there is no ${plugins.binDirs.join(', ')}: whether the plugins are installed was not looked at`,
      remedy:
        'on a node, name the folder of plugins (bin_dir of the runtime): --bin-dir DIR, or conflist.binDirs in the configuration of the daemon',
    }
  },
}
