import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Problem } from '../../../shared/problem/problem.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'

const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity

/**
 * Throws IPK_STORE_DAMAGED where a daemon saved its ledger from memory, since its file was another one, and that file has not been
 * written to since: what was acknowledged is in the saved one.
 */
export function refuseOlderThanSaved(path: string): void {
  const folder = dirname(path)
  const saved = readdirSync(folder)
    .filter(name => name.startsWith(`${basename(path)}.saved-`) && /\.saved-\w+$/.test(name))
    .map(name => join(folder, name))
    .sort((a, b) => changedAt(a) - changedAt(b))
    .at(-1)
  if (saved === undefined || changedAt(saved) <= Math.max(changedAt(path), changedAt(`${path}-wal`))) return
  // The log first: beside a database that it does not belong to, SQLite would read it.
  const aside = [`${path}-wal`, path]
    .filter(file => changedAt(file) > -Infinity)
    .map(file => `mv ${shellWord(file)} ${shellWord(`${file}.aside`)} && `)
    .join('')
  throw new Problem(
    'IPK_STORE_DAMAGED',
    `store ${path} is older than ${saved}, which a daemon saved from its memory when its own file was gone, cut or another one`,
    {
      hint: `put the saved one in its place: ${aside}mv ${shellWord(saved)} ${shellWord(path)}; or, where the present one is meant: mv ${shellWord(saved)} ${shellWord(`${saved}.aside`)}; see docs/operations/rescue.md`,
    },
  )
}
