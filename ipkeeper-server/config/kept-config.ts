import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { stateFiles } from '../../shared/paths.ts'
import { hintOfDisk } from '../../shared/problem/disk-fault.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { shellWord } from '../../shared/text/shell-word.ts'
import { BackgroundTask } from '../host/background-task.ts'
import { writeDurably } from '../host/durable-file.ts'
import { readRegularFileSync } from '../host/regular-file.ts'
import { failedBy } from '../../shared/system-code.ts'

/** What was in force, as texts of files: each version of the daemon reads them by its own rules. */
export interface KeptConfig {
  /** undefined: there was no file, and defaults were in force. */
  readonly text: string | undefined
  /** When it was put in force; milliseconds since the epoch. */
  readonly loadedAt: number
  /** A later file that was refused, whose stricter rules apply all the same; undefined: there is none. */
  readonly strict: string | undefined
}

/** Two configurations of the largest size, each character escaped. */
const sizeLimit = 16 * 1024 * 1024

/** Milliseconds until a copy that could not be written is tried again. */
const retryAfter = 5_000

export const keptConfigPath = (stateDir: string): string => join(stateDir, stateFiles.keptConfig)

/** Over what the file says: a copy that is not as it was written is worse than none. */
const sumOf = ({ text, loadedAt, strict }: KeptConfig): string =>
  createHash('sha256')
    .update(JSON.stringify([text ?? null, loadedAt, strict ?? null]))
    .digest('hex')

const isText = (value: unknown): value is string | null => value === null || typeof value === 'string'

function parseKept(json: string): KeptConfig | undefined {
  const value: unknown = JSON.parse(json)
  if (typeof value !== 'object' || value === null) return undefined
  const { version, sum, text, loadedAt, strict } = value as Record<string, unknown>
  if (version !== 1 || typeof loadedAt !== 'number' || !isText(text) || !isText(strict)) return undefined
  const kept: KeptConfig = { text: text ?? undefined, loadedAt, strict: strict ?? undefined }
  return sum === sumOf(kept) ? kept : undefined
}

/**
 * undefined where there is none.
 *
 * @throws Problem IPK_CONFIG_COPY for one that cannot be read or is damaged
 */
export function readKeptConfig(stateDir: string): KeptConfig | undefined {
  const path = keptConfigPath(stateDir)
  let why
  try {
    const kept = parseKept(readRegularFileSync(path, { most: sizeLimit }).toString())
    if (kept) return kept
    why = 'it is damaged, or of a newer ipkeeper-server'
  } catch (error) {
    if (failedBy(error, 'ENOENT')) return undefined
    why =
      error instanceof SyntaxError ? 'it is damaged' : error instanceof Error ? error.message : String(error)
  }
  throw new Problem(
    'IPK_CONFIG_COPY',
    `${path}: the copy of the last good configuration cannot be used: ${why}`,
  )
}

export interface ConfigKeeperOptions {
  readonly stateDir: string
  /** What came up or, as undefined, that it is over. Told once. */
  readonly onProblem: (problem: Problem | undefined) => void
  /** What the copy says. */
  readonly kept?: KeptConfig | undefined
  /** What was wrong with the copy at the start. */
  readonly problem?: Problem | undefined
}

/** Keeps a copy of what is in force in the state folder, and tries again until it is written. */
export class ConfigKeeper {
  readonly #options: ConfigKeeperOptions
  readonly #task: BackgroundTask
  /** What the copy says; undefined: there is none that can be read. */
  #kept: KeptConfig | undefined
  /** What it is to say; undefined: what it says. */
  #wanted: KeptConfig | undefined
  #problem: Problem | undefined

  constructor(options: ConfigKeeperOptions) {
    this.#options = options
    this.#kept = options.kept
    this.#problem = options.problem
    this.#task = new BackgroundTask({
      round: async () => ((await this.#write()) ? undefined : retryAfter),
    })
  }

  /** Why the copy is not what it is to be. */
  problem(): Problem | undefined {
    return this.#problem
  }

  /** Resolves when the copy is durable, or could not be written. */
  async keep(kept: KeptConfig): Promise<void> {
    const { text, strict } = kept
    // Each start puts in force what is in force already.
    const isKept = this.#kept !== undefined && this.#kept.text === text && this.#kept.strict === strict
    this.#wanted = isKept ? undefined : kept
    if (!isKept) await this.#task.run()
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #write(): Promise<boolean> {
    const kept = this.#wanted
    if (!kept) return true
    const { text = null, loadedAt, strict = null } = kept
    const path = keptConfigPath(this.#options.stateDir)
    const record = { version: 1, sum: sumOf(kept), loadedAt, text, strict }
    try {
      await writeDurably(path, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 })
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      this.#tell(
        new Problem('IPK_CONFIG_COPY', `${path}: the copy of the configuration cannot be written: ${why}`, {
          cause,
          hint:
            hintOfDisk(cause, this.#options.stateDir) ??
            `see what is in its place: ls -ld ${shellWord(path)}; it is tried again every 5 s`,
        }),
      )
      return false
    }
    this.#kept = kept
    if (this.#wanted === kept) this.#wanted = undefined
    this.#tell(undefined)
    return true
  }

  #tell(problem: Problem | undefined): void {
    const before = this.#problem
    this.#problem = problem
    if (before?.message !== problem?.message) this.#options.onProblem(problem)
  }
}
