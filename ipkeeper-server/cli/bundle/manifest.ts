import { versionText } from '../../../shared/build-info.ts'
import { remedyHere, type Place } from '../../../shared/remedy/place.ts'
import { visible } from '../../../shared/text/visible.ts'
import { formatTable } from '../framework/terminal-text.ts'
import type { PartReport } from './collect.ts'

/** One file of a bundle, or a part that is not there. */
export interface ManifestRow {
  readonly part: string
  /** null: it is missing. */
  readonly file: string | null
  readonly what: string
  /** How it was made. */
  readonly how: string
  readonly bytes: number | null
  /** Why it is missing; null: it is there. */
  readonly missing: string | null
  readonly notes: readonly string[]
}

export interface Manifest {
  readonly node: string
  readonly createdAt: string
  /** What wrote it. */
  readonly by: string
  readonly parts: readonly ManifestRow[]
}

/** @param place where somebody would type how it was made */
export function manifestOf(node: string, at: number, reports: readonly PartReport[], place: Place): Manifest {
  return {
    node,
    createdAt: new Date(at).toISOString(),
    by: `ipkeeperctl ${versionText}`,
    parts: reports.flatMap(({ part: { name, what, how }, collected: { files, notes = [] }, missing }) => {
      const row: ManifestRow = {
        part: name,
        file: null,
        what,
        how: remedyHere(how, place),
        bytes: null,
        missing,
        notes,
      }
      return files.length === 0
        ? [row]
        : files.map(file => ({
            ...row,
            what: file.what ?? what,
            file: file.name,
            bytes: Buffer.byteLength(file.text),
          }))
    }),
  }
}

/** Parts by why they are not there: a daemon that is away is told once. */
export function missingText(parts: readonly ManifestRow[]): string {
  const reasons = Map.groupBy(
    parts.filter(({ missing }) => missing !== null),
    ({ missing }) => missing,
  )
  return [...reasons]
    .map(([reason, rows]) => `${rows.map(({ part }) => part).join(', ')} (${reason ?? ''})`)
    .join('; ')
}

/** The list as people read it. */
export function manifestText({ node, createdAt, by, parts }: Manifest): string {
  const there = parts.filter(({ file }) => file !== null)
  const missing = parts.filter(row => row.missing !== null)
  const notes = [...new Map(parts.map(({ part, notes: said }) => [part, said]))].flatMap(([part, said]) =>
    said.map(note => [part, visible(note)]),
  )
  const section = (title: string, rows: readonly (readonly string[])[]): string =>
    rows.length === 0 ? '' : `\n${formatTable(title.split(' | '), rows, '')}`
  return [
    `Support bundle of node ${visible(node)}, written ${createdAt} by ${by}.\n`,
    'Passwords, tokens and private keys were removed; names and addresses of pods and nodes were not.\n',
    section(
      'FILE | BYTES | WHAT | THE SAME BY HAND',
      there.map(({ file, bytes, what, how }) => [file ?? '', String(bytes), what, how]),
    ),
    section(
      'MISSING | WHAT | WHY',
      missing.map(({ part, what, missing: why }) => [part, what, visible(why ?? '')]),
    ),
    section('NOTE ON | SAYS', notes),
  ].join('')
}
