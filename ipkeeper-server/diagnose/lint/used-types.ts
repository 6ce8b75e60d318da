import { readSite, type SourceFile } from './site.ts'
import { usedPrograms } from './used-programs.ts'

/** The plugins that files name, each once, in their order: what somebody has to look for before the files are linted. */
export function usedTypes(files: readonly SourceFile[]): readonly string[] {
  return [...new Set(Array.from(usedPrograms(readSite({ files })), ({ type }) => type))]
}
