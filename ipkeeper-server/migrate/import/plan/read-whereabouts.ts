import { isJsonObject } from '../../../../shared/json/fold.ts'
import { addressBits, formatAddress, parseAddress, type Address } from '../../../../shared/net/address.ts'
import {
  parsePodReference,
  bareAllocation,
  type Findings,
  type SourceAllocation,
  type Unreadable,
} from './findings.ts'
import { textIn } from '../../../../shared/json/object-fields.ts'
import type { ReadObject } from './read-object.ts'

/**
 * An IPPool has the allocations of one range by their distance from the address that the range is written with
 * (whereabouts: pkg/api/whereabouts.cni.cncf.io/v1alpha1, pkg/storage/kubernetes). Whether the range had a network name of its
 * own, the object does not tell.
 */
function readPool({ origin, spec }: ReadObject): Findings {
  const unreadable: Unreadable[] = []
  const range = textIn(spec, 'range')
  const first = parseAddress(range.split('/')[0] ?? '')
  if (!first)
    return { allocations: [], unreadable: [{ origin, address: null, why: `its range "${range}" is none` }] }
  const allocations = Object.entries(isJsonObject(spec['allocations']) ? spec['allocations'] : {}).flatMap(
    ([offset, value]): SourceAllocation[] => {
      const address = atOffset(first, offset)
      if (address === undefined || !isJsonObject(value)) {
        unreadable.push({ origin, address: null, why: `allocation ${JSON.stringify(offset)} cannot be read` })
        return []
      }
      const [containerId, reference] = [textIn(value, 'id'), textIn(value, 'podref')]
      const [ifname, claim] = [textIn(value, 'ifname'), textIn(value, 'ipamclaimref')]
      return [
        {
          ...bareAllocation(`${origin} [${offset}]`, address),
          containerId: containerId === '' ? null : containerId,
          ifname: ifname === '' ? null : ifname,
          pod: parsePodReference(reference),
          keeps: claim !== '',
        },
      ]
    },
  )
  return { allocations, unreadable }
}

function atOffset({ family, value }: Address, text: string): string | undefined {
  if (!/^[0-9]{1,39}$/.test(text)) return undefined
  const sum = value + BigInt(text)
  return sum < 1n << BigInt(addressBits[family]) ? formatAddress({ family, value: sum }) : undefined
}

/** One that guards an address over all ranges; its name is the address, with "-" for ":", after a network name where one is set. */
function readReservation({ origin, name, spec, createdAt }: ReadObject): Findings {
  const parts = name.split('-')
  const candidates = [name, ...parts.map((_, index) => parts.slice(index).join(':'))]
  const address = candidates.map(text => parseAddress(text)).find(found => found !== undefined)
  if (!address)
    return { allocations: [], unreadable: [{ origin, address: null, why: 'its name is no address' }] }
  const [containerId, ifname] = [textIn(spec, 'containerid'), textIn(spec, 'ifname')]
  return {
    allocations: [
      {
        ...bareAllocation(origin, formatAddress(address)),
        containerId: containerId === '' ? null : containerId,
        ifname: ifname === '' ? null : ifname,
        pod: parsePodReference(textIn(spec, 'podref')),
        since: createdAt,
      },
    ],
    unreadable: [],
  }
}

/** Allocations of IPPools; a reservation that no pool has is a lost write, and counts as one. */
export function readWhereabouts(objects: readonly ReadObject[]): Findings {
  const pools = objects.filter(({ kind }) => kind === 'IPPool').map(readPool)
  const reservations = objects
    .filter(({ kind }) => kind === 'OverlappingRangeIPReservation')
    .map(readReservation)
  const guards = new Map(
    reservations.flatMap(({ allocations }) => allocations).map(one => [one.address, one] as const),
  )
  const allocations = pools
    .flatMap(pool => pool.allocations)
    .map(one => {
      const guard = guards.get(one.address)
      return guard?.containerId === one.containerId ? { ...one, since: guard.since } : one
    })
  const known = new Set(allocations.map(({ address }) => address))
  return {
    allocations: [...allocations, ...[...guards.values()].filter(({ address }) => !known.has(address))],
    unreadable: [...pools, ...reservations].flatMap(({ unreadable }) => unreadable),
  }
}
