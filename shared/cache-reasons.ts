/** broken: who needs the file stumbles over it. left-over: whole, but of a sandbox that is gone. odd: cannot be judged. */
export type CacheFault = 'broken' | 'left-over' | 'odd'

export interface CacheReasonRow {
  readonly fault: CacheFault
  /** One sentence for people: what it is. */
  readonly means: string
}

/**
 * What may be wrong with a file of a result cache. The closed list: API, metric labels, the CLI and the docs have the
 * reasons from here.
 */
export const cacheReasons = {
  'zero-byte': { fault: 'broken', means: 'the file is empty: whoever wrote it never came to the end' },
  truncated: { fault: 'broken', means: 'the file is the beginning of a JSON document only' },
  'non-json': { fault: 'broken', means: 'the file is no JSON' },
  'wrong-kind': { fault: 'broken', means: 'the file is whole, but not what belongs in this folder' },
  orphan: { fault: 'left-over', means: 'neither the runtime nor ipkeeper knows the sandbox' },
  'stale-boot': {
    fault: 'left-over',
    means: 'the file is older than this boot, and neither the ledger nor a runtime knows the sandbox',
  },
  unreadable: { fault: 'odd', means: 'the system refuses to read the file or folder' },
  'too-large': { fault: 'odd', means: 'the file is larger than any result; it is not read' },
  symlink: { fault: 'odd', means: 'a symbolic link, which is not followed' },
  'not-a-file': { fault: 'odd', means: 'a folder, pipe, socket or device where a file should be' },
  changing: { fault: 'odd', means: 'the file goes on changing, and so cannot be judged' },
} as const satisfies Record<string, CacheReasonRow>

export type CacheReason = keyof typeof cacheReasons

export const cacheReasonNames = Object.keys(cacheReasons) as [CacheReason, ...CacheReason[]]
