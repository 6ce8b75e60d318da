import { shellWord } from '../../../shared/text/shell-word.ts'
import type { SourceFile } from './site.ts'

/** What to type, in whichever folder, to give a file another name. */
export const renameLine = ({ path, name }: Pick<SourceFile, 'path' | 'name'>, to: string): string =>
  `mv ${shellWord(path)} ${shellWord(path.slice(0, path.length - name.length) + to)}`
