import { defaultPaths } from '../../shared/paths.ts'
import { remedyHere, type Place } from '../../shared/remedy/place.ts'
import { findDocuments, findStartedAs, noteStartedAs } from '../host/started-as.ts'

/** Where a daemon runs, for what it advises. */
export interface DaemonPlace {
  /** Whether it is clustered is to be said as soon as it is known: until then nothing is changed of what is said with kubectl. */
  readonly here: Place & { clustered: boolean | undefined }
  /** A hint as it works here. */
  readonly remedy: (text: string) => string
  /** Tells an ipkeeperctl that finds no daemon. */
  readonly note: () => void
}

interface PathsOfDaemon {
  readonly socket: string
  readonly stateDir: string
}

const unlessUsual = (path: string, usual: string): string | undefined => (path === usual ? undefined : path)

export function daemonPlace({ socket, stateDir }: PathsOfDaemon): DaemonPlace {
  const startedAs = findStartedAs({ env: process.env, pids: [process.pid, process.ppid] })
  const documents = findDocuments(process.execPath)
  const here: DaemonPlace['here'] = {
    ...{ startedAs, documents, clustered: undefined },
    socket: unlessUsual(socket, defaultPaths.socket),
    stateDir: unlessUsual(stateDir, defaultPaths.stateDir),
  }
  return {
    here,
    remedy: text => remedyHere(text, here),
    note: () => {
      noteStartedAs(socket, startedAs)
    },
  }
}
