import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseAddress } from '../../shared/net/address.ts'
import type { CacheFolder } from './list-cache-files.ts'
import type { CacheKind } from './plan/cache-kinds.ts'

const byName: Readonly<Record<string, CacheKind>> = {
  results: 'results',
  flannel: 'flannel',
  multus: 'multus',
  networks: 'hostLocal',
}

const isAddress = (name: string): boolean => parseAddress(name) !== undefined
const isContainerId = (name: string): boolean => /^[0-9a-f]{64}$/.test(name)

/** Names in a folder; none where it cannot be read. */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path).slice(0, 1000)
  } catch {
    return []
  }
}

/**
 * What keeps its files in a folder that somebody named: as configured, else by its name, else by the names in it, else
 * libcni.
 *
 * @param path absolute
 */
export function kindOfFolder(path: string, configured: readonly CacheFolder[]): CacheFolder {
  const same = configured.find(folder => folder.path === path)
  if (same) return same
  const parent = configured.find(folder => folder.kind === 'hostLocal' && folder.path === dirname(path))
  if (parent || basename(dirname(path)) === 'networks')
    return { kind: 'hostLocal', path, network: basename(path) }
  const kind = byName[basename(path)]
  if (kind) return { kind, path }
  const names = namesIn(path)
  if (names.some(isAddress)) return { kind: 'hostLocal', path, network: basename(path) }
  if (names.length > 0 && names.every(isContainerId)) return { kind: 'multus', path }
  const nested = names.slice(0, 20).some(name => namesIn(join(path, name)).some(isAddress))
  return { kind: nested ? 'hostLocal' : 'results', path }
}
