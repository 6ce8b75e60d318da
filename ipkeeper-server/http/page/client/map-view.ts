import type { MapAddress, MapCounts, MapState, PoolMapReply } from '../../../../shared/api/map.schema.ts'
import { formatAddress } from '../../../../shared/net/address.ts'
import { firstOf, lastOf, parseCidr } from '../../../../shared/net/cidr.ts'
import { countText, shareOf, sumOf } from './count-text.ts'
import { holderText, reservationText } from './holder-text.ts'
import { formatRoute, type Route } from './route.ts'
import { mapStates, stateSigns } from './states.ts'
import { timeText } from './time-text.ts'

/** One place of the grid: an address, or a block that can be opened. */
export interface MapCell {
  /** The address or the CIDR: the same place has the same key. */
  readonly key: string
  /** What tells it from its neighbours, such as "50" or "3". */
  readonly label: string
  /** Letter of the state, or how many addresses of the block are taken. */
  readonly sign: string
  /** Of an address; "block" for a block. */
  readonly state: MapState | 'block'
  /** How much of a block is taken, in steps from 0 (nothing) to 4 (all but a few). */
  readonly level: number
  /** The same for those who hear the page. */
  readonly says: string
  readonly route: Route
}

export interface LegendItem {
  readonly state: MapState
  readonly letter: string
  readonly word: string
  readonly says: string
  readonly count: string
}

/** A row of the table that tells the same as the grid. */
export interface MapRow {
  readonly key: string
  readonly route: Route
  readonly cells: readonly string[]
}

export interface MapView {
  readonly heading: string
  readonly within: string
  /** Links to the ranges of the pool, and to the block that is shown if it is none of them. */
  readonly path: readonly { readonly text: string; readonly href: string; readonly current: boolean }[]
  readonly legend: readonly LegendItem[]
  /** null where a grid would be mostly empty: then there is only the table. */
  readonly grid: readonly MapCell[] | null
  readonly table: {
    readonly caption: string
    readonly header: readonly string[]
    readonly rows: readonly MapRow[]
    readonly empty: string
  }
}

const takenStates = ['bound', 'held', 'cooling', 'aside', 'reserved'] as const

const takenOf = (counts: MapCounts): bigint => sumOf(takenStates.map(state => counts[state]))

function countsText(counts: MapCounts): string {
  return mapStates
    .filter(state => BigInt(counts[state]) > 0n)
    .map(state => `${countText(counts[state])} ${stateSigns[state].word}`)
    .join(', ')
}

function levelOf(counts: MapCounts): number {
  const taken = takenOf(counts)
  return Math.ceil(shareOf(taken, taken + BigInt(counts.free)) / 25)
}

/** The last part of an address that differs within a block of 256. */
function lastPart(address: string): string {
  return address.includes(':')
    ? address.slice(address.lastIndexOf(':') + 1).slice(-2) || '0'
    : address.slice(address.lastIndexOf('.') + 1)
}

/** The part of a block's address that differs among its neighbours: "3" of 10.22.3.0/24. */
function blockPart(cidr: string): string {
  const [address = ''] = cidr.split('/')
  if (!address.includes(':')) return address.split('.').slice(2, 3).join('')
  const block = parseCidr(cidr)
  return block ? ((block.address.value >> 8n) & 0xffn).toString(16) : address
}

function addressSays({ address, state, why, lease, reservation }: MapAddress): string {
  const { word } = stateSigns[state]
  return [
    `${address}: ${word}`,
    ...(state === 'unusable' && why !== null ? [why] : []),
    ...(lease
      ? [`${state === 'bound' ? 'to' : 'last of'} ${holderText(lease)}`, `since ${timeText(lease.since)}`]
      : []),
    ...(lease?.until ? [`until ${timeText(lease.until)}`] : []),
    ...(reservation ? [`reserved for ${reservationText(reservation)}`] : []),
  ].join(', ')
}

function addressCells({ pool, within, addresses }: PoolMapReply): MapCell[] {
  const block = parseCidr(within)
  if (!block) return []
  const known = new Map(addresses.map(item => [item.address, item]))
  const cells: MapCell[] = []
  const { family } = block.address
  for (let { value } = firstOf(block); value <= lastOf(block).value; value++) {
    const address = formatAddress({ family, value })
    const free: MapAddress = { address, state: 'free', why: null, lease: null, reservation: null }
    const item = known.get(address) ?? free
    cells.push({
      key: address,
      label: lastPart(address),
      sign: stateSigns[item.state].letter,
      state: item.state,
      level: 0,
      says: addressSays(item),
      route: { pool, within, address },
    })
  }
  return cells
}

function blockCells({ pool, blocks }: PoolMapReply): MapCell[] {
  return blocks.map(({ cidr, counts }) => {
    const taken = takenOf(counts)
    return {
      key: cidr,
      label: blockPart(cidr),
      sign: taken === 0n ? stateSigns.free.letter : countText(taken.toString()),
      state: 'block',
      level: levelOf(counts),
      says: `${cidr}: ${countsText(counts)}`,
      route: { pool, within: cidr },
    }
  })
}

function tableOf(map: PoolMapReply): MapView['table'] {
  const { pool, within } = map
  if (map.detail === 'addresses') {
    return {
      caption: `Addresses of ${within} that are not free`,
      header: ['Address', 'State', 'Who', 'Since', 'Until'],
      empty: 'All addresses of this block are free.',
      rows: map.addresses.map(({ address, state, why, lease, reservation }) => ({
        key: address,
        route: { pool, within, address },
        cells: [
          address,
          state === 'unusable' && why !== null ? `${stateSigns[state].word}: ${why}` : stateSigns[state].word,
          lease ? holderText(lease) : reservation ? reservationText(reservation) : '',
          lease ? timeText(lease.since) : reservation ? timeText(reservation.since) : '',
          lease?.until ? timeText(lease.until) : '',
        ],
      })),
    }
  }
  const used = map.whole ? map.blocks.filter(({ counts }) => takenOf(counts) > 0n) : map.blocks
  return {
    caption: `Blocks of ${within} in which something is`,
    header: ['Block', ...takenStates.map(state => stateSigns[state].word), 'free'],
    empty: 'Nobody has, keeps or reserves an address here.',
    rows: used.map(({ cidr, counts }) => ({
      key: cidr,
      route: { pool, within: cidr },
      cells: [cidr, ...takenStates.map(state => countText(counts[state])), countText(counts.free)],
    })),
  }
}

export function mapView(map: PoolMapReply): MapView {
  const { pool, within, ranges } = map
  const views = [...new Set(ranges.map(({ view }) => view))]
  const path = views.includes(within) ? views : [...views, within]
  return {
    heading: `Map of pool ${pool}`,
    within,
    path: path.map(text => ({ text, href: formatRoute({ pool, within: text }), current: text === within })),
    legend: mapStates.map(state => ({ state, ...stateSigns[state], count: countText(map.counts[state]) })),
    grid: map.detail === 'addresses' ? addressCells(map) : map.whole ? blockCells(map) : null,
    table: tableOf(map),
  }
}
