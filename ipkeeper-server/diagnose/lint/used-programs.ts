import { textField, type JsonNode } from './json/json-node.ts'
import { ipamSections } from './ranges.ts'
import { readSite, type CniDocument, type LintedNetwork, type Site, type SourceFile } from './site.ts'

/** A program that a configuration has run. */
export interface UsedProgram {
  readonly type: string
  /** The object whose "type" names it. */
  readonly holder: JsonNode
  readonly document: CniDocument
  readonly network: LintedNetwork
}

/** The plugin of each entry and of each section that gives addresses, as often as they are named. */
export function* usedPrograms(site: Site): Iterable<UsedProgram> {
  for (const { node, type, network } of site.plugins) {
    if (type !== undefined) yield { type, holder: node, document: network.document, network }
  }
  for (const { node, entry } of ipamSections(site)) {
    const type = textField(node, 'type')
    const { network } = entry
    if (type !== undefined) yield { type, holder: node, document: network.document, network }
  }
}

/** The plugins that files name, each once, in their order: the programs to look for before the files are linted. */
export function usedTypes(files: readonly SourceFile[]): readonly string[] {
  return [...new Set(Array.from(usedPrograms(readSite({ files })), ({ type }) => type))]
}
