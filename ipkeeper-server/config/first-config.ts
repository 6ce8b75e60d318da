import { missingFile, parseConfig, readConfigText, type DaemonConfig } from './load-config.ts'
import type { KeptConfig } from './kept-config.ts'
import { sectionsOf } from './read-at-start.ts'

/** What a daemon begins with, and goes back to where its file is refused. */
export interface FirstConfig {
  /** Of the file, or what was in force before with the keys of the file that are read once. */
  readonly config: DaemonConfig
  /** The text of the file that `config` is of but for those keys; undefined: there was none. */
  readonly text: string | undefined
  /** Milliseconds since the epoch. */
  readonly loadedAt: number
  /** A file that was refused, whose rules apply besides. */
  readonly strict: { readonly text: string; readonly config: DaemonConfig } | undefined
}

export interface ConfigSite {
  /** Absolute. */
  readonly path: string
  /** Absent is an error only where the file was named on the command line. */
  readonly mustExist: boolean
  /** The node's name where the file does not say it. */
  readonly standardNode: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Of the last run; undefined: there is none. */
  readonly kept?: KeptConfig | undefined
}

/** An empty file is one that is being written, or was when the power failed; as a configuration it would take all pools away. */
export const isEmptyText = (text: string): boolean => text.trim() === ''

/** A text of before, read by this version; undefined where that has become impossible. */
function readEarlier(text: string, { path, standardNode }: ConfigSite): DaemonConfig | undefined {
  try {
    return parseConfig(text, path, standardNode)
  } catch {
    return undefined
  }
}

/** The file as far as it can be read at all, or what is wrong with it. */
function readFile({ path, mustExist, standardNode }: ConfigSite): {
  readonly text?: string | undefined
  readonly config?: DaemonConfig
  readonly fault?: unknown
} {
  try {
    const text = readConfigText(path)
    if (text === undefined && mustExist) return { fault: missingFile(path) }
    return { text, config: parseConfig(text ?? '', path, standardNode) }
  } catch (fault) {
    return { fault }
  }
}

/**
 * A start is like a reload: what was in force is, until the file has been put in force. Without anything from before, the file
 * itself is what the daemon begins with.
 *
 * @throws Problem IPK_DAEMON_CONFIG for a file that cannot be read, where there is nothing else to begin with
 */
export function firstConfig(site: ConfigSite): FirstConfig {
  const { kept, now } = site
  const { text, config, fault } = readFile(site)
  const earlier = kept && readEarlier(kept.text ?? '', site)
  const isOfNow = config !== undefined && text === kept?.text
  if (!kept || !earlier || isOfNow) {
    if (!config) throw fault
    return { config, text, loadedAt: now(), strict: undefined }
  }
  const { text: before, loadedAt, strict } = kept
  const rules = strict === undefined ? undefined : readEarlier(strict, site)
  const isThere = config !== undefined && text !== undefined && !isEmptyText(text)
  return {
    config: isThere ? { ...earlier, ...sectionsOf(config) } : earlier,
    ...{ text: before, loadedAt },
    strict: strict === undefined || !rules ? undefined : { text: strict, config: rules },
  }
}
