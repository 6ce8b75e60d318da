import { fail, noDaemon, ok, skip, warn, type Check } from '../check.ts'

export const engineCheck: Check = {
  id: 'engine',
  title: 'the engine that nodes share leases in can be reached',
  why: 'While it is away, pods that have their address on this node go on, and every new claim has to wait.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const { kind, location, state, reason, since, owed } = status.store
    if (state === undefined) return skip(`the store (${kind}) is this node's own`)
    const where = `${kind} ${location}`
    const behind = owed !== undefined && owed > 0 ? `; ${owed} records wait to be told to it` : ''
    if (state === 'away')
      return fail(
        `${where} is away since ${since ?? '?'} (${reason ?? 'why is not known'})${behind}`,
        ...['journalctl', '-u', 'ipkeeper', '-n', '50'],
      )
    if (reason !== undefined)
      return warn(
        `${where} takes changes, but what other nodes do is not heard since ${since ?? '?'} (${reason})`,
        ...['journalctl', '-u', 'ipkeeper', '-n', '50'],
      )
    return ok(`${where}${behind}`)
  },
}
