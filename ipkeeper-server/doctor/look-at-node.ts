import { existsSync } from 'node:fs'
import type { Flight } from '../../shared/api/flight.schema.ts'
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { version } from '../../shared/build-info.ts'
import { defaultPaths } from '../../shared/paths.ts'
import type { NodeView } from './node-view.ts'
import { readNetworks, type NetworkFile } from './read-networks.ts'

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
}

/** This node, as far as ipkeeperctl can see it with or without its daemon. */
export function lookAtNode(options: LookOptions): NodeView {
  const { socket, stateDir, confDir = defaultPaths.confDir, binDir, ask } = options
  let status: Promise<StatusReply | undefined> | undefined
  let networks: readonly NetworkFile[] | undefined
  let flights: readonly Flight[] | undefined
  return {
    socket,
    stateDir,
    confDir,
    binDirs: binDir === undefined ? usualBinDirs.filter(folder => existsSync(folder)) : [binDir],
    version,
    ask,
    status: () => {
      status ??= ask('/v1/status').then(
        reply => reply as StatusReply,
        () => undefined,
      )
      return status
    },
    networks: () => {
      networks ??= readFolder(confDir)
      return networks
    },
    flights: () => {
      flights ??= options.readFlights(stateDir)
      return flights
    },
    now: Date.now,
  }
}

/** What is wrong with the folder is told by the check of it. */
function readFolder(folder: string): readonly NetworkFile[] {
  try {
    return readNetworks(folder)
  } catch {
    return []
  }
}
