import { Type, type Static, type TSchema } from 'typebox'

/** What listings can be asked for: which rows, in which order, how many. The routes and the command line share it. */

/** In the order of an address's life. */
export const leaseStates = ['bound', 'held', 'cooling'] as const

const states = leaseStates.join('|')

const filters = {
  namespace: Type.String({ minLength: 1, maxLength: 253, description: 'of the pod' }),
  pod: Type.String({ pattern: '^([^/]{1,253}/)?[^/]{1,253}$', description: 'NAME or NAMESPACE/NAME' }),
  node: Type.String({ minLength: 1, maxLength: 253, description: 'where it is, or was' }),
  owner: Type.String({
    ...{ minLength: 1, maxLength: 600, pattern: '^(external:.*|[^/]*(/[^/]*){0,2})$' },
    description:
      'the workload behind the pod: NAME, KIND/NAME, NAMESPACE/NAME or NAMESPACE/KIND/NAME; of reservations external:NAME as well',
  }),
  state: Type.String({
    pattern: `^(${states})(,(${states}))*$`,
    description: 'one or more, separated by commas',
  }),
  pool: Type.String({ minLength: 1, maxLength: 256, description: 'name of the pool' }),
  selector: Type.String({
    ...{ minLength: 1, maxLength: 1000 },
    description: 'labels of the pod, as kubectl takes them; of pods of this node alone',
  }),
  bridge: Type.String({ minLength: 1, maxLength: 64, description: 'name of the bridge' }),
  uplink: Type.String({ minLength: 1, maxLength: 64, description: 'the link of the host that is its port' }),
}

export type FilterName = keyof typeof filters
export type Filters = { readonly [Name in FilterName]?: string | undefined }

export interface ListingTerms {
  readonly filters: readonly FilterName[]
  /** What the rows can be sorted by; by the first unless something is said. */
  readonly sorts: readonly [string, ...(readonly string[])]
}

export const leaseTerms = {
  filters: ['namespace', 'pod', 'node', 'owner', 'selector', 'state', 'pool'],
  sorts: ['address', 'since', 'until', 'state', 'pod', 'node', 'pool'],
} as const satisfies ListingTerms

export const attachmentTerms = {
  filters: ['namespace', 'pod', 'node', 'selector'],
  sorts: ['since', 'pod', 'node', 'network'],
} as const satisfies ListingTerms

export const reservationTerms = {
  filters: ['namespace', 'pod', 'owner', 'pool'],
  sorts: ['address', 'since', 'owner'],
} as const satisfies ListingTerms

export const poolTerms = {
  filters: ['pool'],
  sorts: ['name', 'free', 'used'],
} as const satisfies ListingTerms

export const nodeTerms = {
  filters: ['node'],
  sorts: ['name', 'leases', 'contact', 'state'],
} as const satisfies ListingTerms

/** In pages: the sort is that of the page. */
export const historyTerms = {
  filters: ['namespace', 'pod', 'node', 'owner', 'state', 'pool'],
  sorts: ['newest', 'oldest', 'pod', 'node'],
} as const satisfies ListingTerms

export const uplinkTerms = {
  filters: ['bridge', 'uplink'],
  sorts: ['bridge', 'uplink', 'since', 'state'],
} as const satisfies ListingTerms

/** The keys of a query that choose rows. */
export function filterKeys(names: readonly FilterName[]): Readonly<Record<string, TSchema>> {
  return Object.fromEntries(names.map(name => [name, Type.Optional(filters[name])]))
}

/** The query of a route that lists; `own` is what it takes beside, or otherwise. */
export function listingQuery(
  { filters: names, sorts }: ListingTerms,
  own: Readonly<Record<string, TSchema>> = {},
): TSchema {
  return Type.Object(
    {
      ...filterKeys(names),
      sort: Type.Optional(Type.String({ pattern: `^(${sorts.join('|')})$`, description: sorts.join(', ') })),
      limit: Type.Optional(
        Type.String({
          pattern: '^[1-9][0-9]{0,8}$',
          description: 'at most so many; `more` tells of the others',
        }),
      ),
      ...own,
    },
    { additionalProperties: false },
  )
}

export interface ListingQuery<Sort extends string = string> extends Filters {
  readonly sort?: Sort | undefined
  readonly limit?: string | undefined
}

export const More = Type.Optional(
  Type.Integer({ description: 'how many there are beyond the limit; absent where these are all' }),
)
export type More = Static<typeof More>
