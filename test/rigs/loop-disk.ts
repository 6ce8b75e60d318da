/**
 * A small disk for one machine: ext4 on a loop device, mounted where only that machine sees it. It can be filled and
 * frozen without anybody else noticing, and goes with the machine: the kernel drops the mount and frees the device.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { findProgram } from './find-program.ts'
import type { PrivateHost } from './private-host.ts'
import { mustRun } from './run-program.ts'
import type { TempFolder } from './temp-folder.ts'

export interface LoopDisk {
  /** Where it is mounted in its machine. Outside the folder is empty. */
  readonly path: string
  /** Writes until nothing more fits. */
  fill(): Promise<void>
  /** Writes until nothing more fits for anybody but root. */
  fillAsNobody(): Promise<void>
  /** Makes files until no more can be made. */
  fillFiles(): Promise<void>
  /** Takes away what these wrote. */
  makeRoom(): Promise<void>
  /** Has the file system find itself broken, as ext4 does after an error: from now on it is read-only, until `mend`. */
  breakDown(): Promise<void>
  /** Mounts it anew. Nobody may have a file open there. */
  mend(): Promise<void>
  /**
   * Has every write wait for so long, as a disk does that is away; resolves when it goes on. The program that ends it is no
   * child of ours to be killed with us: a frozen file system would stay, and keep its device.
   *
   * @param frozen is called when they have begun to wait
   */
  freeze(milliseconds: number, frozen?: () => void): Promise<void>
  /** Does something while every write waits; it goes on by itself when this process dies. */
  frozenDuring(work: () => Promise<void>): Promise<void>
}

const mkfsFlags = ['-q', '-F', '-O', '^has_journal']

/** Whether the kernel has loop devices to give, and ext4. */
export function hasLoopDevices(): boolean {
  return (
    findProgram('mkfs.ext4') !== undefined &&
    findProgram('fsfreeze') !== undefined &&
    spawnSync(findProgram('losetup') ?? 'losetup', ['--find']).status === 0
  )
}

/**
 * Makes a disk and mounts it.
 *
 * @param name of its image and mount point in the folder
 * @param mebibytes its size
 * @param files how many there can be; where absent, as many as ext4 makes of the size
 * @param forRoot percent that only root can use: with some, root would not see the disk full where others do
 */
export async function makeLoopDisk(
  host: PrivateHost,
  folder: TempFolder,
  name: string,
  mebibytes: number,
  files?: number,
  forRoot = 0,
): Promise<LoopDisk> {
  const [image, path] = [folder.file(`${name}.img`), folder.file(name)]
  mkdirSync(path, { recursive: true })
  await mustRun('truncate', ['--size', `${mebibytes}M`, image])
  await mustRun(findProgram('mkfs.ext4') ?? 'mkfs.ext4', [
    ...[...mkfsFlags, '-m', String(forRoot)],
    ...(files === undefined ? [] : ['-N', String(files)]),
    image,
  ])
  await host.must('mount', ['-o', 'loop', image, path])
  const ballast = `${path}/.ballast`
  return {
    path,
    fill: async () => {
      // Each ends with an error: that there is no space. What is set aside for writes under way is given back only after them.
      const more = `cat /dev/zero >>"${ballast}"; sync -f "${ballast}"`
      // What is left is less than a write of those.
      const rest = `dd if=/dev/zero bs=1k oflag=append conv=notrunc of="${ballast}"; sync -f "${ballast}"`
      await host.run('sh', ['-c', `${more}; ${more}; ${rest}`])
    },
    fillAsNobody: async () => {
      const nobody = 'setpriv --reuid=65534 --regid=65534 --clear-groups'
      const write = (size: string): string => `${nobody} dd if=/dev/zero bs=${size} >>"${ballast}"`
      // What the file is opened by is no matter; who writes is asked for each block.
      await host.run('sh', [
        '-c',
        `${write('1M')}; sync -f "${ballast}"; ${write('4k')}; sync -f "${ballast}"`,
      ])
    },
    fillFiles: async () => {
      const make = 'mkdir -p "$0" && n=0 && while : >"$0/$n"; do n=$((n + 1)); done'
      await host.run('sh', ['-c', make, `${ballast}-files`])
    },
    makeRoom: async () => {
      await host.must('rm', ['-rf', ballast, `${ballast}-files`])
    },
    breakDown: async () => {
      await host.must('mount', ['-o', 'remount,abort', path])
    },
    mend: async () => {
      await host.must('umount', [path])
      await host.run('fsck.ext4', ['-p', '-f', image])
      await host.must('mount', ['-o', 'loop', image, path])
    },
    freeze: async (milliseconds, frozen) => {
      const fsfreeze = findProgram('fsfreeze') ?? 'fsfreeze'
      const seconds = (milliseconds / 1000).toFixed(2)
      // By where it stands: who removes the folder outside takes the mount away in here.
      // When nobody listens any more, it is to be thawed all the same.
      const script = `trap '' PIPE; cd "$1" && ${fsfreeze} -f . && { echo || :; } && sleep ${seconds}; ${fsfreeze} -u .`
      const child = spawn(...spawnable(host.become('sh', ['-c', script, 'sh', path])), {
        stdio: ['ignore', 'pipe', 'ignore'],
        detached: true,
      })
      child.stdout.once('data', () => frozen?.())
      await once(child, 'close')
    },
    frozenDuring: async work => {
      const fsfreeze = findProgram('fsfreeze') ?? 'fsfreeze'
      const script = `cd "$1" && ${fsfreeze} -f . && echo && cat >/dev/null; ${fsfreeze} -u .`
      const child = spawn(...spawnable(host.become('sh', ['-c', script, 'sh', path])), {
        stdio: ['pipe', 'pipe', 'ignore'],
        detached: true,
      })
      const ended = once(child, 'close')
      await Promise.race([once(child.stdout, 'data'), ended])
      try {
        await work()
      } finally {
        child.stdin.end()
        await ended
      }
    },
  }
}

const spawnable = ([program, args]: readonly [string, readonly string[]]): [string, string[]] => [
  program,
  [...args],
]
