import { chown, link, lstat, open, readdir, rename, unlink } from 'node:fs/promises'
import type { BigIntStats } from 'node:fs'

/**
 * The calls by which files are changed here. They are named so that a test can let the power fail before any of them.
 */
export const fileCalls = { chown, link, lstat, open, readdir, rename, unlink }

export type FileCalls = typeof fileCalls

const slash = 0x2f

/** Names on a disk are bytes: one that is no UTF-8 has to be opened, moved and brought back as well. */
export function joinBytes(folder: Buffer, name: Buffer | string): Buffer {
  return Buffer.concat([folder, Buffer.from('/'), typeof name === 'string' ? Buffer.from(name) : name])
}

export function folderOf(path: Buffer): Buffer {
  const at = path.lastIndexOf(slash)
  return at <= 0 ? Buffer.from('/') : path.subarray(0, at)
}

export function nameOf(path: Buffer): Buffer {
  return path.subarray(path.lastIndexOf(slash) + 1)
}

/** Whether a path can be told as text without loss. */
export function isText(path: Buffer): boolean {
  return Buffer.from(path.toString()).equals(path)
}

/** Which file it is, and which state of it: changes with every write, and with every file that takes its place. */
export interface FileIdentity {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

export function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): FileIdentity {
  return { dev, ino, size, mtimeNs, ctimeNs }
}

export function sameIdentity(a: FileIdentity, b: FileIdentity): boolean {
  return sameContent(a, b) && a.ctimeNs === b.ctimeNs
}

/** The same file with the same content, though it may bear another name meanwhile: a rename changes ctime. */
export function sameContent(a: FileIdentity, b: FileIdentity): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs
}
