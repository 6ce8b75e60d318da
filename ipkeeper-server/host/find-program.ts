import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** Where systems have their programs. */
export const systemFolders = [
  '/usr/sbin',
  '/sbin',
  '/usr/bin',
  '/bin',
  '/usr/local/sbin',
  '/usr/local/bin',
] as const

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The path of a program of the host: PATH first, then where systems have them; undefined when it is not there. */
export function findProgram(name: string, path: string | undefined): string | undefined {
  const folders = [...(path ?? '').split(':').filter(part => part.startsWith('/')), ...systemFolders]
  return folders.map(folder => join(folder, name)).find(isExecutable)
}
