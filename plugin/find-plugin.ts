import { statSync } from 'node:fs'

/**
 * The executable of a plugin type: the first regular file of that name in the folders of CNI_PATH; undefined when there
 * is none. Like the reference (cni:pkg/invoke/find.go) it does not look at the executable bit.
 *
 * @param type a checked name, without "/"
 * @param path CNI_PATH: folders joined by ":"
 */
export function findPlugin(type: string, path: string): string | undefined {
  return path
    .split(':')
    .filter(folder => folder !== '')
    .map(folder => `${folder}/${type}`)
    .find(isRegularFile)
}

function isRegularFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}
