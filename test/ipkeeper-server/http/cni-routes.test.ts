import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Ajv } from 'ajv'
import t, { type Test } from 'tap'
import { listenUnix } from '../../../ipkeeper-server/http/listen-unix.ts'
import { AddReply, DoneReply, ErrorReply } from '../../../shared/api/cni.schema.ts'
import {
  AttachmentsReply,
  LeasesReply,
  PoolsReply,
  ReservationsReply,
  StatusReply,
} from '../../../shared/api/listing.schema.ts'
import type { VerbObserver } from '../../../ipkeeper-server/leases/verbs/verb-observer.ts'
import { TestService } from '../leases/test-service.ts'
import { openLeaseApp } from '../../rigs/served-leases.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'
import { FragileStore } from '../store/fragile-store.ts'

const ajv = new Ajv({ strict: false, formats: { 'date-time': true } })
const isAddReply = ajv.compile(AddReply)
const isDoneReply = ajv.compile(DoneReply)
const isErrorReply = ajv.compile(ErrorReply)

/** An application whose store and state folder can fail, and who counts what it does. */
async function countedApp(t: Test) {
  const store = new FragileStore()
  /** What the one who counts was told. */
  const told: string[] = []
  const observer: VerbObserver = {
    ended: (verb, code, seconds) => told.push(`${verb} ${code}${seconds >= 0 && seconds < 60 ? '' : '?'}`),
    tookOver: from => told.push(`took over: ${from}`),
    lateDel: how => told.push(`late DEL: ${how}`),
    undone: reason => told.push(`undone: ${reason}`),
  }
  const stateFolder = { beats: true }
  const leaseApp = await openLeaseApp(t, {
    story: await TestService.open(store),
    node: { readResolvConf: () => ({ nameservers: ['10.0.0.53'] }) },
    parts: {
      stateFolderBeats: () => Promise.resolve(stateFolder.beats),
      observer,
      metrics: () => Promise.resolve({ contentType: 'text/plain; version=0.0.4', text: 'up 1\n' }),
    },
  })
  return { ...leaseApp, store, stateFolder, told }
}

const config = (rest: object = {}) => ({
  cniVersion: '1.0.0',
  name: 'net',
  type: 'bridge',
  ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]] },
  ...rest,
})
const body = (containerId: string, rest: object = {}, netconf: object = config()) => ({
  containerId,
  netns: '/run/netns/x',
  ifname: 'eth0',
  args: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0;K8S_POD_UID=u1',
  path: '/opt/cni/bin',
  config: netconf,
  ...rest,
})

t.test('every verb answers in its shape, and names container and pod in the log', async t => {
  const { app, log } = await countedApp(t)
  const post = async (verb: string, payload: object) =>
    await app.inject({ method: 'POST', url: `/v1/cni/${verb}`, payload })
  const add = await post('add', body('c1'))
  t.equal(add.statusCode, 200)
  t.ok(isAddReply(add.json()), add.body)
  t.strictSame(add.json().result, {
    cniVersion: '1.0.0',
    ips: [{ address: '10.22.0.2/24', gateway: '10.22.0.1' }],
  })
  t.match(log.at(-1), {
    verb: 'add',
    containerId: 'c1',
    ifname: 'eth0',
    network: 'net',
    pod: 'shop/web-0',
    msg: 'added',
  })
  for (const [verb, payload] of [
    [
      'check',
      body('c1', {}, config({ prevResult: { cniVersion: '1.0.0', ips: [{ address: '10.22.0.2/24' }] } })),
    ],
    ['status', body('', { ifname: '', netns: '', args: '' })],
    [
      'gc',
      body(
        '',
        { ifname: '' },
        config({ 'cni.dev/valid-attachments': [{ containerID: 'c1', ifname: 'eth0' }] }),
      ),
    ],
    ['del', body('c1')],
    ['del', body('c1')],
    ['del', body('never')],
  ] as const) {
    const reply = await post(verb, payload)
    t.equal(reply.statusCode, 200, `${verb}: ${reply.body}`)
    t.ok(isDoneReply(reply.json()))
  }
})

t.test('results in the shape of every version', async t => {
  const { app } = await countedApp(t)
  for (const [version, expected] of [
    [
      '',
      {
        cniVersion: '0.1.0',
        ip4: { ip: '10.22.0.2/24', gateway: '10.22.0.1', routes: [{ dst: '0.0.0.0/0' }] },
        dns: { nameservers: ['10.0.0.53'] },
      },
    ],
    [
      '0.2.0',
      {
        cniVersion: '0.2.0',
        ip4: { ip: '10.22.0.2/24', gateway: '10.22.0.1', routes: [{ dst: '0.0.0.0/0' }] },
        dns: { nameservers: ['10.0.0.53'] },
      },
    ],
    [
      '0.3.1',
      {
        cniVersion: '0.3.1',
        ips: [{ version: '4', address: '10.22.0.2/24', gateway: '10.22.0.1' }],
        routes: [{ dst: '0.0.0.0/0' }],
        dns: { nameservers: ['10.0.0.53'] },
      },
    ],
    [
      '1.0.0',
      {
        cniVersion: '1.0.0',
        ips: [{ address: '10.22.0.2/24', gateway: '10.22.0.1' }],
        routes: [{ dst: '0.0.0.0/0' }],
        dns: { nameservers: ['10.0.0.53'] },
      },
    ],
    [
      '1.1.0',
      {
        cniVersion: '1.1.0',
        ips: [{ address: '10.22.0.2/24', gateway: '10.22.0.1' }],
        routes: [{ dst: '0.0.0.0/0', priority: 10 }],
        dns: { nameservers: ['10.0.0.53'] },
      },
    ],
  ] as const) {
    const ipam = {
      ranges: [[{ subnet: '10.22.0.0/24', rangeEnd: '10.22.0.2' }]],
      routes: [{ dst: '0.0.0.0/0', priority: 10 }],
      resolvConf: '/etc/resolv.conf',
    }
    const netconf = { ...config({ ipam }), cniVersion: version }
    const reply = await app.inject({
      method: 'POST',
      url: '/v1/cni/add',
      payload: body(`v${version}`, {}, netconf),
    })
    t.strictSame(reply.json().result, expected, version)
    await app.inject({ method: 'POST', url: '/v1/cni/del', payload: body(`v${version}`, {}, netconf) })
  }
})

t.test('errors have code, message, hint; never {} and never nothing', async t => {
  const { app, story } = await countedApp(t)
  const annotated = (annotations: object) =>
    config({ runtimeConfig: { 'io.kubernetes.cri.pod-annotations': annotations } })
  for (const [method, url, payload, status, code] of [
    ['GET', '/v1/nothing', undefined, 404, 'IPK_ROUTE_UNKNOWN'],
    ['GET', '/v1/cni/add', undefined, 404, 'IPK_ROUTE_UNKNOWN'],
    ['POST', '/v1/cni/add', '{"bad', 400, 'IPK_REQUEST_INVALID'],
    ['POST', '/v1/cni/add', '', 400, 'IPK_REQUEST_INVALID'],
    ['POST', '/v1/cni/add', 'null', 400, 'IPK_REQUEST_INVALID'],
    ['POST', '/v1/cni/add', { containerId: 'c1' }, 400, 'IPK_REQUEST_INVALID'],
    ['POST', '/v1/cni/add', { ...body('c1'), surplus: 1 }, 400, 'IPK_REQUEST_INVALID'],
    ['POST', '/v1/cni/add', { ...body('c1'), startedAt: '1' }, 400, 'IPK_REQUEST_INVALID'],
    ['POST', '/v1/cni/add', body('../c1'), 400, 'IPK_ENVIRONMENT'],
    ['POST', '/v1/cni/add', body('c1', { ifname: 'a/b' }), 400, 'IPK_ENVIRONMENT'],
    ['POST', '/v1/cni/add', body('c1', {}, config({ name: '../x' })), 400, 'IPK_NETWORK_NAME'],
    ['POST', '/v1/cni/add', body('c1', {}, config({ cniVersion: '9.9.9' })), 400, 'IPK_VERSION_INCOMPATIBLE'],
    [
      'POST',
      '/v1/cni/add',
      body('c1', {}, config({ type: 'ipkeeper', mode: 'x' })),
      400,
      'IPK_CONFIG_INVALID',
    ],
    [
      'POST',
      '/v1/cni/add',
      body('c1', {}, annotated({ 'ipkeeper.io/ip': '10.99.0.1' })),
      400,
      'IPK_ADDRESS_OUTSIDE',
    ],
    [
      'POST',
      '/v1/cni/add',
      body('c1', {}, annotated({ 'ipkeeper.io/ipp': '10.99.0.1' })),
      400,
      'IPK_ANNOTATION_INVALID',
    ],
    ['POST', '/v1/cni/check', body('c1'), 404, 'IPK_LEASE_MISSING'],
    ['GET', '/v1/leases?limit=x', undefined, 400, 'IPK_REQUEST_INVALID'],
    ['GET', '/v1/leases?owner=a/b/c/d', undefined, 400, 'IPK_REQUEST_INVALID'],
    ['GET', '/v1/history', undefined, 400, 'IPK_REQUEST_INVALID'],
    ['GET', '/v1/history?pod=shop/a&before=5', undefined, 400, 'IPK_REQUEST_INVALID'],
    ['GET', '/v1/history?address=10.22.0.9&at=noon', undefined, 400, 'IPK_REQUEST_INVALID'],
    [
      'GET',
      '/v1/history?address=10.22.0.9&since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z',
      undefined,
      400,
      'IPK_REQUEST_INVALID',
    ],
    ['POST', '/v1/reservations', { address: 'x', owner: 'shop/web-0' }, 400, 'IPK_ADDRESS_INVALID'],
    [
      'POST',
      '/v1/reservations',
      { address: '10.22.0.9', owner: 'shop/service/web' },
      400,
      'IPK_REQUEST_INVALID',
    ],
    ['DELETE', '/v1/reservations/default/10.22.0.9', undefined, 404, 'IPK_RESERVATION_MISSING'],
  ] as const) {
    const reply = await app.inject({
      method,
      url,
      ...(payload !== undefined && { payload }),
      ...(method === 'POST' && { headers: { 'content-type': 'application/json' } }),
    })
    t.equal(
      reply.statusCode,
      status,
      `${method} ${url} ${JSON.stringify(payload ?? null).slice(0, 60)}: ${reply.body}`,
    )
    t.equal(reply.json().code, code)
    t.ok(isErrorReply(reply.json()) && reply.json().hint !== '', 'has the shape of an error, with a hint')
  }
  t.strictSame(
    story.service.ledger.counts(),
    { lease: 0, holder: 0, attachment: 0, reservation: 0, pool: 0, quota: 0, mac: 0, node: 0 },
    'nothing was changed',
  )
})

t.test('a store that fails is an error 11, and the next ADD works', async t => {
  const { app, store, story } = await countedApp(t)
  store.fails = () => true
  const refused = await app.inject({ method: 'POST', url: '/v1/cni/add', payload: body('c1') })
  t.match(refused.json(), { code: 'IPK_STORE_FAILED', cniCode: 11, retryable: true })
  t.strictSame(story.leases(), [], 'nothing is left of it')
  store.fails = () => false
  t.equal((await app.inject({ method: 'POST', url: '/v1/cni/add', payload: body('c1') })).statusCode, 200)
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'])
})

t.test('STATUS: 50 for what can pass, its own code for a configuration that is none', async t => {
  const { app, store, story } = await countedApp(t)
  const ranges = (subnet: string, more: object = {}) =>
    config({ ipam: { type: 'ipkeeper', ranges: [[{ subnet }]], ...more } })
  const ask = async (verb: string, netconf: object, containerId = '') => {
    const payload = body(containerId, verb === 'status' ? { ifname: '', netns: '', args: '' } : {}, netconf)
    const reply = await app.inject({ method: 'POST', url: `/v1/cni/${verb}`, payload })
    return { status: reply.statusCode, ...reply.json<Record<string, unknown>>() }
  }
  const full = ranges('10.23.0.0/30', { statusReportsExhaustion: true })
  t.match(await ask('status', full), { status: 200, requestId: /^[0-9a-f]{12}$/, stateDir: '/state' })
  t.strictSame(story.service.ledger.counts().pool, 0, 'STATUS writes nothing')
  t.match(await ask('add', { ...full, name: 'full' }, 'c1'), { status: 200 })
  for (const [name, netconf, expected] of [
    [
      'exhausted',
      { ...full, name: 'full' },
      { status: 503, cniCode: 50, details: /; an ADD would get IPK_POOL_FULL$/ },
    ],
    ['exhausted, and not asked', { ...ranges('10.23.0.0/30'), name: 'full' }, { status: 200 }],
    [
      'overlap',
      ranges('10.23.0.0/24'),
      { status: 503, cniCode: 50, message: /overlap those of network full/ },
    ],
    ['no ranges', config({ ipam: { ranges: [] } }), { status: 400, cniCode: 7, code: 'IPK_CONFIG_INVALID' }],
    ['main role', config({ type: 'ipkeeper' }), { status: 200 }],
    ['main role', config({ type: 'ipkeeper', promiscMode: true }), { status: 400, cniCode: 2 }],
    ['wrong type', ranges('10.24.0.0/24', { statusReportsExhaustion: 'yes' }), { status: 400, cniCode: 7 }],
  ] as const)
    t.match(await ask('status', netconf), expected, name)
  const fine = ranges('10.24.0.0/24')
  store.fails = () => true
  t.match(await ask('add', fine, 'c2'), { cniCode: 11 })
  const failing = { status: 503, code: 'IPK_NOT_AVAILABLE', cniCode: 50, message: 'disk full' }
  t.match(await ask('status', fine), failing)
  store.fails = () => false
  t.match(await ask('status', fine), failing, 'tried a moment ago')
  story.now += 5_000
  t.match(await ask('status', fine), { status: 200 })
})

t.test('who counts is told how each verb ended', async t => {
  const { app, store, story, told } = await countedApp(t)
  const post = async (verb: string, payload: object): Promise<void> => {
    await app.inject({ method: 'POST', url: `/v1/cni/${verb}`, payload })
  }
  const table: readonly [verb: string, payload: object, told: readonly string[]][] = [
    ['add', body('c1', { invocationId: 'i1' }), ['add OK']],
    ['add', body('c1', { invocationId: 'i1' }), ['add OK']],
    ['add', body('c1', { invocationId: 'i2' }), ['add IPK_ALREADY_ADDED']],
    ['add', body('c2', { invocationId: 'i3' }), ['took over: same_pod', 'add OK']],
    ['add', body('c2', { invocationId: 'i3' }), ['add OK']],
    ['del', body('c1'), ['late DEL: superseded', 'del OK']],
    ['del', body('c1'), ['late DEL: unknown', 'del OK']],
    ['del', body('c2'), ['del OK']],
    ['add', body('c3', { startedAt: 2_000, bootId: 'boot-1' }), ['add OK']],
    ['del', body('c3', { startedAt: 1_000, bootId: 'boot-1' }), ['late DEL: overtaken', 'del OK']],
    [
      'check',
      body('c9', {}, config({ prevResult: { cniVersion: '1.0.0', ips: [] } })),
      ['check IPK_LEASE_MISSING'],
    ],
    ['gc', body('', { ifname: '', netns: '', args: '' }), ['gc OK']],
    ['status', body('', { ifname: '', netns: '', args: '' }), ['status OK']],
    ['add', body('c4', {}, { name: 'net' }), ['add IPK_CONFIG_INVALID']],
  ]
  for (const [verb, payload, expected] of table) {
    told.length = 0
    await post(verb, payload)
    t.strictSame(told, expected, `${verb} ${JSON.stringify(payload).slice(0, 60)}`)
  }
  const inherited = body('c5', {
    args: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0;K8S_POD_UID=u2',
  })
  story.dead.add('c3')
  told.length = 0
  await post('add', inherited)
  t.strictSame(told, ['took over: other_pod', 'add OK'])
  store.fails = () => true
  told.length = 0
  await post('del', body('c5'))
  t.strictSame(told, ['del IPK_STORE_FAILED'])
})

t.test('the page of metrics is text', async t => {
  const { app } = await countedApp(t)
  const reply = await app.inject({ method: 'GET', url: '/metrics' })
  t.match(reply, {
    statusCode: 200,
    body: 'up 1\n',
    headers: { 'content-type': 'text/plain; version=0.0.4' },
  })
})

t.test('a client that goes away while its ADD is under way leaves no lease', async t => {
  const { app, store, story, told, log } = await countedApp(t)
  const folder = tempFolder(t)
  const path = folder.file('s')
  await listenUnix(app, path)
  let release: () => void = () => undefined
  store.delay = () => new Promise(resolve => (release = resolve))
  const payload = JSON.stringify(body('c1', { invocationId: 'i1' }))
  const socket = connect(path)
  socket.write(
    `POST /v1/cni/add HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${payload.length}\r\n\r\n${payload}`,
  )
  while (story.leases().length === 0) await delay(5)
  socket.destroy()
  // The daemon has to have seen the end of the connection before the commit ends.
  while (
    (await new Promise<number>((resolve, reject) => {
      app.server.getConnections((error, count) => {
        if (error) reject(error)
        else resolve(count)
      })
    })) > 0
  )
    await delay(5)
  store.delay = async () => Promise.resolve()
  release()
  while (story.service.serial.busy > 0) await delay(5)
  t.strictSame(story.leases(), [])
  t.match(log.map(line => String(line['msg'])).join('\n'), /the client disconnected/)
  t.strictSame(told, ['add IPK_INTERRUPTED', 'undone: client_gone'])
  const again = await app.inject({
    method: 'POST',
    url: '/v1/cni/add',
    payload: body('c1', { invocationId: 'i1' }),
  })
  t.equal(again.statusCode, 200, 'the ADD sent again runs afresh')
})

t.test('a pod that asks for nothing, with a fallback', async t => {
  const { app } = await countedApp(t)
  const netconf = config({
    ipam: {
      type: 'ipkeeper',
      ranges: [[{ subnet: '10.22.0.0/29', exclude: ['10.22.0.4'] }]],
      fallback: { type: 'dhcp' },
    },
  })
  const post = async (verb: string, containerId = 'c1', rest: object = {}) => {
    const reply = await app.inject({
      method: 'POST',
      url: `/v1/cni/${verb}`,
      payload: body(containerId, rest, netconf),
    })
    t.ok((verb === 'add' ? isAddReply : isDoneReply)(reply.json()), reply.body)
    return reply.json<{ delegate?: object; delegatedTo?: string | null }>()
  }
  const run = { invocationId: 'i1', startedAt: 10, bootId: 'boot-1' }
  t.strictSame((await post('add', 'c1', run)).delegate, { type: 'dhcp' })
  t.strictSame(
    (await post('add', 'c1', { ...run, given: ['192.0.2.7/24'] })).delegate,
    { type: 'dhcp' },
    'confirmed',
  )
  const attachments = (await app.inject({ method: 'GET', url: '/v1/attachments' })).json<object>()
  t.ok(ajv.validate(AttachmentsReply, attachments), ajv.errorsText())
  t.match(attachments, {
    attachments: [
      {
        network: 'net',
        containerId: 'c1',
        ifname: 'eth0',
        pod: { namespace: 'shop', name: 'web-0', uid: 'u1' },
        node: 'n1',
        netns: '/run/netns/x',
        addresses: ['192.0.2.7/24'],
        delegatedTo: 'dhcp',
      },
    ],
  })
  t.equal((await post('check')).delegatedTo, 'dhcp')
  t.equal((await post('del', 'c1', { startedAt: 11, bootId: 'boot-1' })).delegatedTo, 'dhcp')
  t.equal((await post('del')).delegatedTo, 'dhcp', 'a repeated DEL is told the same')
  t.equal((await post('del', 'never')).delegatedTo, undefined, 'nobody can say')
  await post('add', 'c2', { startedAt: 20, bootId: 'boot-1' })
  t.equal(
    (await post('del', 'c2', { startedAt: 10, bootId: 'boot-1' })).delegatedTo,
    null,
    'a DEL that came late',
  )
  t.equal((await post('check', 'c2')).delegatedTo, 'dhcp', 'touches nothing')
})

t.test('listings, reservations, status and OpenAPI', async t => {
  const { app } = await countedApp(t)
  const get = async (url: string) => (await app.inject({ method: 'GET', url })).json()
  const reserved = await app.inject({
    method: 'POST',
    url: '/v1/reservations',
    payload: { address: '10.22.0.2', owner: 'shop/db-0', note: 'licence' },
  })
  t.match(reserved.json(), { address: '10.22.0.2', owner: 'shop/db-0', segment: 'default' })
  await app.inject({ method: 'POST', url: '/v1/cni/add', payload: body('c1') })
  const leases = await get('/v1/leases')
  t.ok(ajv.validate(LeasesReply, leases), ajv.errorsText())
  t.match(leases.leases, [
    {
      address: '10.22.0.3',
      prefixLength: 24,
      pool: 'net',
      network: 'net',
      containerId: 'c1',
      ifname: 'eth0',
      pod: { namespace: 'shop', name: 'web-0', uid: 'u1' },
      node: 'n1',
      state: 'bound',
      until: null,
    },
  ])
  t.equal((await get('/v1/leases?limit=1')).leases.length, 1)
  const pools = await get('/v1/pools')
  t.ok(ajv.validate(PoolsReply, pools), ajv.errorsText())
  t.match(pools.pools, [
    { name: 'net', ranges: [['10.22.0.1-10.22.0.254']], capacity: 253, used: 1, held: 1, free: 251 },
  ])
  t.ok(ajv.validate(ReservationsReply, await get('/v1/reservations')), ajv.errorsText())
  t.ok(ajv.validate(StatusReply, await get('/v1/status')), ajv.errorsText())
  t.match(await get('/v1/health'), { status: 'ok' })
  const owner = body('c2', { args: 'K8S_POD_NAMESPACE=shop;K8S_POD_NAME=db-0' })
  const own = await app.inject({ method: 'POST', url: '/v1/cni/add', payload: owner })
  t.equal(
    own.json().result.ips[0].address,
    '10.22.0.2/24',
    'the owner gets what is reserved for it without asking',
  )
  const openapi = await get('/v1/openapi.json')
  t.match(Object.keys(openapi.paths as object).sort(), [
    '/v1/addresses/{segment}/{address}',
    '/v1/addresses/{segment}/{address}/release',
    '/v1/attachments',
    '/v1/bulk/move',
    '/v1/bulk/release',
    '/v1/bulk/reserve',
    '/v1/bulk/unreserve',
    '/v1/cni/add',
    '/v1/cni/check',
    '/v1/cni/del',
    '/v1/cni/gc',
    '/v1/cni/status',
    '/v1/config/check',
    '/v1/explain',
    '/v1/health',
    '/v1/history',
    '/v1/history/check',
    '/v1/history/entries',
    '/v1/import',
    '/v1/leases',
    '/v1/nodes',
    '/v1/nodes/{node}/forget',
    '/v1/pools',
    '/v1/pools/use',
    '/v1/pools/{pool}/description',
    '/v1/pools/{pool}/freeing',
    '/v1/pools/{pool}/map',
    '/v1/reservations',
  ])
  t.equal((await app.inject({ method: 'DELETE', url: '/v1/reservations/default/10.22.0.2' })).statusCode, 200)
})

t.test(
  'GC ends what the runtime no longer lists, of this network and node, and what was there before',
  async t => {
    const { app, story } = await countedApp(t)
    const dated = () => ({ startedAt: Math.floor(story.time.monotonic * 1000), bootId: 'boot-1' })
    const add = async (id: string, rest: object = dated()) => {
      await app.inject({ method: 'POST', url: '/v1/cni/add', payload: body(id, { args: '', ...rest }) })
      story.time.pass(1000)
    }
    const gc = async (list: object, rest: object = dated()) => {
      const payload = body('', { ifname: '', ...rest }, config(list))
      return (await app.inject({ method: 'POST', url: '/v1/cni/gc', payload })).statusCode
    }
    const bound = () => story.leases().filter(line => line.includes('bound'))
    await add('c1')
    await add('c2')
    const between = dated()
    await add('c3')
    t.equal(await gc({}), 200)
    t.equal(bound().length, 3, 'no list: nothing is touched')
    t.equal(await gc({ 'cni.dev/valid-attachments': [{ containerID: 'c2', ifname: 'eth0' }] }, between), 200)
    t.strictSame(story.leases(), ['10.22.0.2 cooling - -', '10.22.0.3 bound - c2', '10.22.0.4 bound - c3'])
    for (const [rest, why] of [
      [{}, 'undated'],
      [{ ...dated(), bootId: 'boot-0' }, 'dated by another boot'],
    ] as const) {
      t.equal(await gc({ 'cni.dev/attachments': null }, rest), 200)
      t.equal(bound().length, 2, why)
    }
    story.dead.add('c3')
    t.equal(await gc({ 'cni.dev/attachments': null }, {}), 200)
    t.strictSame(bound(), ['10.22.0.3 bound - c2'], 'undated, and it is proved dead')
    t.equal(await gc({ 'cni.dev/attachments': null }, { startedAt: dated().startedAt }), 200)
    t.strictSame(bound(), [], 'who is here to ask runs in this boot')
  },
)

t.test('each reply says whether the state folder takes writes', async t => {
  const { app, stateFolder } = await countedApp(t)
  for (const beats of [true, false]) {
    stateFolder.beats = beats
    for (const [verb, payload, status] of [
      ['add', body('c1'), 200],
      ['check', body('c9'), 404],
      ['del', body('c1'), 200],
      ['add', {}, 400],
    ] as const) {
      const { statusCode, headers } = await app.inject({ method: 'POST', url: `/v1/cni/${verb}`, payload })
      t.equal(headers['ipkeeper-state-folder'], beats ? 'takes-writes' : undefined, verb)
      t.equal(statusCode, status, verb)
    }
  }
})
