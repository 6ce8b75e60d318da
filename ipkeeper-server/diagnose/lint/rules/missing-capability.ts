import { field, isJsonObject } from '../../../../shared/json/fold.ts'
import { memberOf, valueOf } from '../json/json-node.ts'
import type { Diagnostic, LintRule } from '../lint-rule.ts'
import { spotOf, type PluginEntry } from '../site.ts'
import { usesIpkeeper } from '../uses-ipkeeper.ts'

const annotations = 'io.kubernetes.cri.pod-annotations'

/** Those of some capabilities that are not declared as true. What is neither true nor false is a wrong type. */
function undeclared({ config, node }: PluginEntry, names: readonly string[]): string[] {
  const declared = field(config, 'capabilities')
  return names.filter(name => {
    const { value, kind } = memberOf(valueOf(node, 'capabilities'), name)?.value ?? {
      value: null,
      kind: 'null',
    }
    return !(isJsonObject(declared) && declared[name] === true) && (kind === 'null' || value === false)
  })
}

function diagnose(entry: PluginEntry, names: readonly string[], lost: string): Diagnostic[] {
  const { node, network } = entry
  const [first = ''] = names
  const declared = memberOf(node, 'capabilities')
  const at = memberOf(declared?.value, first) ?? declared ?? memberOf(node, 'type')
  if (names.length === 0 || !at) return []
  const list = names.map(name => JSON.stringify(name))
  const wanted = list.map(name => `${name}: true`).join(', ')
  return [
    {
      at: spotOf(network.document, at.keySpan),
      message: `${list.join(' and ')} ${names.length === 1 ? 'is' : 'are'} not among the capabilities: ${lost}`,
      remedy: declared
        ? `add ${wanted} to "capabilities"`
        : `write "capabilities": { ${wanted} } next to "type"`,
    },
  ]
}

export const missingCapability: LintRule = {
  id: 'missing-capability',
  severity: 'warning',
  summary:
    'A plugin that uses ipkeeper and does not declare `io.kubernetes.cri.pod-annotations`, without which annotations do not arrive. For `ips` and `mac`, by which callers without Kubernetes ask, it is a note. In a NetworkAttachmentDefinition it is the other way round: Multus passes on what a selection says there, and no annotations, which ipkeeper then reads from the Kubernetes API; declared all the same, a pod whose annotations cannot be read is refused.',
  *check({ plugins }) {
    for (const entry of plugins) {
      if (!usesIpkeeper(entry.config)) continue
      if (entry.network.document.attachment) {
        yield* diagnose(
          entry,
          undeclared(entry, ['ips', 'mac']),
          'what a pod asks for in its network selection arrives by CNI_ARGS at best, which Multus calls deprecated',
        )
        const lost =
          'without the Kubernetes API a pod that asks by annotation gets a dynamic address unnoticed'
        for (const note of diagnose(entry, undeclared(entry, [annotations]), lost))
          yield { ...note, severity: 'note' }
        continue
      }
      const lost = 'the runtime does not pass annotations on, so every pod gets a dynamic address'
      yield* diagnose(entry, undeclared(entry, [annotations]), lost)
      const [note] = diagnose(
        entry,
        undeclared(entry, ['ips', 'mac']),
        'what a container asks for by --ip or --mac-address does not arrive',
      )
      if (note) yield { ...note, severity: 'note' }
    }
  },
}
