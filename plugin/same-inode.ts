import { statSync } from 'node:fs'

/** Whether two paths lead to the same file, folder or namespace. A path that cannot be looked at is the same as none. */
export function isSameInode(one: string, other: string): boolean {
  try {
    const [first, second] = [statSync(one, { bigint: true }), statSync(other, { bigint: true })]
    return first.dev === second.dev && first.ino === second.ino
  } catch {
    return false
  }
}
