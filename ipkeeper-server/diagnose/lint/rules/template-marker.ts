import { allNodes } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'
import { syntaxDiagnostics } from './syntax.ts'

const marker =
  /\{\{[^}]{0,200}\}\}|\{%.{0,200}?%\}|\$\{[^{}]{0,200}\}|__[A-Z][A-Z0-9_]*__|^<[A-Za-z_][\w. -]*>$|@[A-Z_][A-Z0-9_]*@/

export const templateMarker: LintRule = {
  id: 'template-marker',
  severity: 'error',
  summary:
    'A mark of a template that nobody filled in, such as `{{ .Mtu }}`, `${MTU}`, `__CNI_MTU__` or `<subnet>`. In a manifest it is only noted, as the installer may fill it in.',
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
          remedy: 'let the installer put a value there, or write it yourself',
          ...(document.standing === 'manifest' && { severity: 'note' }),
        }
      }
    }
  },
}
