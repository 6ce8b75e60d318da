import { canonicalPool, type Pool, type RangeDefinition } from '../../ipkeeper-server/ipam/pools/pool.ts'
import type { PoolPolicy, PoolSettings } from '../../ipkeeper-server/ipam/pools/pool-settings.ts'
import { parseAddress } from '../../shared/net/address.ts'
import { parseCidr } from '../../shared/net/cidr.ts'

/** The pool of all pods, as conflists and the configurations of machines have it. */

const subnet = parseCidr('10.22.0.0/28')
if (!subnet) throw new Error('no subnet')

function addressOf(number: number): NonNullable<ReturnType<typeof parseAddress>> {
  const address = parseAddress(`10.22.0.${number}`)
  if (!address) throw new Error(`no address ${number}`)
  return address
}

const range = (more: Omit<RangeDefinition, 'subnet'>): RangeDefinition => ({ subnet, ...more })

// As few that what rests, or is kept, is in the way of others.
const rangeEnd = addressOf(7)

/** What a configuration may say. `no`: that an address is given to nobody. `noNew`: that it is given to nobody who did not have it. */
interface Form {
  readonly pool: Pool
  readonly no: readonly string[]
  readonly noNew: readonly string[]
}

const form = (ranges: RangeDefinition[], not: Partial<Omit<Form, 'pool'>> = {}): Form => ({
  ...{ no: [], noNew: [], ...not },
  pool: canonicalPool('net', 'default', [ranges]),
})

export const poolForms = {
  whole: form([range({ rangeEnd })]),
  drained: form(
    [
      range({ rangeEnd: addressOf(3) }),
      range({ rangeStart: addressOf(4), rangeEnd: addressOf(5), draining: true }),
      range({ rangeStart: addressOf(6), rangeEnd }),
    ],
    { noNew: ['10.22.0.4', '10.22.0.5'] },
  ),
  less: form([range({ rangeEnd, exclude: [{ first: addressOf(3), last: addressOf(3) }] })], {
    no: ['10.22.0.3'],
  }),
} as const satisfies Readonly<Record<string, Form>>

export type PoolForm = keyof typeof poolForms

export const settingsOf = (as: PoolForm, policy: PoolPolicy): PoolSettings => ({
  ...{ pool: poolForms[as].pool, rules: {}, network: {} },
  policy,
})
