import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Tools of an administrator are not on every user's PATH. */
const searchPath = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']

/**
 * Full path of a program, or undefined when the machine has none.
 *
 * @param elsewhere folders to look into after those of PATH
 */
export function findProgram(name: string, elsewhere: readonly string[] = []): string | undefined {
  return [...searchPath, ...elsewhere]
    .filter(folder => folder !== '')
    .map(folder => join(folder, name))
    .find(isExecutable)
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
