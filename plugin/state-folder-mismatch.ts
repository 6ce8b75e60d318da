import type { Call } from './call.ts'

/** The state folder of a daemon, as its reply says. */
export interface DaemonFolder {
  readonly stateDir: string
  /** "DEV:INO", where the daemon tells. */
  readonly stateFolder?: string | undefined
}

/**
 * Why a daemon with this state folder must not serve the call; undefined when it may. DELs that are queued while it is
 * away would lie where it does not look, and so would the marks of answered ADDs.
 */
export function stateFolderMismatch(
  { settings, edges }: Call,
  { stateDir, stateFolder }: DaemonFolder,
): string | undefined {
  if (stateDir !== settings.stateDir && !edges.isSameFolder(stateDir, settings.stateDir))
    return (
      `state folders differ: the plugin uses ${settings.stateDir}, ` +
      `ipkeeper-server on ${settings.socket} uses ${stateDir}`
    )
  if (stateFolder !== undefined && edges.inodeOf(settings.stateDir) !== stateFolder)
    return (
      `state folders differ: ${settings.stateDir} is another folder for ` +
      `ipkeeper-server on ${settings.socket}; is it mounted into the daemon's container?`
    )
  return undefined
}
