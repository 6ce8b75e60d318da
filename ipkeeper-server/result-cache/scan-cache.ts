import { type Judgement, type CacheKnowledge, type SeenFile, judgeFile } from './plan/judge-file.ts'
import { cacheKinds, type CacheKind, type Content } from './plan/cache-kinds.ts'
import { sameIdentity, type FileIdentity } from './file-calls.ts'
import { listCacheFiles, type CacheFolder, type CachePath } from './list-cache-files.ts'
import { glance, readCacheFile } from './read-cache-file.ts'

/** A file in which something is wrong, and which state of it that is. */
export interface BadFile extends Judgement {
  readonly kind: CacheKind
  readonly path: Buffer
  /** undefined where there is no regular file. */
  readonly identity: FileIdentity | undefined
  /** Bytes; null where nothing can be seen. */
  readonly size: number | null
  /** Milliseconds since the epoch; null where nothing can be seen. */
  readonly modifiedAt: number | null
}

export interface Scan {
  readonly bad: readonly BadFile[]
  /** Files that were looked at. */
  readonly looked: number
  /** Milliseconds until a file that may not be judged yet may be; undefined where there is none. */
  readonly again: number | undefined
  /** Files that may not be judged yet. */
  readonly waiting: readonly CachePath[]
  /** Folders that were listed. */
  readonly folders: readonly string[]
}

interface Remembered {
  readonly identity: FileIdentity
  /** Monotonic milliseconds: when it was seen so first. */
  readonly since: number
  /** Monotonic milliseconds: since when no look has found it at rest. */
  readonly restlessSince: number
  readonly content: Content | undefined
}

export interface CacheScannerOptions {
  readonly folders: readonly CacheFolder[]
  readonly monotonic: () => number
  /** Told now and then how many files were looked at. */
  readonly onProgress?: (looked: number) => void
}

/** Milliseconds, of every file system that counts in nanoseconds. */
const milliseconds = (nanoseconds: bigint): number => Number(nanoseconds / 1_000_000n)

/** Looks at all files of some folders, and remembers what it has read: one that has not changed is not read again. */
export class CacheScanner {
  readonly #options: CacheScannerOptions
  #remembered = new Map<string, Remembered>()

  constructor(options: CacheScannerOptions) {
    this.#options = options
  }

  /** Looks once. Rejects for no file, whatever is wrong with it. */
  async scan(known: CacheKnowledge): Promise<Scan> {
    const bad: BadFile[] = []
    const waiting: CachePath[] = []
    const folders: string[] = []
    const seen = new Map<string, Remembered>()
    let looked = 0
    let again: number | undefined
    for (const folder of this.#options.folders) {
      for await (const path of listCacheFiles(folder, listed => folders.push(listed))) {
        const found = await this.#look(path, known, seen)
        if (++looked % 256 === 0) this.#options.onProgress?.(looked)
        if (found === undefined) continue
        if (typeof found === 'number') {
          waiting.push(path)
          again = Math.min(again ?? Infinity, found)
        } else bad.push(found)
      }
    }
    this.#remembered = seen
    return { bad, looked, again, waiting, folders }
  }

  /** What is wrong with it; or in how many milliseconds to look again. */
  async #look(
    at: CachePath,
    known: CacheKnowledge,
    seen: Map<string, Remembered>,
  ): Promise<BadFile | number | undefined> {
    const { kind, path, name, network } = at
    const base = { kind, name, network, watchedFor: 0, restlessFor: 0 }
    const glanced = at.odd ? ({ state: 'odd', ...at.odd } as const) : await glance(path)
    if (glanced.state === 'gone') return undefined
    if (glanced.state === 'odd') {
      const stats = 'stats' in glanced ? glanced.stats : undefined
      const modifiedAt = stats ? milliseconds(stats.mtimeNs) : null
      const file: SeenFile = { ...base, content: glanced, changedAt: 0, modifiedAt: modifiedAt ?? 0 }
      const verdict = judgeFile(file, known)
      if (verdict.state !== 'bad') return undefined
      const size = stats?.isFile() ? Number(stats.size) : null
      return { ...verdict, kind, path, identity: undefined, size, modifiedAt }
    }

    const { identity } = glanced
    const id = path.toString('latin1')
    const before = this.#remembered.get(id)
    const unchanged = before && sameIdentity(before.identity, identity) ? before : undefined
    const now = this.#options.monotonic()
    const since = unchanged?.since ?? now
    const reading =
      unchanged?.content !== undefined
        ? ({ state: 'known', content: unchanged.content } as const)
        : await readCacheFile(path, identity)
    if (reading.state === 'gone') return undefined
    const content =
      reading.state === 'known'
        ? reading.content
        : reading.state === 'read'
          ? cacheKinds[kind].read(reading.text, name)
          : undefined
    const [modifiedAt, changed] = [milliseconds(identity.mtimeNs), milliseconds(identity.ctimeNs)]
    const restlessSince = before?.restlessSince ?? now
    const file: SeenFile = {
      ...base,
      content:
        reading.state === 'odd' || reading.state === 'moving'
          ? reading
          : { state: 'read', content: content ?? { sandbox: {} } },
      changedAt: Math.max(modifiedAt, changed),
      modifiedAt,
      watchedFor: now - since,
      restlessFor: now - restlessSince,
    }
    const verdict = judgeFile(file, known)
    const resting = verdict.state === 'good' || (verdict.state === 'bad' && verdict.reason !== 'changing')
    seen.set(id, { identity, since, restlessSince: resting ? now : restlessSince, content })
    if (verdict.state === 'wait') return verdict.milliseconds
    if (verdict.state === 'good') return undefined
    return { ...verdict, kind, path, identity, size: Number(identity.size), modifiedAt }
  }
}
