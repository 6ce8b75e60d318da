import { statSync } from 'node:fs'

/** "DEV:INO" of a folder, by which a plugin sees that it uses the same one (shared/api/cni.schema.ts). */
export function folderInode(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev}:${ino}`
}
