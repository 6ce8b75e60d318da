import { realpathSync } from 'node:fs'
import { pluginSettings } from '../../../../shared/cni/netconf.ts'
import { fail, noDaemon, ok, skip, type Check } from '../check.ts'
import { oursIn } from '../our-plugin.ts'

/** As it is on disk; one that is not there stays as it is written. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

export const stateFolderCheck: Check = {
  id: 'state-folder',
  title: 'plugin and daemon use one state folder and one socket',
  why: 'What the plugin leaves for the daemon in its state folder, such as DELs that wait, would be carried out by nobody.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const ours = node.networks.flatMap(file => {
      const found = oursIn(file)
      return found ? [{ path: file.path, settings: pluginSettings(found.plugin, {}) }] : []
    })
    if (ours.length === 0) return skip(`no configuration in ${node.confDir} uses ipkeeper`)
    for (const { path, settings } of ours) {
      const lint = ['ipkeeperctl', 'lint', path]
      if (real(settings.stateDir) !== real(status.stateDir))
        return fail(
          `${path} has the state folder ${settings.stateDir}, and the daemon ${status.stateDir}`,
          ...lint,
        )
      if (real(settings.socket) !== real(status.socket))
        return fail(`${path} has the socket ${settings.socket}, and the daemon ${status.socket}`, ...lint)
    }
    return ok(status.stateDir)
  },
}
