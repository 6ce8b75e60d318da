import type { BigIntStats } from 'node:fs'

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
