import { memberOf, valueOf, type Span } from '../json/json-node.ts'
import type { Diagnostic, LintRule } from '../lint-rule.ts'
import { spotOf, type LintedNetwork } from '../site.ts'

const brace = ({ start }: Span): Span => ({ start, end: start + 1 })

/** Whether a configuration has to bear a name of its own: multus gives one to that of a NetworkAttachmentDefinition. */
const needsName = ({ document }: LintedNetwork): boolean => document.standing === 'runtime'

export const missingKey: LintRule = {
  id: 'missing-key',
  severity: 'error',
  summary:
    'A key without which libcni refuses the file: `name`, `plugins` of a list, `type` of a plugin. Without `cniVersion`, which is a warning, plugins answer in version 0.1.0.',
  *check({ networks }) {
    for (const network of networks) {
      const { document, root } = network
      const miss = (key: string, remedy: string, at: Span = root): Diagnostic => ({
        at: spotOf(document, brace(at)),
        message: `${JSON.stringify(key)} is missing`,
        remedy,
      })
      // A value of another type is left to wrong-type.
      const has = (key: string): boolean => (memberOf(root, key)?.value.kind ?? 'null') !== 'null'
      if ((!has('name') && needsName(network)) || network.name === '')
        yield miss('name', 'name the network, with letters, digits, "_", "." and "-"')
      if (!has('cniVersion') || valueOf(root, 'cniVersion')?.value === '')
        yield { ...miss('cniVersion', 'write "cniVersion": "1.0.0"'), severity: 'warning' }
      if (network.shape === 'list') {
        const listed = valueOf(root, 'plugins')
        if (listed?.kind === 'array' && listed.items.length === 0)
          yield {
            ...miss('plugins', 'add at least one plugin', listed),
            message: '"plugins" is empty',
          }
        for (const { node, type } of network.plugins)
          if (memberOf(node, 'type') === undefined || type === '')
            yield miss('type', 'name the plugin: "type": "bridge"', node)
      } else if (memberOf(root, 'type') === undefined || network.plugins[0]?.type === '') {
        const list = document.file.name.endsWith('.conflist')
        const key = list ? 'plugins' : 'type'
        yield miss(key, list ? 'write "plugins": [{ "type": ... }]' : 'name the plugin: "type": "bridge"')
      }
    }
  },
}
