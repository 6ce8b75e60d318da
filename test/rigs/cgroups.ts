import { readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

const mount = '/sys/fs/cgroup'
const prefix = 'ipkeeper-rig-'

/**
 * Control groups belong to no namespace: what a runtime makes for its sandboxes outlives them, empty. So each rig has
 * one parent group for all, whose name tells the process that made it.
 */
export function cgroupName(unique: string): string {
  return `${prefix}${process.pid}-${unique}`
}

/** Removes a group of that name and those below it, in every hierarchy. Groups with processes stay. */
export function removeCgroup(name: string): void {
  for (const hierarchy of hierarchies()) removeTree(join(hierarchy, name))
}

/** Removes what rigs left whose process was killed before it could. */
export function removeStaleCgroups(): void {
  for (const hierarchy of hierarchies()) {
    for (const name of foldersIn(hierarchy)) {
      const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]
      if (pid !== undefined && !isAlive(Number(pid))) removeTree(join(hierarchy, name))
    }
  }
}

/** The unified hierarchy alone, or one folder for each controller of version 1. */
function hierarchies(): readonly string[] {
  return [mount, ...foldersIn(mount).map(name => join(mount, name))]
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(entry => entry.isDirectory())
      .map(entry => entry.name)
  } catch {
    return []
  }
}

function removeTree(folder: string): void {
  for (const name of foldersIn(folder)) removeTree(join(folder, name))
  try {
    rmdirSync(folder)
  } catch {
    // Not there in this hierarchy, or in use.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
