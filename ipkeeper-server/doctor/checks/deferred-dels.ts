import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { stateFolders } from '../../../shared/paths.ts'
import { codeOf, fail, ok, skip, warn, type Check } from '../check.ts'

/** Names that begin with a dot are being written. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter(name => !name.startsWith('.'))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

const patience = 60_000

export const deferredDelsCheck: Check = {
  id: 'deferred-dels',
  title: 'no DEL waits',
  why: 'The address of a DEL that waits, or that was put aside because it could not be understood, may still be bound.',
  run: async node => {
    const status = await node.status()
    const stateDir = status?.stateDir ?? node.stateDir
    const quarantine = join(stateDir, stateFolders.quarantine)
    const queue = join(stateDir, stateFolders.deferredDels)
    let aside: number
    let waiting: readonly string[]
    try {
      aside = namesIn(quarantine).filter(
        name => name.startsWith(`${stateFolders.deferredDels}-`) && !name.endsWith('.reason'),
      ).length
      waiting = namesIn(queue)
    } catch (error) {
      return skip(`${stateDir} cannot be read (${codeOf(error)})`)
    }
    if (aside > 0)
      return fail(
        `${aside} ${aside === 1 ? 'was' : 'were'} put aside in ${quarantine}`,
        'grep',
        '-r',
        '.',
        quarantine,
      )
    if (waiting.length === 0) return ok('none')
    const says = `${waiting.length} in ${queue}`
    if (!status) return warn(`${says}, until the daemon is back`, 'systemctl', 'restart', 'ipkeeper')
    const old = waiting.some(name => {
      const stats = statSync(join(queue, name), { throwIfNoEntry: false })
      return stats !== undefined && node.now() - stats.mtimeMs > patience
    })
    return old
      ? warn(`${says}, and the daemon does not get them done`, 'journalctl', '-u', 'ipkeeper')
      : ok(says)
  },
}
