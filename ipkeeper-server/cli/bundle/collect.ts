import { Problem } from '../../../shared/problem/problem.ts'
import { connectDaemon, type DaemonClient } from '../framework/daemon-client.ts'
import { MissingPart } from './missing-part.ts'
import type { BundlePart, BundleSite, Collected } from './site.ts'
import { withoutSecrets } from './without-secrets.ts'

/** Milliseconds that the daemon has after it has not answered once: it will hardly do better for the next part. */
const afterSilence = 3_000

/** A part, and what it has come to. */
export interface PartReport {
  readonly part: BundlePart
  readonly collected: Collected
  /** Why it is not there; null: it is. */
  readonly missing: string | null
}

interface Collection {
  readonly parts: readonly BundlePart[]
  readonly signal: AbortSignal | undefined
  /** Whether the daemon has been asked already, and has not answered. */
  readonly isSilent: boolean
  readonly onBegin: (part: BundlePart) => void
  readonly onEnd: (report: PartReport) => void
  readonly connect?: (socket: string) => DaemonClient
}

class LatePart extends Error {}

const interrupted = (): Problem => new Problem('IPK_INTERRUPTED', 'interrupted: no bundle was written')

interface Limits {
  /** Milliseconds; undefined: the work has a limit of its own. */
  readonly limit?: number
  /** What is said when they are over. */
  readonly late?: string
  readonly signal: AbortSignal | undefined
}

/** What a promise resolves to, unless its time is up or somebody presses Ctrl-C; it is not waited for then. */
export async function within<T>(work: Promise<T>, { limit, late = '', signal }: Limits): Promise<T> {
  if (signal?.aborted) throw interrupted()
  const stop = Promise.withResolvers<never>()
  const end = (): void => {
    stop.reject(new LatePart(late))
  }
  const timer = limit === undefined ? undefined : setTimeout(end, limit)
  const abort = (): void => {
    stop.reject(interrupted())
  }
  signal?.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, stop.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Problem) return `${error.message} [${error.code}]`
  if (error instanceof MissingPart || error instanceof LatePart) return error.message
  return `internal error: ${error instanceof Error ? error.message : String(error)}`
}

const isSilence = (error: unknown): boolean =>
  error instanceof LatePart || (error instanceof Problem && error.code === 'IPK_DAEMON_TIMEOUT')

/**
 * Collects one part after another, so that a bundle is no load for a node in trouble. Whatever becomes of one, the others
 * go on.
 *
 * @throws Problem IPK_INTERRUPTED alone
 */
export async function collectParts(
  site: BundleSite,
  { parts, signal, isSilent, onBegin, onEnd, connect = connectDaemon }: Collection,
): Promise<readonly PartReport[]> {
  const reports: PartReport[] = []
  let silent = isSilent
  for (const part of parts) {
    onBegin(part)
    const limit = part.asksDaemon && silent ? Math.min(part.limit, afterSilence) : part.limit
    const late = `${part.asksDaemon ? 'the daemon did not answer within' : 'it took longer than'} ${limit / 1000} s`
    // A connection for each: one that the daemon is long about keeps no other waiting.
    const daemon = connect(site.socket)
    let report: PartReport
    try {
      const work = Promise.resolve().then(() => part.collect(site, daemon))
      report = { part, collected: await within(work, { limit, late, signal }), missing: null }
    } catch (error) {
      if (error instanceof Problem && error.code === 'IPK_INTERRUPTED') throw error
      silent ||= part.asksDaemon === true && isSilence(error)
      report = { part, collected: { files: [] }, missing: reasonOf(error) }
    } finally {
      await daemon.close()
    }
    reports.push(report)
    onEnd(report)
  }
  return reports
}

/** The same reports without the secrets that any part has found, in whatever file they stand. */
export function shareableReports(reports: readonly PartReport[]): readonly PartReport[] {
  const secrets = reports.flatMap(({ collected }) => collected.secrets ?? [])
  const clean = (text: string, isLoose?: true): string => withoutSecrets(text, secrets, isLoose)
  return reports.map(({ part, collected, missing }) => ({
    part,
    collected: {
      files: collected.files.map(file => ({ ...file, text: clean(file.text, part.isLoose) })),
      notes: collected.notes?.map(note => clean(note)) ?? [],
    },
    missing: missing === null ? null : clean(missing),
  }))
}
