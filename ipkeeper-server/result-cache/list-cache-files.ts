import { lstat, readdir } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { CacheReason } from '../../shared/cache-reasons.ts'
import { joinBytes } from './file-calls.ts'
import { cacheKindNames, cacheKinds, type CacheKind } from './plan/cache-kinds.ts'
import { parseAddress } from '../../shared/net/address.ts'
import { systemCode } from '../../shared/system-code.ts'

/** A folder, and what keeps its files there. */
export interface CacheFolder {
  readonly kind: CacheKind
  /** Absolute. */
  readonly path: string
  /** It is the folder of this network alone, where the kind has one for each. */
  readonly network?: string
}

/** The folders of a configuration. */
export function foldersOf(folders: Readonly<Record<CacheKind, readonly string[]>>): CacheFolder[] {
  return cacheKindNames.flatMap(kind => folders[kind].map(path => ({ kind, path })))
}

/** A path that may be a bad file, or a folder of which nothing can be seen. */
export interface CachePath {
  readonly kind: CacheKind
  readonly path: Buffer
  /** As far as it is text. */
  readonly name: string
  readonly network: string | undefined
  readonly odd?: { readonly reason: CacheReason; readonly detail: string }
}

const hidden = 0x2e

type Names = { readonly names: readonly Buffer[] } | { readonly odd: NonNullable<CachePath['odd']> }

/** What is in a folder; nothing where there is none. Names that begin with a dot are of files that are being written. */
async function namesIn(folder: Buffer): Promise<Names> {
  try {
    const names = await readdir(folder, { encoding: 'buffer' })
    return { names: names.filter(name => name[0] !== hidden).sort((a, b) => a.compare(b)) }
  } catch (error) {
    const code = systemCode(error)
    return code === 'ENOENT' ? { names: [] } : { odd: { reason: 'unreadable', detail: code } }
  }
}

async function isFolder(path: Buffer): Promise<boolean> {
  return await lstat(path).then(
    stats => stats.isDirectory(),
    () => false,
  )
}

/**
 * All paths of a folder that are to be looked at, in the order of their names. The folder itself may be a link, since
 * somebody configured it; nothing in it is followed.
 *
 * @param onFolder is told of each folder that was listed
 */
export async function* listCacheFiles(
  { kind, path, network: only }: CacheFolder,
  onFolder: (path: string) => void,
): AsyncGenerator<CachePath> {
  const { nested, holds } = cacheKinds[kind]
  const root = Buffer.from(path)
  const list = async function* (folder: Buffer, network: string | undefined): AsyncGenerator<CachePath> {
    const found = await namesIn(folder)
    if ('odd' in found) {
      yield { kind, path: folder, name: '', network, odd: found.odd }
      return
    }
    onFolder(folder.toString())
    for (const bytes of found.names) {
      const name = bytes.toString()
      if (holds(name)) yield { kind, path: joinBytes(folder, bytes), name, network }
    }
  }
  if (!nested || only !== undefined) {
    yield* list(root, only)
    return
  }
  const found = await namesIn(root)
  if ('odd' in found) {
    yield { kind, path: root, name: '', network: undefined, odd: found.odd }
    return
  }
  onFolder(path)
  for (const bytes of found.names) {
    const folder = joinBytes(root, bytes)
    if (await isFolder(folder)) yield* list(folder, bytes.toString())
    else if (await isLink(folder))
      yield {
        ...{ kind, path: folder, name: bytes.toString(), network: undefined },
        odd: { reason: 'symlink', detail: 'a symbolic link; it is not followed' },
      }
  }
}

async function isLink(path: Buffer): Promise<boolean> {
  return await lstat(path).then(
    stats => stats.isSymbolicLink(),
    () => false,
  )
}

const byName: Readonly<Record<string, CacheKind>> = {
  results: 'results',
  flannel: 'flannel',
  multus: 'multus',
  networks: 'hostLocal',
}

const isAddress = (name: string): boolean => parseAddress(name) !== undefined
const isContainerId = (name: string): boolean => /^[0-9a-f]{64}$/.test(name)

/** Names in a folder; none where it cannot be read. */
function firstNamesIn(path: string): string[] {
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
  const names = firstNamesIn(path)
  if (names.some(isAddress)) return { kind: 'hostLocal', path, network: basename(path) }
  if (names.length > 0 && names.every(isContainerId)) return { kind: 'multus', path }
  const nested = names.slice(0, 20).some(name => firstNamesIn(join(path, name)).some(isAddress))
  return { kind: nested ? 'hostLocal' : 'results', path }
}
