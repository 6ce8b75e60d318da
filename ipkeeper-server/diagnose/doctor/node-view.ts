import type { Flight } from '../../../shared/api/flight.schema.ts'
import type { StatusReply } from '../../../shared/api/listing.schema.ts'
import type { LoadedNetwork } from '../lint/loaded-networks.ts'

/** Where things of this node are. */
export interface NodePlaces {
  readonly socket: string
  /** Of the plugin; the daemon's own is in its status. */
  readonly stateDir: string
  readonly confDir: string
  /** Those that exist of the ones where runtimes look, or those that were named. */
  readonly binDirs: readonly string[]
}

/** What a check may look at, beside files. What several of them need is looked at once. */
export interface NodeView extends NodePlaces {
  /** Of this program. */
  readonly version: string
  /** GET, or POST where there is a body; resolves to the body of a 200, rejects with a Problem. */
  readonly ask: (path: string, body?: object) => Promise<unknown>
  /** The daemon's status; undefined when there is none that tells it. */
  readonly status: () => Promise<StatusReply | undefined>
  /** Those that can be loaded; what is wrong with the folder is told by the check of it. */
  readonly networks: readonly LoadedNetwork[]
  /** Throws a Problem when they cannot be read. */
  readonly flights: () => readonly Flight[]
  /** Why a state folder without a ledger is not begun anew, in a few words; undefined where it has one, or may begin. */
  readonly missingLedger: (stateDir: string) => Promise<string | undefined>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}
