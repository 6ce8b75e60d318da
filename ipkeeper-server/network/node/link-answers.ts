import { setTimeout as delay } from 'node:timers/promises'
import { parseMac } from '../../../shared/net/mac.ts'
import { ipJson } from '../ip-commands.ts'
import type { RunTool } from '../run-tool.ts'

/** Milliseconds: the kernel asks three times, a second apart. */
const answerWithin = 3_200
const lookEvery = 100

interface ShownRoute {
  readonly dev?: string
  readonly gateway?: string
  readonly type?: string
}

interface ShownNeighbour {
  readonly lladdr?: string
  readonly state?: readonly string[]
}

/** States in which the kernel has had an answer since it was asked. */
const answered = ['REACHABLE']

/**
 * Who answers for an address on the link where this node would reach it (ARP, NDP): the kernel is made to ask. undefined where
 * nobody does, or the address is behind a router, or where that cannot be found out.
 */
export async function whoAnswers(run: RunTool, address: string): Promise<string | undefined> {
  try {
    const [route] = (await ipJson(run, ['route', 'get', address])) as readonly ShownRoute[]
    const { dev, gateway, type = 'unicast' } = route ?? {}
    if (dev === undefined || dev === 'lo' || gateway !== undefined || type !== 'unicast') return undefined
    const args = [address, 'dev', dev]
    // An entry of earlier says nothing of now.
    await run({ tool: 'ip', args: ['neighbour', 'delete', ...args] })
    if ((await run({ tool: 'ip', args: ['neighbour', 'replace', ...args, 'use'] })).exit !== 0)
      return undefined
    const end = performance.now() + answerWithin
    while (performance.now() < end) {
      await delay(lookEvery)
      const family = address.includes(':') ? '-6' : '-4'
      const look = [family, 'neighbour', 'show', 'to', address, 'dev', dev]
      const [neighbour] = (await ipJson(run, look)) as readonly ShownNeighbour[]
      const { lladdr = '', state = [] } = neighbour ?? {}
      const mac = parseMac(lladdr)
      if (mac !== undefined && state.some(word => answered.includes(word))) return mac
      if (state.includes('FAILED')) return undefined
    }
    return undefined
  } catch {
    return undefined
  }
}
