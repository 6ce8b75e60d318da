import { memberOf } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

export const listInConf: LintRule = {
  id: 'list-in-conf',
  severity: 'error',
  summary:
    'A list of plugins in a `.conf` or `.json` file, which hold one plugin. The runtime says "missing \'type\'" and stops.',
  *check({ networks }) {
    for (const { document, root, shape } of networks) {
      const { name } = document.file
      const plugins = memberOf(root, 'plugins')
      if (document.standing !== 'runtime' || shape !== 'list' || !plugins || !/\.(?:conf|json)$/.test(name))
        continue
      const renamed = name.replace(/\.[^.]*$/, '.conflist')
      yield {
        at: spotOf(document, plugins.keySpan),
        message: `a list of plugins in a file of one plugin (${name.slice(name.lastIndexOf('.'))})`,
        remedy: `rename the file: mv ${name} ${renamed}`,
      }
    }
  },
}
