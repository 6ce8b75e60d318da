import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { FreeingReply, PoolMapReply } from '../../../shared/api/map.schema.ts'
import { PoolDescription } from '../../../shared/api/pool-description.schema.ts'
import { PoolUseReply } from '../../../shared/api/pool-use.schema.ts'
import { SearchQuery, SearchReply } from '../../../shared/api/search.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { describePool } from '../../leases/queries/describe-pool.ts'
import type { ClusterView } from '../../kubernetes/cluster-view.ts'
import { listFreeing, mapPool } from '../../leases/queries/pool-map.ts'
import { listPoolUse } from '../../leases/queries/pool-use.ts'
import { searchRecords } from '../../leases/queries/search-records.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'

const PoolPath = Type.Object({ pool: Type.String({ minLength: 1, maxLength: 253 }) })

const MapQuery = Type.Object(
  {
    within: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          'a block of a subnet of the pool, such as 10.22.3.0/24; that of its first range unless given',
      }),
    ),
    around: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'in place of `within`: an address, whose block of 256 is meant',
      }),
    ),
  },
  { additionalProperties: false },
)

const FreeingQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]?|100)$',
        description: 'at most so many addresses, up to 100; 20 unless given',
      }),
    ),
  },
  { additionalProperties: false },
)

const DescriptionQuery = Type.Object(
  {
    free: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]{0,2}|1000)$',
        description: 'so many free addresses of each family, up to 1000; none unless given',
      }),
    ),
  },
  { additionalProperties: false },
)

interface OfMap {
  Params: { pool: string }
  Querystring: { within?: string; around?: string }
}

interface OfFreeing {
  Params: { pool: string }
  Querystring: { limit?: string }
}

/** So many walks may wait: as many pages as may follow changes ask for four at a time. */
const mostWaiting = 64

/** One walk through all records after another: however many ask, the rest of the daemon waits for one of them. */
function takeTurns(): <T>(walk: () => Promise<T>) => Promise<T> {
  let walking: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return async walk => {
    // Whoever hung up has his turn all the same: without an end to the queue nobody else would get one.
    if (waiting >= mostWaiting)
      throw new Problem('IPK_BUSY', `${mostWaiting} others wait for a map of a pool already`)
    waiting++
    const turn = walking.then(walk).finally(() => waiting--)
    walking = turn.catch(() => undefined)
    return await turn
  }
}

/** GET what a pool is, as a map of its addresses, which of them come free next, how full pools were, and who is where. */
export function mapRoutes(
  app: FastifyInstance,
  { service, cluster }: { readonly service: LeaseService; readonly cluster: ClusterView | undefined },
): void {
  const inTurn = takeTurns()

  app.get<OfMap>(
    '/v1/pools/:pool/map',
    {
      schema: {
        params: PoolPath,
        querystring: MapQuery,
        response: { 200: PoolMapReply, 400: ErrorReply, 503: ErrorReply },
      },
    },
    async ({ params, query }) => inTurn(() => mapPool(service, params.pool, query, () => nextTurn())),
  )

  app.get<{ Params: { pool: string }; Querystring: { free?: string } }>(
    '/v1/pools/:pool/description',
    {
      schema: {
        params: PoolPath,
        querystring: DescriptionQuery,
        response: { 200: PoolDescription, 400: ErrorReply, 503: ErrorReply },
      },
    },
    async ({ params, query: { free = '0' } }) =>
      inTurn(() => describePool(service, params.pool, Number(free), () => nextTurn())),
  )

  app.get(
    '/v1/pools/use',
    { schema: { response: { 200: PoolUseReply, 503: ErrorReply } } },
    async (): Promise<PoolUseReply> => ({ use: await inTurn(() => listPoolUse(service, () => nextTurn())) }),
  )

  app.get<{ Querystring: SearchQuery }>(
    '/v1/search',
    {
      schema: { querystring: SearchQuery, response: { 200: SearchReply, 400: ErrorReply, 503: ErrorReply } },
    },
    async ({ query: { limit = '50', text, ...filters } }) =>
      inTurn(() =>
        searchRecords(service, { text, filters, limit: Number(limit), cluster }, () => nextTurn()),
      ),
  )

  app.get<OfFreeing>(
    '/v1/pools/:pool/freeing',
    {
      schema: {
        params: PoolPath,
        querystring: FreeingQuery,
        response: { 200: FreeingReply, 400: ErrorReply, 503: ErrorReply },
      },
    },
    async ({ params, query: { limit = '20' } }) =>
      inTurn(() => listFreeing(service, params.pool, Number(limit), () => nextTurn())),
  )
}
