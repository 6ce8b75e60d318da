/**
 * Files that the daemon makes in advance, for DELs that come while it is away and the disk is full: then nothing can be
 * made, but what is there can be written over. They are in numbered folders of `spare-dels` in the state folder, few in
 * each, so that a folder always has room for a name; what becomes of one its name says: "7" is free, "7w" is being written,
 * "7d" is a DEL that waits. Whoever renames it first has it. Behind the text there are blanks.
 */
export const spareDels = {
  folders: 16,
  inEach: 16,
  /** Bytes of each: what a DEL needs that says only which attachment it ends. */
  bytes: 4096,
} as const

export const isSpareFolder = (name: string): boolean => /^\d{1,2}$/.test(name)
export const isFreeSpare = (name: string): boolean => /^\d{1,2}$/.test(name)
export const isWaitingSpare = (name: string): boolean => /^\d{1,2}d$/.test(name)

/** Of one that somebody may have left half written. */
export const isTakenSpare = (name: string): boolean => /^\d{1,2}w$/.test(name)

export const takenSpare = (number: string): string => `${number}w`
export const waitingSpare = (number: string): string => `${number}d`

/** "7" of "7", "7w" and "7d". */
export const numberOfSpare = (name: string): string => name.replace(/[wd]$/, '')
