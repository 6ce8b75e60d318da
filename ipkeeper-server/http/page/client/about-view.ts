import type { PoolDescription } from '../../../../shared/api/pool-description.schema.ts'
import { poolFacts } from '../../../../shared/text/pool-facts.ts'
import { formatRoute } from './route.ts'

/** `href` leads to the address that the line is. */
export interface AboutLine {
  readonly text: string
  readonly href?: string
}

export interface AboutFact {
  readonly name: string
  readonly lines: readonly AboutLine[]
}

export interface AboutView {
  readonly facts: readonly AboutFact[]
  /** Words of the command that lists more of the free addresses. */
  readonly more: readonly string[]
}

/** So many of the free addresses of each family are listed. */
export const freeListed = 10

const isOf = (family: 'IPv4' | 'IPv6', address: string): boolean =>
  address.includes(':') === (family === 'IPv6')

/** What a pool is, and which of its addresses are free. */
export function aboutView(description: PoolDescription): AboutView {
  const { name: pool, ranges, free } = description
  const families = (['IPv4', 'IPv6'] as const).filter(family =>
    ranges.some(({ first }) => isOf(family, first)),
  )
  return {
    facts: [
      ...poolFacts(description).map(({ name, lines }) => ({
        name: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
        lines: lines.map(text => ({ text })),
      })),
      ...families.map(family => {
        const lines = free
          .filter(address => isOf(family, address))
          .map(address => ({ text: address, href: formatRoute({ pool, address }) }))
        const none = [{ text: `no ${family} address is free` }]
        return { name: 'Next free', lines: lines.length > 0 ? lines : none }
      }),
    ],
    more: ['ipkeeperctl', 'pools', pool, '--free', '100'],
  }
}
