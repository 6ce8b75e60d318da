import { allNodes } from '../json/json-node.ts'
import type { LintRule } from '../lint-rule.ts'
import { spotOf } from '../site.ts'
import { fillIn } from '../json/read-scalar.ts'
import { syntaxDiagnostics } from './syntax.ts'

const marker =
  /\{\{[^}]{0,200}\}\}|\{%.{0,200}?%\}|\$\{[^{}]{0,200}\}|__[A-Z][A-Z0-9_]*__|^<[A-Za-z_][\w. -]*>$|@[A-Z_][A-Z0-9_]*@/

export const templateMarker: LintRule = {
  id: 'template-marker',
  severity: 'error',
  summary:
    'A template marker that was never filled in, such as `{{ .Mtu }}`, `${MTU}`, `__CNI_MTU__` or `<subnet>`. In a manifest it is a note, as the installer may fill it in.',
  *check(site) {
    const manifest = new Set(site.files.filter(({ yaml }) => yaml !== undefined))
    for (const diagnostic of syntaxDiagnostics(site, 'template-marker'))
      yield manifest.has(diagnostic.at.file) ? { ...diagnostic, severity: 'note' } : diagnostic
    for (const document of site.files.flatMap(({ documents }) => documents)) {
      if (!document.root) continue
      for (const node of allNodes(document.root)) {
        const found = typeof node.value === 'string' ? marker.exec(node.value)?.[0] : undefined
        if (found === undefined) continue
        yield {
          at: spotOf(document, node),
          message: `${JSON.stringify(found)} was never filled in`,
          remedy: fillIn,
          ...(document.standing === 'manifest' && { severity: 'note' }),
        }
      }
    }
  },
}

/** Words that another plugin or an installer replaces by a subnet. */
const placeholder =
  /^(?:usePodCidr(?:IPv6)?|usePodCIDR(?:IPv6)?|podCidr|podCIDR|clusterCIDR|CHANGEME|changeme|TODO|FIXME|xxx+|XXX+)$/

export const placeholderRule: LintRule = {
  id: 'placeholder',
  severity: 'error',
  summary:
    'A word in place of a value, such as `usePodCidr`, which only the `calico` plugin replaces by itself.',
  *check({ plugins }) {
    for (const { node, type, network } of plugins) {
      if (type === 'calico') continue
      for (const { kind, value, ...span } of allNodes(node)) {
        if (kind !== 'string' || typeof value !== 'string' || !placeholder.test(value)) continue
        yield {
          at: spotOf(network.document, span),
          message: `${JSON.stringify(value)} is a placeholder that no program replaces`,
          remedy: 'write the value, such as "10.244.3.0/24"',
        }
      }
    }
  },
}
