import { existsSync } from 'node:fs'
import { fail, noDaemon, ok, type Check } from '../check.ts'

export const configCheck: Check = {
  id: 'config',
  title: "the daemon's file is in force",
  why: 'A change that the daemon refused does nothing: what was read before stays in force.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const { path, problem, loadedAt } = status.config
    if (problem)
      return fail(`not in force: ${String(problem['message'])}`, 'ipkeeper-server', 'check-config', path)
    if (!existsSync(path)) return ok(`there is no ${path}: everything is as by default`)
    return ok(`${path}, as it was at ${loadedAt}`)
  },
}
