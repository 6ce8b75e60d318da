/** A name means one thing: who reads `Verdict` in one file and looks for it is not to find three. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '..', '..')

/** Every name that a file exports. */
function exportedNames(text: string): ReadonlySet<string> {
  const declared = /^export (?:declare )?(?:interface|type|class|const|let|(?:async )?function\*?) (\w+)/gm
  return new Set(Array.from(text.matchAll(declared), ([, name = '']) => name))
}

/** Names that two files or more export, with those files. */
function namedTwice(texts: ReadonlyMap<string, string>): readonly string[] {
  const files = new Map<string, string[]>()
  for (const [file, text] of texts)
    for (const name of exportedNames(text)) files.set(name, [...(files.get(name) ?? []), file])
  return Array.from(files, ([name, where]) => [name, ...where])
    .filter(({ length }) => length > 2)
    .map(words => words.join(' '))
}

t.test('no two files of the product export one name', t => {
  const sources = globSync('{ipkeeper-server,plugin,shared}/**/*.ts', { cwd: root }).filter(
    // Both edges of the plugin offer one interface, and a schema of the API has the name of what it describes.
    path => !path.startsWith('plugin/edges/') && !/^shared\/api\/.*\.schema\.ts$/.test(path),
  )
  t.ok(sources.length > 500, 'the sources were found')
  const texts = new Map(sources.map(path => [path, readFileSync(join(root, path), 'utf8')]))
  t.strictSame(namedTwice(texts), [])
  t.end()
})

t.test('a name that is exported twice is found, whatever it names', t => {
  const rows: readonly [one: string, other: string, found: readonly string[]][] = [
    ['export interface Step {}', 'export type Step = 1', ['Step a b']],
    ['export const step = 1', 'export async function step() {}', ['step a b']],
    ['export const Step = 1\nexport type Step = 1', 'export class Other {}', []],
    ['export interface Step {}', 'interface Step {}', []],
    ['export interface Step {}', 'export interface Steps {}', []],
  ]
  for (const [one, other, found] of rows)
    t.strictSame(namedTwice(new Map(Object.entries({ a: one, b: other }))), found, `${one} | ${other}`)
  t.end()
})
