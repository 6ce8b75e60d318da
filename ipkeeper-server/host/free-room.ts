import { statfsSync } from 'node:fs'

/** What this process can still write on a file system. */
export interface FreeRoom {
  readonly bytes: number
  /** Infinity for file systems that have no fixed number of inodes: they tell none. */
  readonly files: number
  /** Of all of it, free or not. */
  readonly totalBytes: number
  readonly totalFiles: number
}

/** statfs(2): f_type of ext2, ext3 and ext4. */
const ext = 0xef53
/** Blocks that ext4 keeps for its own needs: a fiftieth, and no more than these (ext4_calculate_resv_clusters). */
const ownShare = 1 / 50
const mostOwn = 4096

/**
 * By a folder of it. `bavail` is what others than root may write; ext4 keeps a twentieth back for root unless told otherwise, and
 * the daemon is root, who needs no capability for that.
 *
 * @throws what the system says
 */
export function freeRoom(folder: string): FreeRoom {
  const { type, bavail, bfree, blocks, bsize, ffree, files } = statfsSync(folder)
  const forRoot = bfree - Math.min(Math.ceil(blocks * ownShare), mostOwn)
  const free = type === ext && process.geteuid?.() === 0 ? Math.max(bavail, forRoot) : bavail
  return {
    ...{ bytes: free * bsize, totalBytes: blocks * bsize },
    ...{ files: files > 0 ? ffree : Infinity, totalFiles: files },
  }
}
