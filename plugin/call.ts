import type { Environment, CniEnvironment } from '../shared/cni/environment.ts'
import type { PluginSettings } from '../shared/cni/netconf.ts'
import type { JsonObject } from '../shared/json/fold.ts'
import type { CniVersion } from '../shared/cni/versions.ts'
import type { LeaveMark } from './answered-mark.ts'
import type { DaemonEdges } from './ask-daemon.ts'
import type { DelEntry, QueuedDel } from './deferred-del.ts'
import type { Deliver } from './standard-streams.ts'
import type { RunChild } from './run-child.ts'
import type { AppendFlight } from './flight-log.ts'
import type { RunIdentity } from './run-identity.ts'
import type { ReadStdin } from './stdin.ts'

/** Everything outside that the plugin touches; main.ts hands in the real ones, tests others. */
export interface PluginEdges extends DaemonEdges {
  readonly env: Environment
  readonly readStdin: ReadStdin
  readonly deliver: Deliver
  /** One line on stderr; never throws. */
  readonly note: (line: string) => void
  /** When the run began, by `now`. */
  readonly startedMs: number
  readonly identity: () => RunIdentity
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number
  readonly pid: number
  /** Writes one DEL durably into the queue of a state folder, which may take so many milliseconds at least. */
  readonly queueDel: (stateDir: string, entry: DelEntry, withinMs: number) => QueuedDel | Promise<QueuedDel>
  readonly leaveMark: (...args: Parameters<LeaveMark>) => void | Promise<void>
  readonly withdrawMark: (...args: Parameters<LeaveMark>) => void | Promise<void>
  readonly runChild: RunChild
  readonly appendFlight: (...args: Parameters<AppendFlight>) => void | Promise<void>
  /** Remembers in a state folder that the daemon has answered now; never throws. */
  readonly stampAnswer: (stateDir: string) => void
  /** For how many milliseconds the daemon has not answered; undefined when that is not known. */
  readonly sinceAnswer: (stateDir: string) => number | undefined
  /** Whether a path is the network namespace of this process. */
  readonly isOwnNetns: (path: string) => boolean
  /** Whether two paths are the same folder. */
  readonly isSameFolder: (one: string, other: string) => boolean
  /** "DEV:INO" of what a path leads to; undefined for one that cannot be looked at. */
  readonly inodeOf: (path: string) => string | undefined
}

/** A run whose environment, stdin and version have been checked. */
export interface Call {
  readonly invocation: CniEnvironment
  /** The configuration as it came on stdin; valid JSON, an object. */
  readonly configText: string
  /** The same, parsed. */
  readonly config: JsonObject
  readonly cniVersion: CniVersion
  readonly settings: PluginSettings
  readonly edges: PluginEdges
  /** To be told of every answer that the daemon gave, refusals too. */
  readonly answered: (requestId: string) => void
  /** Says what an interruption has to wait for, after its error is printed. `giveUp` must never reject. */
  readonly onInterrupt: (giveUp: () => Promise<void>) => void
}
