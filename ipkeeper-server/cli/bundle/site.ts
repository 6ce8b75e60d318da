import type { StatusReply } from '../../../shared/api/listing.schema.ts'
import type { Place } from '../../../shared/remedy/place.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import type { Terminal } from '../framework/terminal.ts'

/** Where the things are that a bundle is made of. */
export interface BundleSite {
  readonly socket: string
  /** Of the plugin; the daemon's own is in its status. */
  readonly stateDir: string
  readonly confDir: string
  /** The plugin folder that a person named. */
  readonly binDir: string | undefined
  /** Those that are there. */
  readonly binDirs: readonly string[]
  /** undefined: there is no file, and nobody has named one. */
  readonly config: string | undefined
  /** undefined: no daemon told it. */
  readonly status: StatusReply | undefined
  readonly place: Place
  readonly env: Terminal['env']
}

/** One file of a bundle. */
export interface BundleText {
  readonly name: string
  readonly text: string
  /** Where it is not what the part is. */
  readonly what?: string
}

/** What a part has come to. */
export interface Collected {
  readonly files: readonly BundleText[]
  /** What could not be read of it, and the like. */
  readonly notes?: readonly string[]
  /** Values that must be in no file of the bundle. */
  readonly secrets?: readonly string[]
}

export interface BundlePart {
  readonly name: string
  /** What is in it, for the list. */
  readonly what: string
  /** How somebody gets the same. */
  readonly how: string
  /** Milliseconds. */
  readonly limit: number
  /** Whether it is nothing without the daemon. */
  readonly asksDaemon?: true
  /** People have written the texts, so that mistakes may hide where a secret ends. */
  readonly isLoose?: true
  readonly collect: (site: BundleSite, daemon: DaemonClient) => Promise<Collected>
}
