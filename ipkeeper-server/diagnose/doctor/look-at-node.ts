import { existsSync } from 'node:fs'
import type { Flight } from '../../../shared/api/flight.schema.ts'
import type { StatusReply } from '../../../shared/api/listing.schema.ts'
import { version } from '../../../shared/build-info.ts'
import { defaultPaths } from '../../../shared/paths.ts'
import { readNetworks } from '../../conf-dir/read-networks.ts'
import type { NodeView } from './node-view.ts'

/** Where runtimes have their plugins, unless they are told otherwise: upstream, Debian, Fedora. */
const usualBinDirs = [defaultPaths.binDir, '/usr/lib/cni', '/usr/libexec/cni'] as const

export interface LookOptions {
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
async function choosePlaces(
  { confDir, binDir }: LookOptions,
  status: Promise<StatusReply | undefined>,
): Promise<Pick<NodeView, 'confDir' | 'binDirs'>> {
  const told = confDir === undefined || binDir === undefined ? (await status)?.conflist : undefined
  // The default of the daemon is the first of the usual ones, and says nothing of the node.
  const toldBinDirs = told?.binDirs.some(folder => folder !== defaultPaths.binDir) ? told.binDirs : undefined
  return {
    confDir: confDir ?? told?.directory ?? defaultPaths.confDir,
    binDirs:
      binDir === undefined ? (toldBinDirs ?? usualBinDirs.filter(folder => existsSync(folder))) : [binDir],
  }
}

/** This node, as far as ipkeeperctl can see it with or without its daemon. */
export async function lookAtNode(options: LookOptions): Promise<NodeView> {
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
