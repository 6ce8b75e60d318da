import type { Call } from './call.ts'

/**
 * Why a daemon that names this state folder must not serve the call; undefined when it may. DELs that are queued while
 * it is away would lie where it does not look.
 */
export function stateFolderMismatch({ settings, edges }: Call, stateDir: string): string | undefined {
  if (stateDir === settings.stateDir || edges.isSameFolder(stateDir, settings.stateDir)) return undefined
  return (
    `state folders differ: the plugin uses ${settings.stateDir}, ` +
    `ipkeeper-server on ${settings.socket} uses ${stateDir}`
  )
}
