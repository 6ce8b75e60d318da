import { statSync } from 'node:fs'

/** Device and inode of what a path leads to, "DEV:INO"; undefined for one that cannot be looked at. */
export function inodeOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

/** Whether two paths lead to the same file, folder or namespace. A path that cannot be looked at is the same as none. */
export function isSameInode(one: string, other: string): boolean {
  const first = inodeOf(one)
  return first !== undefined && first === inodeOf(other)
}
