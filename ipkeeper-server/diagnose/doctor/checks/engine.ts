import { fail, noDaemon, ok, skip, warn, type Check } from '../check.ts'

export const engineCheck: Check = {
  id: 'engine',
  title: 'the engine that nodes share leases in can be reached, and has all of them',
  why: 'While it is away, or has lost records, pods that have their address on this node go on, and every new claim has to wait.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const { kind, location, state, reason, since, owed, waitsFor = [], lacks } = status.store
    if (state === undefined) return skip(`the store (${kind}) is this node's own`)
    const where = `${kind} ${location}`
    const behind = owed !== undefined && owed > 0 ? `; ${owed} records wait to be told to it` : ''
    if (state === 'away')
      return fail(
        `${where} is away since ${since ?? '?'} (${reason ?? 'why is not known'})${behind}`,
        ...['journalctl', '-u', 'ipkeeper', '-n', '50'],
      )
    if (state === 'incomplete') {
      const whom = waitsFor.length === 0 ? '' : `; it waits for ${waitsFor.join(', ')}`
      return fail(
        `${where} has lost records (${reason ?? 'why is not known'}), and nothing new is given since ${since ?? '?'}${whom}${behind}`,
        ...['ipkeeperctl', 'status'],
      )
    }
    if (reason !== undefined)
      return warn(
        `${where} takes changes, but what other nodes do is not heard since ${since ?? '?'} (${reason})`,
        ...['journalctl', '-u', 'ipkeeper', '-n', '50'],
      )
    if (lacks !== undefined) return warn(`${where}: ${lacks}`, 'ipkeeperctl', 'status')
    return ok(`${where}${behind}`)
  },
}
