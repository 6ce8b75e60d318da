import { existsSync } from 'node:fs'
import { arch, release, uptime, version as kernelVersion } from 'node:os'
import { join } from 'node:path'
import { commit, version } from '../../../shared/build-info.ts'
import { pluginVersion } from '../../diagnose/doctor/checks/networks.ts'
import { isExecutable } from '../../host/find-program.ts'
import { readRegularFile } from '../../host/regular-file.ts'
import { SocketRuntimes, type SocketVersion } from '../../runtime/socket-runtimes.ts'
import type { BundleSite } from './site.ts'

interface Versions {
  readonly ipkeeperctl: { readonly version: string; readonly commit: string; readonly path: string }
  /** null: no daemon told it. */
  readonly daemon: { readonly version: string; readonly commit: string | null } | null
  /** A version of null: it is not executable, or not the plugin of ipkeeper. */
  readonly plugins: readonly { readonly path: string; readonly version: string | null }[]
  readonly node: string
  readonly kernel: { readonly release: string; readonly version: string; readonly architecture: string }
  readonly bootedAt: string
  readonly osRelease: Readonly<Record<string, string>>
  readonly runtimes: readonly SocketVersion[]
}

/** os-release(5): where a system says what it is. */
const osReleaseFiles = ['/etc/os-release', '/usr/lib/os-release'] as const

/** Its lines: NAME="value", in which the shell's escapes are rare. */
export function parseOsRelease(text: string): Readonly<Record<string, string>> {
  const lines = text.matchAll(/^([A-Z][A-Z0-9_]*)=(?:"([^"\n]*)"|'([^'\n]*)'|(\S*))\s*$/gm)
  return Object.fromEntries(
    Array.from(lines, ([, key = '', double, single, bare]) => [key, double ?? single ?? bare ?? '']),
  )
}

async function readOsRelease(): Promise<Readonly<Record<string, string>>> {
  for (const path of osReleaseFiles) {
    const text = await readRegularFile(path, { most: 64 * 1024 }).catch(() => undefined)
    if (text) return parseOsRelease(text.toString())
  }
  return {}
}

async function askRuntimes(): Promise<readonly SocketVersion[]> {
  const runtimes = new SocketRuntimes(undefined)
  try {
    return await runtimes.versions()
  } finally {
    runtimes.close()
  }
}

/** What runs on this node, as far as addresses depend on it. */
export async function readVersions({ status, binDirs }: BundleSite): Promise<Versions> {
  const paths = binDirs.map(folder => join(folder, 'ipkeeper')).filter(path => existsSync(path))
  return {
    ipkeeperctl: { version, commit, path: process.execPath },
    daemon: status ? { version: status.version, commit: status.commit ?? null } : null,
    plugins: await Promise.all(
      paths.map(async path => ({
        path,
        version: isExecutable(path) ? ((await pluginVersion(path)) ?? null) : null,
      })),
    ),
    node: process.version,
    kernel: { release: release(), version: kernelVersion(), architecture: arch() },
    bootedAt: new Date(Date.now() - uptime() * 1000).toISOString(),
    osRelease: await readOsRelease(),
    runtimes: await askRuntimes(),
  }
}
