import { lstatSync } from 'node:fs'
import { replaceFile } from '../../conf-dir/replace-file.ts'
import { decode, readRegularFile } from '../../conf-dir/read-source-file.ts'
import { LineMap } from '../../diagnose/lint/line-map.ts'
import { fixText } from '../../diagnose/lint/json/fix-text.ts'
import { isRuntimeFile } from '../../diagnose/lint/runtime-files.ts'
import { looksLikeYaml } from '../../diagnose/lint/yaml-configs.ts'
import { toProblem } from '../../../shared/problem/problem.ts'

/** What became of one file that was to be mended. */
export interface MendReport {
  readonly file: string
  readonly changed: boolean
  /** Where the text of before is; null where nothing was changed. */
  readonly original: string | null
  /** What was, or would be, done. */
  readonly changes: readonly string[]
  /** Lines that go, with "-", and lines that come in their place, with "+". */
  readonly plan: readonly string[]
  /** Why nothing was changed; null where something was. */
  readonly why: string | null
}

/** Lines that differ between two texts, apart from what they begin and end with in common. */
function planOf(before: string, after: string): string[] {
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  let head = 0
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head++
  let tail = 0
  const shortest = Math.min(old.length, fresh.length) - head
  while (tail < shortest && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++
  return [
    ...old.slice(head, old.length - tail).map(line => `-${line}`),
    ...fresh.slice(head, fresh.length - tail).map(line => `+${line}`),
  ]
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

/**
 * Makes the safe changes to one file. Whatever is in the way, the file is as it was and the report says why. undefined
 * where there is nothing to mend.
 */
export async function mendFile(path: string, dryRun: boolean, now: Date): Promise<MendReport | undefined> {
  const unchanged = (why: string): MendReport => ({
    ...{ file: path, changed: false, original: null },
    ...{ changes: [], plan: [], why },
  })
  if (isLink(path)) return unchanged('it is a link: name its target')
  const read = await readRegularFile(path)
  if (!('bytes' in read)) return unchanged(read.why)
  const text = decode(read.bytes)
  const isYaml = /\.ya?ml$/.test(path) || (!isRuntimeFile(path) && looksLikeYaml(text))
  if (isYaml) return unchanged('it is YAML: correct it where it comes from')
  const fixed = fixText(text)
  if (fixed.kind === 'sound') return undefined
  if (fixed.kind === 'by-hand') {
    const { line, column } = new LineMap(text).placeOf(fixed.fault.start)
    return unchanged(`line ${line}, column ${column} is for a person to mend: ${fixed.fault.message}`)
  }
  if (!Buffer.from(text).equals(read.bytes)) return unchanged('it has bytes that are no UTF-8')
  const changes = fixed.titles
  const plan = planOf(text, fixed.text)
  if (dryRun) return { file: path, changed: false, original: null, changes, plan, why: 'dry run' }
  try {
    const check = (written: string): void => void JSON.parse(written)
    const original = await replaceFile(path, read, fixed.text, { now, check })
    return { file: path, changed: true, original, changes, plan, why: null }
  } catch (error) {
    return unchanged(toProblem(error).message)
  }
}
