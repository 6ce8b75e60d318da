import type { FastifyInstance } from 'fastify'
import { Type, type Static } from 'typebox'
import {
  AddressReply,
  ForcedReleaseReply,
  HistoryCheck,
  HistoryEntriesReply,
  HistoryReply,
  ReleaseReply,
  ReleaseRequest,
} from '../../../shared/api/address.schema.ts'
import type { LeaseItem } from '../../../shared/api/listing.schema.ts'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { historyTerms, listingQuery } from '../../../shared/api/listing-query.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { LeaseKey } from '../../ipam/records/records.ts'
import { describeAddress } from '../../leases/queries/describe-address.ts'
import {
  listHistory,
  type HistoryListingQuery,
  type HistoryTerms,
} from '../../leases/queries/list-history.ts'
import { exportHistory } from '../../leases/queries/export-history.ts'
import { checkHistory } from '../../leases/queries/check-history.ts'
import { readLeaseKey } from '../../leases/verbs/reserve.ts'
import { forceRelease } from '../../leases/verbs/force-release.ts'
import { release } from '../../leases/verbs/release.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'

const Segment = Type.String({ minLength: 1, maxLength: 63 })
const AddressText = Type.String({ minLength: 1, maxLength: 64 })

const AddressPath = Type.Object({ segment: Segment, address: AddressText })

const HistoryQuerystring = listingQuery(historyTerms, {
  address: Type.Optional(AddressText),
  segment: Type.Optional(Segment),
  at: Type.Optional(Type.String({ format: 'date-time', description: 'only what lasted at this moment' })),
  since: Type.Optional(Type.String({ format: 'date-time', description: 'only what lasted then or later' })),
  until: Type.Optional(
    Type.String({ format: 'date-time', description: 'only what lasted then or had ended before' }),
  ),
  limit: Type.Optional(
    Type.String({
      pattern: '^([1-9][0-9]{0,2}|1000)$',
      description: 'at most so many tenures, the newest ones, up to 1000; 50 unless given',
    }),
  ),
  before: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,14}$',
      description:
        'only what was before the tenure of this ID, the oldest of the page before; with an address',
    }),
  ),
})

const EntriesQuerystring = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        pattern: '^(0|[1-9][0-9]{0,14})$',
        description: 'only entries with a greater ID than this; 0 unless given',
      }),
    ),
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]{0,2}|1000)$',
        description: 'at most so many entries, the oldest ones, up to 1000; 1000 unless given',
      }),
    ),
  },
  { additionalProperties: false },
)

interface OfAddress {
  Params: { segment: string; address: string }
}

const podWords = ({ pod, node, containerId }: LeaseItem) => ({ pod, node, containerId })

/** What names whose history is meant: all of it would be no answer to a question. */
const subjects = ['address', 'pod', 'owner', 'namespace'] as const

function readHistoryQuery(query: HistoryListingQuery): {
  readonly key: LeaseKey | null
  readonly terms: HistoryTerms
} {
  const {
    address,
    segment = 'default',
    limit = '50',
    before,
    sort,
    at,
    since = at,
    until = at,
    ...filters
  } = query
  const isBefore = address !== undefined || before === undefined
  if (!isBefore || !subjects.some(name => query[name] !== undefined))
    throw new Problem('IPK_REQUEST_INVALID', `no ${isBefore ? subjects.join(', ') : 'address'} is given`, {
      hint: 'name an address, or filter by pod, owner or namespace',
    })
  if (since !== undefined && until !== undefined && Date.parse(since) > Date.parse(until))
    throw new Problem('IPK_REQUEST_INVALID', `since ${since} is later than until ${until}`, {
      hint: 'swap since and until',
    })
  const moment = (text: string | undefined): number | undefined =>
    text === undefined ? text : Date.parse(text)
  return {
    key: address === undefined ? null : readLeaseKey(segment, address).key,
    terms: {
      ...{ limit: Number(limit), sort, filters, since: moment(since), until: moment(until) },
      ...(before !== undefined && { before: Number(before) }),
    },
  }
}

/** GET what is known of an address and who had it when; POST its release. */
export function addressRoutes(app: FastifyInstance, { service }: { readonly service: LeaseService }): void {
  app.get<{ Querystring: HistoryListingQuery }>(
    '/v1/history',
    { schema: { querystring: HistoryQuerystring, response: { 200: HistoryReply, 400: ErrorReply } } },
    async request => {
      const { key, terms } = readHistoryQuery(request.query)
      return await listHistory(service, key, terms)
    },
  )

  app.get('/v1/history/check', { schema: { response: { 200: HistoryCheck } } }, async () =>
    checkHistory(service),
  )

  app.get<{ Querystring: Static<typeof EntriesQuerystring> }>(
    '/v1/history/entries',
    {
      schema: {
        querystring: EntriesQuerystring,
        response: { 200: HistoryEntriesReply, 400: ErrorReply },
      },
    },
    async ({ query: { after = '0', limit = '1000' } }) => {
      const { entries } = await exportHistory(service, { after: Number(after), limit: Number(limit) })
      return { entries }
    },
  )

  app.get<OfAddress>(
    '/v1/addresses/:segment/:address',
    { schema: { params: AddressPath, response: { 200: AddressReply, 400: ErrorReply } } },
    async request => describeAddress(service, request.params.segment, request.params.address),
  )

  app.post<OfAddress & { Body: ReleaseRequest | undefined }>(
    '/v1/addresses/:segment/:address/release',
    {
      schema: {
        params: AddressPath,
        body: Type.Union([ReleaseRequest, Type.Null()]),
        response: {
          200: Type.Union([ReleaseReply, ForcedReleaseReply]),
          ...{ 400: ErrorReply, 404: ErrorReply, 409: ErrorReply },
        },
      },
    },
    async (request, http) => {
      const { segment, address } = request.params
      const { force, poweredOff = false, dryRun = false, of } = request.body ?? {}
      if (force) {
        // Who interrupts the command before it is written has said nothing.
        const left = new AbortController()
        http.raw.once('close', () => {
          left.abort()
        })
        const told = await forceRelease(service, segment, address, {
          poweredOff,
          dryRun,
          of,
          signal: left.signal,
        })
        const { way, warning } = told.plan
        if (told.reply)
          request.log.warn(
            { address, segment, way, poweredOff, warning, ...podWords(told.reply.released) },
            'released by force',
          )
        return told
      }
      const reply = await release(service, segment, address)
      const { pod, state, until } = reply.released
      request.log.info({ address: reply.released.address, segment, pod, state, until }, 'released')
      return reply
    },
  )
}
