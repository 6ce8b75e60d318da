import { isDeepStrictEqual } from 'node:util'
import type { DaemonConfig } from './load-config.ts'

/** Sections that are read once, at the start, because too much is made from them; the schema says "Needs a restart." of each. */
export const sectionsAtStart = [
  'node',
  'kubernetes',
  'store',
  'runtime',
  'resultCache',
  'conflist',
  'metrics',
  'page',
  'webhook',
  'election',
] as const satisfies readonly (keyof DaemonConfig)[]

type AtStart = Pick<DaemonConfig, (typeof sectionsAtStart)[number]>

/** Those sections of a file. */
export const sectionsOf = (file: DaemonConfig): AtStart =>
  Object.fromEntries(sectionsAtStart.map(section => [section, file[section]])) as unknown as AtStart

const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Keys of those sections that differ, such as ["metrics", "listen"]; a section alone where one side has none. */
export function changedAtStart(next: DaemonConfig, current: DaemonConfig): readonly (readonly string[])[] {
  return sectionsAtStart.flatMap(section => {
    const [now, before]: readonly unknown[] = [next[section], current[section]]
    if (isDeepStrictEqual(now, before)) return []
    if (!isMapping(now) || !isMapping(before)) return [[section]]
    return Object.keys({ ...before, ...now })
      .filter(key => !isDeepStrictEqual(now[key], before[key]))
      .map(key => [section, key])
  })
}
