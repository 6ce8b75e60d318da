import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dirname } from 'node:path/posix'

/** So many of them there are, and so many ran. */
export interface Share {
  readonly total: number
  readonly covered: number
}

/** What the unit tests ran of one file or folder. */
export interface Coverage {
  readonly lines: Share
  readonly branches: Share
}

/** The least that the unit tests have to run of one folder, in whole percent. */
export interface Floor {
  readonly lines: number
  readonly branches: number
}

export type Floors = Readonly<Record<string, Floor>>

const kinds = ['lines', 'branches'] as const

const floorsFile = join(import.meta.dirname, 'coverage-floors.json')

/** The browser runs these, and no test of Node. */
const measuredElsewhere = /^ipkeeper-server\/http\/page\/client\//

const add = (a: Share, b: Share): Share => ({ total: a.total + b.total, covered: a.covered + b.covered })

const percent = ({ total, covered }: Share): number => (total === 0 ? 100 : (100 * covered) / total)

/**
 * Sums files up by folder.
 *
 * @param measured by path from the root, as tap's json-summary has it; what is no source is left out
 * @param sources all sources; one that was not measured was not loaded by any unit test
 * @param textOf the text of a source
 * @param hasCode whether anything of that text is left once its types are stripped
 * @returns by folder, in the order of their names
 */
export function byFolder(
  measured: ReadonlyMap<string, Coverage>,
  sources: readonly string[],
  textOf: (source: string) => string,
  hasCode: (text: string) => boolean,
): ReadonlyMap<string, Coverage> {
  const folders = new Map<string, Coverage>()
  for (const source of sources.toSorted()) {
    if (measuredElsewhere.test(source) || source.endsWith('.generated.ts')) continue
    const file = measured.get(source) ?? neverLoaded(textOf(source), hasCode)
    if (!file) continue
    const folder = dirname(source)
    const sum = folders.get(folder)
    folders.set(
      folder,
      sum ? { lines: add(sum.lines, file.lines), branches: add(sum.branches, file.branches) } : file,
    )
  }
  return folders
}

function neverLoaded(text: string, hasCode: (text: string) => boolean): Coverage | undefined {
  if (!hasCode(text)) return undefined
  return {
    lines: { total: text.trimEnd().split('\n').length, covered: 0 },
    branches: { total: 1, covered: 0 },
  }
}

/** A line for each folder. Rounded down, so that 100 means all of it. */
export function table(folders: ReadonlyMap<string, Coverage>): string {
  const width = Math.max(...[...folders.keys()].map(name => name.length))
  const figure = (share: Share): string => (Math.floor(percent(share) * 10) / 10).toFixed(1).padStart(8)
  return [
    `${'coverage by unit tests, %'.padEnd(width)}     lines  branches`,
    ...[...folders].map(
      ([name, { lines, branches }]) => `${name.padEnd(width)}  ${figure(lines)}  ${figure(branches)}`,
    ),
  ].join('\n')
}

/** A sentence for each folder that fell below its floor, that has none, or that is there no more. */
export function complaints(folders: ReadonlyMap<string, Coverage>, floors: Floors): readonly string[] {
  return [
    ...[...folders].flatMap(([name, coverage]) => {
      const floor = floors[name]
      if (!floor) return [`${name} has no floor of coverage yet: make coverage`]
      return kinds
        .filter(kind => percent(coverage[kind]) < floor[kind])
        .map(kind => {
          const { total, covered } = coverage[kind]
          return `unit tests run ${covered} of ${total} ${kind} of ${name}, which is less than ${floor[kind]} %`
        })
    }),
    ...Object.keys(floors)
      .filter(name => !folders.has(name))
      .map(name => `there is a floor of coverage for ${name}, and no such folder: make coverage`),
  ]
}

/**
 * Below what was measured by one to two percent, because what runs in a store or a server depends on timing by a branch
 * or two; what is wholly covered has to stay so.
 */
const floorUnder = (share: Share): number =>
  share.covered === share.total ? 100 : Math.max(0, Math.floor(percent(share) - 1))

/** The floors of the folders that there are, none lower than before. */
export function raised(folders: ReadonlyMap<string, Coverage>, floors: Floors): Floors {
  const raise = (name: string, kind: keyof Floor, share: Share): number =>
    Math.max(floors[name]?.[kind] ?? 0, floorUnder(share))
  return Object.fromEntries(
    [...folders].map(([name, { lines, branches }]) => [
      name,
      { lines: raise(name, 'lines', lines), branches: raise(name, 'branches', branches) },
    ]),
  )
}

export const readFloors = (): Floors => JSON.parse(readFileSync(floorsFile, 'utf8')) as Floors

/** One line for each folder, so that a change of one is a change of one line. */
export function writeFloors(floors: Floors): void {
  const lines = Object.entries(floors).map(
    ([name, { lines, branches }]) => `  "${name}": { "lines": ${lines}, "branches": ${branches} }`,
  )
  writeFileSync(floorsFile, `{\n${lines.join(',\n')}\n}\n`)
}
