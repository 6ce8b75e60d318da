import t from 'tap'
import type { CniRequest } from '../../../../shared/api/cni.schema.ts'
import { noPools, readPlainly } from '../../http/app-parts.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { sampleNetconf, sampleFacts, sampleRequest } from './sample-request.ts'
import { reserve } from '../../../../ipkeeper-server/leases/verbs/reserve.ts'
import {
  checkAvailability,
  readStatus,
  type StatusRequest,
} from '../../../../ipkeeper-server/leases/verbs/status.ts'
import type { Pool } from '../../../../ipkeeper-server/ipam/pools/pool.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { sampleConfig } from '../../network/plan/sample-job.ts'
import { configured } from '../story.ts'
import { poolFrom, TestService } from '../test-service.ts'

/** What STATUS says: "well", or the problem. */
async function ask(
  story: TestService,
  pool: Pool | undefined,
  statusReportsExhaustion = false,
  more: Partial<StatusRequest> = {},
): Promise<unknown> {
  try {
    await checkAvailability(story.service, {
      inline: pool,
      pools: [],
      statusReportsExhaustion,
      main: undefined,
      ...more,
    })
    return 'well'
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { code, message, details, hint } = error
    return { code, message, details, hint }
  }
}

const tiny = poolFrom('tiny', ['10.9.0.0/30', '10.9.1.0/30'])
const pods = (story: TestService, count: number): Promise<string[]> =>
  Promise.all(
    Array.from({ length: count }, (_, nth) =>
      story.add({ container: `c${nth}`, pod: `p${nth}`, pool: tiny }),
    ),
  )

t.test('an empty node, and one with leases', async t => {
  const story = await TestService.open()
  t.equal(await ask(story, story.pool), 'well')
  t.equal(story.service.ledger.pool('net'), undefined, 'nothing is written')
  await story.add({ container: 'c1', pod: 'web-0' })
  t.equal(await ask(story, story.pool, true), 'well')
  t.equal(await ask(story, undefined), 'well', 'ranges that are not known yet')
})

t.test('ranges that another network has', async t => {
  const story = await TestService.open()
  await story.add({ container: 'c1', pod: 'web-0' })
  const other = poolFrom('other', ['10.22.0.0/16'])
  t.match(await ask(story, other), {
    code: 'IPK_NOT_AVAILABLE',
    message: /^the ranges of network other .* overlap those of network net .*, which has leases$/,
    details: 'an ADD would get IPK_POOL_OVERLAP',
    hint: /use disjoint ranges/,
  })
  story.now += 3_600_000
  await story.del('c1')
  t.equal(await ask(story, other), 'well', 'they make room when the last lease is gone')
})

t.test('a full pool is reported where the configuration asks for it, in the words of an ADD', async t => {
  const story = await TestService.open()
  await pods(story, 1)
  t.equal(await ask(story, tiny, true), 'well', 'one is left')
  await story.add({ container: 'last', pod: 'last', namespace: 'lab', pool: tiny })
  t.equal(await ask(story, tiny), 'well', 'nobody asked')
  const refused = await story.problem({ container: 'x', pod: 'x', pool: tiny })
  t.equal(refused.code, 'IPK_POOL_FULL')
  t.match(
    refused.details,
    /^pool tiny is full: 2 addresses, 2 in use, 0 kept or reserved; namespace .* holds most/,
  )
  t.strictSame(await ask(story, tiny, true), {
    code: 'IPK_NOT_AVAILABLE',
    message: refused.message,
    details: `${refused.details}; an ADD would get IPK_POOL_FULL`,
    hint: refused.hint,
  })
  await story.del('last', 'eth0', 'tiny')
  t.equal(await ask(story, tiny, true), 'well', 'a resting address is given when nothing else is')
  t.equal(await story.add({ container: 'next', pod: 'next', pool: tiny }), '10.9.1.2')
})

t.test('what dynamic choice does not give is not there', async t => {
  const one = poolFrom('one', ['10.9.0.0/30'])
  const reserved = await TestService.open()
  await reserve(reserved.service, { segment: 'default', address: '10.9.0.2', owner: 'shop/db-0', note: '' })
  t.match(await ask(reserved, one, true), { details: /1 addresses, 0 in use, 1 kept or reserved/ })
  const asked = await TestService.open()
  await asked.add({ container: 'c1', pod: 'web-0', ip: '10.9.0.2', pool: one })
  await asked.del('c1', 'eth0', 'one')
  t.match(
    await ask(asked, one, true),
    { message: /no IP addresses available/ },
    'left alone for who had asked for it',
  )
  const second = poolFrom('two', ['10.8.0.0/24'], ['10.9.0.0/30'])
  const dual = await TestService.open()
  t.equal(await ask(dual, second, true), 'well')
  await dual.add({ container: 'c1', pod: 'web-0', pool: second })
  t.match(
    await ask(dual, second, true),
    { message: /^failed to allocate for range 1: / },
    'every range set counts',
  )
})

t.test('pools that the configuration names', async t => {
  const story = await TestService.open()
  story.book = { ...story.book, pools: [configured('prod', [['10.30.0.0/30']])] }
  const names = (name: string) => ({ pools: [{ name, source: '"ipam.pool"' }] })
  t.match(await ask(story, undefined, false, names('lab')), {
    ...{ code: 'IPK_NOT_AVAILABLE', message: '"ipam.pool" names pool "lab", which does not exist' },
    details: 'an ADD would get IPK_POOL_UNKNOWN',
  })
  t.equal(await ask(story, undefined, true, names('prod')), 'well')
  t.equal(await story.add({ container: 'c1', pod: 'web-0', configured: ['prod'] }), '10.30.0.2')
  t.equal(await ask(story, undefined, false, names('prod')), 'well', 'full, and nobody asked')
  t.match(await ask(story, undefined, true, names('prod')), { details: /an ADD would get IPK_POOL_FULL$/ })
})

t.test('a daemon that refuses ADDs, and tools that are not there', async t => {
  const story = await TestService.open()
  const main = { main: sampleConfig }
  t.equal(await ask(story, story.pool, false, main), 'well')
  story.network.checkTools = () => {
    throw new Problem('IPK_TOOL_MISSING', 'no program ip')
  }
  t.match(await ask(story, story.pool, false, main), {
    ...{ message: 'no program ip', details: 'an ADD would get IPK_TOOL_MISSING' },
  })
  t.equal(await ask(story, story.pool), 'well', 'the IPAM role needs none')
  const refusal = new Problem('IPK_STORE_AWAY', 'not reached for too long', { details: 'for 1 h' })
  Object.assign(story.service, { refusal: () => refusal })
  t.match(await ask(story, story.pool), {
    ...{ code: 'IPK_NOT_AVAILABLE', message: 'not reached for too long' },
    details: 'for 1 h; an ADD would get IPK_STORE_AWAY',
  })
  const fault = new Error('a fault of the daemon')
  Object.assign(story.service, {
    refusal: () => {
      throw fault
    },
  })
  await t.rejects(ask(story, story.pool), fault, 'which is no reason of the node')
})

t.test('the store', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  store.fails = () => true
  t.equal(await ask(story, story.pool), 'well', 'not known yet')
  t.equal(await story.add({ container: 'c1', pod: 'web-0' }), 'IPK_STORE_FAILED')
  const expected = {
    code: 'IPK_NOT_AVAILABLE',
    message: 'disk full',
    details: 'an ADD would get IPK_STORE_FAILED',
    hint: /check disk space/,
  }
  t.match(await ask(story, story.pool), expected)
  t.match(await ask(story, undefined), expected, 'also with ranges that are not known yet')
  store.fails = () => false
  t.match(await ask(story, story.pool), expected, 'asked a moment ago')
  story.now += 5_000
  t.equal(await ask(story, story.pool), 'well')
  t.equal(await story.add({ container: 'c1', pod: 'web-0' }), '10.22.0.2')
})

t.test('the cost does not grow with the leases', async t => {
  const story = await TestService.open()
  await pods(story, 2)
  const { ledger } = story.service
  ledger.leases =
    ledger.leasesWithin =
    ledger.reservationsWithin =
      () => {
        throw new Error('all leases were looked at')
      }
  t.equal(await ask(story, tiny), 'well', 'full, and not asked to say so')
  t.equal(await ask(story, poolFrom('free', ['10.8.0.0/24']), true), 'well', 'asked, and not full')
})

const add = (patch: Partial<CniRequest> = {}) => readPlainly(sampleRequest(patch), sampleFacts)

t.test('STATUS: a configuration is read as for an ADD', async t => {
  const status = (patch: object, readResolvConf = sampleFacts.readResolvConf) =>
    readStatus(
      { containerId: '', netns: '', ifname: '', args: '', path: '', config: { ...sampleNetconf, ...patch } },
      { ...sampleFacts, readResolvConf },
      noPools,
    )
  const ipam = (more: object) => ({ ipam: { ...sampleNetconf.ipam, ...more } })
  t.strictSame((await status({})).inline, add().inline)
  t.equal((await status({})).statusReportsExhaustion, false)
  t.equal((await status(ipam({ statusReportsExhaustion: true }))).statusReportsExhaustion, true)
  t.equal((await status(ipam({ statusReportsExhaustion: false }))).statusReportsExhaustion, false)
  for (const patch of [
    { name: '../x' },
    { cniVersion: '9.9.9' },
    { type: 'ipkeeper', mode: 'vlan' },
    { ipam: undefined },
    { ipam: {} },
    { ipam: { ranges: [] } },
    ipam({ subnet: '10.22.0.0/31' }),
    ipam({ pool: 'prod' }),
    ipam({ segment: 'A B' }),
    ipam({ routes: [{ dst: 'x' }] }),
    ipam({ statusReportsExhaustion: 'yes' }),
    ipam({ statusReportsExhaustion: 1 }),
  ]) {
    const asAdd = await thrownProblem(() => add({ config: { ...sampleNetconf, ...patch } }))
    const asStatus = await thrownProblem(() => status(patch))
    const text = JSON.stringify(patch)
    t.strictSame([asStatus.code, asStatus.message], [asAdd.code, asAdd.message], text)
    t.ok([1, 2, 6, 7].includes(asStatus.toDocument().cniCode), text)
  }
  const unreadable = (): never => {
    throw new Problem('IPK_CONFIG_INVALID', 'cannot read /x')
  }
  t.match(await thrownProblem(() => status(ipam({ resolvConf: '/x' }), unreadable)), {
    message: 'cannot read /x',
  })
})

t.test('STATUS: ranges that come by runtimeConfig are not there yet', async t => {
  const status = (ipam: object, capabilities: object) =>
    readStatus(sampleRequest({ config: { ...sampleNetconf, ipam, capabilities } }), sampleFacts, noPools)
  for (const ipam of [{}, { ranges: [] }])
    t.strictSame(await status(ipam, { ipRanges: true }), {
      main: undefined,
      inline: undefined,
      pools: [],
      statusReportsExhaustion: false,
    })
  t.strictSame(
    (await status(sampleNetconf.ipam, { ipRanges: true })).inline,
    add().inline,
    'its own are there',
  )
  for (const capabilities of [{}, { ipRanges: false }, { ips: true }])
    t.match(await thrownProblem(() => status({}, capabilities)), { message: 'no IP ranges specified' })
})
