/**
 * A wall clock that a test moves: libfaketime, preloaded into programs that look at it. Only that clock is moved, as by an
 * operator or an NTP server that was wrong: what is measured goes by the monotonic one.
 */
import { globSync, renameSync, writeFileSync } from 'node:fs'
import type { TempFolder } from './temp-folder.ts'

export interface MovedClock {
  /** Environment of programs that are to see it. */
  readonly env: Readonly<Record<string, string>>
  /** Seconds that it is ahead. */
  readonly ahead: number
  /** Moves it, for programs that run as well: so many seconds ahead of the true time, or behind. */
  move(seconds: number): void
}

/** Debian's, for whichever architecture, for programs of many threads. */
const libraries = '/usr/lib/*/faketime/libfaketimeMT.so.1'

/** Path of the library, or undefined. */
export function findFaketime(): string | undefined {
  return globSync(libraries)[0]
}

export function makeMovedClock(folder: TempFolder, name: string): MovedClock {
  const library = findFaketime()
  if (library === undefined) throw new Error("no libfaketime: ask missing('faketime') first")
  const file = folder.file(name)
  let ahead = 0
  const write = (): void => {
    // Whole at every moment: a program that reads nothing there gives up.
    writeFileSync(`${file}.new`, `${ahead >= 0 ? '+' : ''}${ahead}\n`)
    renameSync(`${file}.new`, file)
  }
  write()
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DISABLE_SHM: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      // Files have the times that the file system gave them.
      NO_FAKE_STAT: '1',
    },
    get ahead() {
      return ahead
    },
    move: seconds => {
      ahead = seconds
      write()
    },
  }
}
