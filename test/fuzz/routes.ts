/** The daemon's socket, sent anything: what it answers, and what its records are afterwards. */
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { pino } from 'pino'
import { buildApp } from '../../ipkeeper-server/http/build-app.ts'
import type { LeaseService } from '../../ipkeeper-server/leases/verbs/service.ts'
import { Ledger } from '../../ipkeeper-server/leases/ledger/ledger.ts'
import { listLeases, listPools } from '../../ipkeeper-server/leases/queries/listing.ts'
import { AddReply, DoneReply, ErrorReply } from '../../shared/api/cni.schema.ts'
import { catalogue, type ProblemCode } from '../../shared/problem/catalogue.ts'
import { assertSound } from '../ipkeeper-server/leases/ledger/sound-ledger.ts'
import { quietParts } from '../ipkeeper-server/http/app-parts.ts'
import { assertTrueHistory } from '../ipkeeper-server/leases/ledger/true-history.ts'
import { TestService } from '../ipkeeper-server/leases/test-service.ts'
import { MemoryStore } from '../../ipkeeper-server/store/memory/memory-store.ts'
import { args } from './arbitraries/environment.ts'
import { changed, damaged, print, written, type Written } from './arbitraries/json-text.ts'
import { netconf, netconfDocument } from './arbitraries/netconf.ts'
import { oddText } from './arbitraries/odd-text.ts'
import { property } from './property.ts'

const ajv = new Ajv({ strict: false })
const isAddReply = ajv.compile(AddReply)
const isDoneReply = ajv.compile(DoneReply)
const isErrorReply = ajv.compile(ErrorReply)

/** A request as the plugin makes it. */
const named = fc.record(
  {
    containerId: fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom('c1', 'c2', 'c3') },
      { weight: 1, arbitrary: oddText },
    ),
    netns: fc.constantFrom('/run/netns/a', '', '/proc/1/ns/net'),
    ifname: fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom('eth0', 'eth0', 'net1') },
      { weight: 1, arbitrary: oddText },
    ),
    args,
    path: fc.constant('/opt/cni/bin'),
    invocationId: fc.constantFrom('i1', 'i2', 'i3'),
    startedAt: fc.nat(5),
    bootId: fc.constantFrom('boot-1', 'boot-0'),
  },
  { requiredKeys: ['containerId', 'netns', 'ifname', 'args', 'path'] },
)
const body = fc
  .tuple(
    named,
    fc.oneof({ weight: 3, arbitrary: netconf.map(written) }, { weight: 1, arbitrary: netconfDocument }),
  )
  .map(([members, config]): Written => {
    const request = written(members)
    return request.kind === 'raw'
      ? request
      : { ...request, members: [...request.members, ['config', config]] }
  })
const bodyText = fc.oneof(
  { weight: 16, arbitrary: body.map(print) },
  { weight: 2, arbitrary: changed(body, 2).map(print) },
  { weight: 1, arbitrary: damaged(body.map(print)) },
)

const request = fc.record({
  verb: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom('add', 'add', 'add', 'add', 'del', 'check', 'gc', 'status') },
    { weight: 1, arbitrary: fc.constantFrom('ADD', 'version', 'add/', '__proto__', '%00', '..%2fadd') },
  ),
  text: bodyText,
  type: fc.oneof(
    { weight: 30, arbitrary: fc.constant('application/json') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'text/plain',
        'application/json; charset=x',
        '',
        'application/x-www-form-urlencoded',
      ),
    },
  ),
  /** Milliseconds until the next one. */
  wait: fc.constantFrom(0, 1000, 61_000, 700_000),
})

interface Site {
  readonly app: Awaited<ReturnType<typeof buildApp>>
  /** What the routes work with; replaced for each case. */
  readonly service: { -readonly [Key in keyof LeaseService]: LeaseService[Key] }
  readonly logged: string[]
}

let built: Promise<Site> | undefined

/** One application for all cases: to build it takes longer than a case. */
async function buildSite(): Promise<Site> {
  const service = { ...(await TestService.open()).service }
  const logged: string[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => logged.push(line) })
  const app = await buildApp(quietParts(service, { logger }))
  return { app, service, logged }
}

interface Reply {
  readonly statusCode: number
  readonly body: string
}

/** The code of the answer: 200, or that of the problem. */
function checkReply(verb: string, { statusCode, body: text }: Reply): string {
  if (text === '') throw new Error(`${statusCode} without a body`)
  const value: unknown = JSON.parse(text)
  if (statusCode === 200) {
    const isReply = verb === 'add' ? isAddReply : isDoneReply
    if (!isReply(value)) throw new Error(`the reply is none: ${ajv.errorsText(isReply.errors)}`)
    return '200'
  }
  if (!isErrorReply(value)) throw new Error(`the error is none: ${ajv.errorsText(isErrorReply.errors)}`)
  const { code } = value as { code: ProblemCode }
  if (code === 'IPK_INTERNAL') throw new Error(`a bug: ${text}`)
  if (catalogue[code].httpStatus !== statusCode) throw new Error(`${code} with status ${statusCode}`)
  return code
}

async function checkRecords(story: TestService, service: LeaseService): Promise<void> {
  const { ledger } = service
  assertSound(ledger, 'after the requests')
  await assertTrueHistory(ledger, story.now, 'after the requests')
  const fresh = await Ledger.open(story.store)
  const [memory, store] = await Promise.all(
    [ledger, fresh].map(async source => {
      const view = { ...service, ledger: source }
      const pools = await listPools(view, () => Promise.resolve())
      return JSON.stringify([listLeases(view), pools, source.counts()])
    }),
  )
  if (memory !== store) throw new Error('ledger and store differ')
  const bound = listLeases(service).filter(lease => lease.state === 'bound')
  const keys = bound.map(({ segment, address }) => `${segment} ${address}`)
  if (new Set(keys).size < keys.length) throw new Error('an address is given twice')
}

export const socketRequests = property({
  name: 'requests on the socket',
  runs: 1200,
  cases: fc.array(request, { minLength: 1, maxLength: 5 }),
  check: async requests => {
    const { app, service, logged } = await (built ??= buildSite())
    const story = await TestService.open(new MemoryStore())
    Object.assign(service, story.service)
    const codes: string[] = []
    for (const { verb, text, type, wait } of requests) {
      const headers = type === '' ? {} : { 'content-type': type }
      const reply = await app.inject({ method: 'POST', url: `/v1/cni/${verb}`, headers, payload: text })
      codes.push(checkReply(verb, reply))
      await checkRecords(story, service)
      story.now += wait
    }
    if (Object.keys(Object.prototype).length > 0) throw new Error('every object has a key more')
    for (const line of logged.splice(0)) JSON.parse(line)
    const bound = listLeases(service).filter(lease => lease.state === 'bound').length
    if (bound > 1) return 'several addresses given'
    if (bound === 1) return 'an address given'
    return codes.includes('200') ? 'something done' : 'all refused'
  },
  shares: { 'several addresses given': 4, 'an address given': 15, 'something done': 5, 'all refused': 10 },
})
