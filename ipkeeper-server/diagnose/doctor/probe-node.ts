import { existsSync } from 'node:fs'
import { readNetworks } from '../../conf-dir/read-conf-dir.ts'
import { runtimeBinDirs } from '../../conf-dir/runtime-bin-dirs.ts'
import type { LoadedNetwork } from '../lint/loaded-networks.ts'
import type { Flight } from '../../../shared/api/flight.schema.ts'
import type { StatusReply } from '../../../shared/api/listing.schema.ts'
import { version } from '../../../shared/build-info.ts'
import { defaultPaths } from '../../../shared/paths.ts'

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

export interface ProbeOptions {
  readonly socket: string
  readonly stateDir: string
  readonly confDir: string | undefined
  readonly binDir: string | undefined
  readonly ask: NodeView['ask']
  /** Reads the flight record of a state folder. Throws a Problem. */
  readonly readFlights: (stateDir: string) => readonly Flight[]
  readonly missingLedger: NodeView['missingLedger']
}

/** Folders that a person names come before those that the daemon was told, and these before the usual ones. */
export async function choosePlaces(
  { confDir, binDir }: Pick<ProbeOptions, 'confDir' | 'binDir'>,
  status: Promise<StatusReply | undefined>,
): Promise<Pick<NodeView, 'confDir' | 'binDirs'>> {
  const told = confDir === undefined || binDir === undefined ? (await status)?.conflist : undefined
  return {
    confDir: confDir ?? told?.directory ?? defaultPaths.confDir,
    binDirs:
      binDir === undefined
        ? (told?.binDirs ?? runtimeBinDirs()).filter(folder => existsSync(folder))
        : [binDir],
  }
}

/** This node, as far as ipkeeperctl can see it with or without its daemon. */
export async function probeNode(options: ProbeOptions): Promise<NodeView> {
  const { socket, stateDir, ask } = options
  const status = ask('/v1/status').then(
    reply => reply as StatusReply,
    () => undefined,
  )
  const { confDir, binDirs } = await choosePlaces(options, status)
  let flights: readonly Flight[] | undefined
  return {
    socket,
    stateDir,
    confDir,
    binDirs,
    version,
    ask,
    status: () => status,
    networks: await readNetworks(confDir),
    flights: () => {
      flights ??= options.readFlights(stateDir)
      return flights
    },
    missingLedger: options.missingLedger,
    now: Date.now,
  }
}
