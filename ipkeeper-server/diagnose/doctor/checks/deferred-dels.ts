import { readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { stateFolders } from '../../../../shared/paths.ts'
import { isSpareFolder, isWaitingSpare } from '../../../../shared/spare-dels.ts'
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

/** Paths of DELs that wait: in the queue, and those that came on a full disk. */
function waitingIn(stateDir: string): readonly string[] {
  const queue = join(stateDir, stateFolders.deferredDels)
  const spares = join(stateDir, stateFolders.spareDels)
  return [
    ...namesIn(queue).map(name => join(queue, name)),
    ...namesIn(spares)
      .filter(isSpareFolder)
      .map(name => join(spares, name))
      .flatMap(folder =>
        namesIn(folder)
          .filter(isWaitingSpare)
          .map(name => join(folder, name)),
      ),
  ]
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
    let aside: number
    let waiting: readonly string[]
    try {
      aside = namesIn(quarantine).filter(
        name => name.startsWith(`${stateFolders.deferredDels}-`) && !name.endsWith('.reason'),
      ).length
      waiting = waitingIn(stateDir)
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
    const folders = [...new Set(waiting.map(path => relative(stateDir, path).split('/')[0]))]
    const says = `${waiting.length} in ${folders.map(name => join(stateDir, name ?? '')).join(' and ')}`
    if (!status) return warn(`${says}, until the daemon is back`, 'systemctl', 'restart', 'ipkeeper')
    const old = waiting.some(path => {
      const stats = statSync(path, { throwIfNoEntry: false })
      return stats !== undefined && Math.abs(node.now() - stats.mtimeMs) > patience
    })
    return old
      ? warn(`${says}, and the daemon does not get them done`, 'journalctl', '-u', 'ipkeeper')
      : ok(says)
  },
}
