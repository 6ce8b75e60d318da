import type { FaultList, Path } from './faults.ts'
import { expectedAt } from './schema-faults.ts'
import { showValue } from './show-value.ts'

/**
 * What a text of the file says. undefined when there is none, when its shape is wrong, or when it makes no sense, which is
 * a fault of its own.
 */
export function readText<T>(
  faults: FaultList,
  path: Path,
  value: unknown,
  parse: (text: string) => T | undefined,
): T | undefined {
  if (typeof value !== 'string' || !faults.isSound(path)) return undefined
  const parsed = parse(value)
  if (parsed === undefined) faults.add(path, `${showValue(value)} is not ${expectedAt(path)}`)
  return parsed
}
