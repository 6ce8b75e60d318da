import { shellWord } from '../text/shell-word.ts'
import { systemCode } from '../system-code.ts'

/** What a file system says that takes no more: it is full, a quota is, it is read-only, or its disk fails. */
const words = {
  ENOSPC: 'is full',
  EDQUOT: 'has no quota left',
  EROFS: 'is read-only',
  EIO: 'fails',
} as const

export type DiskFault = keyof typeof words

export function isDiskFault(code: unknown): code is DiskFault {
  return typeof code === 'string' && Object.hasOwn(words, code)
}

/** Whether room on the disk would help. */
export function lacksRoom(fault: DiskFault | undefined): fault is 'ENOSPC' | 'EDQUOT' {
  return fault === 'ENOSPC' || fault === 'EDQUOT'
}

/** "the file system of /var/lib/ipkeeper is full (ENOSPC)". */
export function describeDiskFault(fault: DiskFault, folder: string): string {
  return `the file system of ${folder} ${words[fault]} (${fault})`
}

/** What to type. Nothing has to be restarted afterwards. */
export function diskHint(fault: DiskFault, folder: string): string {
  const path = shellWord(folder)
  switch (fault) {
    case 'ENOSPC':
      return `free space there, or inodes: df -h ${path}; df -i ${path}; nothing needs a restart then`
    case 'EDQUOT':
      return `raise the quota, or free what it counts: df -h ${path}; repquota -a; nothing needs a restart then`
    case 'EROFS':
      return `see why: dmesg | tail; then: mount -o remount,rw "$(findmnt -n -o TARGET -T ${path})"`
    case 'EIO':
      return `see what the kernel says of the disk: dmesg | tail; which one it is: findmnt -T ${path}`
  }
}

/** What is said of one file alone: the process may not make it larger, or nobody may change it. Room is no matter there. */
export type FileFault = 'EFBIG' | 'EPERM'

export const isFileFault = (code: unknown): code is FileFault => code === 'EFBIG' || code === 'EPERM'

/** Whose limits hold: a plugin has those of the runtime that starts it. */
export type LimitedBy = 'daemon' | 'runtime'

const raiseFileSize: Readonly<Record<LimitedBy, string>> = {
  daemon: '("LimitFSIZE" of the unit, ulimit -f of a shell), then: systemctl restart ipkeeper',
  runtime: 'of the container runtime ("LimitFSIZE" of its unit), and restart that',
}

/** What to type. */
export function fileHint(fault: FileFault, path: string, limitedBy: LimitedBy = 'daemon'): string {
  const word = shellWord(path)
  return fault === 'EFBIG'
    ? `raise the limit of the size of files ${raiseFileSize[limitedBy]}; how large it is: ls -l ${word}`
    : `see whether it may be changed at all: lsattr -d ${word}; a file with "i" or "a": chattr -i -a ${word}`
}

/**
 * The hint for a system error that a file of the folder was in the way with; undefined for one that is not the disk's.
 *
 * @param path the file, or the folder where that is not known
 */
export function hintOfDisk(
  error: unknown,
  folder: string,
  { path = folder, limitedBy = 'daemon' }: { readonly path?: string; readonly limitedBy?: LimitedBy } = {},
): string | undefined {
  const code = systemCode(error)
  if (isFileFault(code)) return fileHint(code, path, limitedBy)
  return isDiskFault(code) ? diskHint(code, folder) : undefined
}
