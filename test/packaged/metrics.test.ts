/** The page of metrics of the packaged daemon: each figure moves when it should, and names nobody. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startDaemon, type Daemon, type HttpReply } from '../rigs/daemon.ts'
import { readPage, valueOf, type PageSample } from '../rigs/metrics-page.ts'
import { freePort } from '../rigs/free-port.ts'
import { until } from '../rigs/poll.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')

const config = `
pools:
  - { name: prod, subnet: 10.30.0.0/29 }
  - { name: lab, segment: lab, subnet: "fd00:30::/64" }
`

interface Pod {
  readonly container: string
  readonly pod: string
  readonly uid?: string
  readonly annotations?: Readonly<Record<string, string>>
}

function makeSite(t: Test, extra = '') {
  const folder = tempFolder(t)
  const places = { socket: folder.file('s'), stateDir: folder.file('state'), config: folder.file('c.yaml') }
  writeFileSync(places.config, config + extra)
  const netconf = (annotations: object = {}): object => ({
    ...{ cniVersion: '1.0.0', name: 'fixed', type: 'bridge' },
    runtimeConfig: { 'io.kubernetes.cri.pod-annotations': annotations },
    ipam: { type: 'ipkeeper', socket: places.socket, stateDir: places.stateDir, pool: 'prod' },
  })
  const args = ({ pod, uid = `uid-${pod}` }: Pod): string =>
    `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod};K8S_POD_UID=${uid}`
  const start = async (): Promise<Daemon> => {
    const daemon = await startDaemon(places)
    t.teardown(() => daemon.stop('SIGKILL'))
    return daemon
  }
  const verb = (daemon: Daemon, name: 'add' | 'del', pod: Pod): Promise<HttpReply> =>
    daemon.ask('POST', `/v1/cni/${name}`, {
      ...{ containerId: pod.container, netns: '/run/netns/none', ifname: 'eth0', args: args(pod) },
      ...{ path: '/opt/cni/bin', config: netconf(pod.annotations) },
    })
  const plugin = (command: string, pod: Pod) =>
    runPlugin({
      ...{ plugin: testedPlugin, command, containerId: pod.container },
      ...{ netns: '/run/netns/none', ifname: 'eth0', args: args(pod), path: '/opt/cni/bin' },
      config: netconf(),
    })
  return { ...places, start, verb, plugin }
}

async function scrape(daemon: Daemon): Promise<readonly PageSample[]> {
  const { status, body } = await daemon.ask('GET', '/metrics')
  if (status !== 200) throw new Error(`${status}: ${body}`)
  return readPage(body)
}

t.test('figures move with what happens', { skip }, async t => {
  const site = makeSite(t)
  const daemon = await site.start()
  const ended = (verb: string, code: string) =>
    ['ipkeeper_cni_verb_duration_seconds_count', { verb, code }] as const
  const prod = { pool: 'prod', segment: 'default', set: '0', family: 'ipv4' }
  /** Scrapes and looks at these. */
  const shows = async (
    what: string,
    ...wanted: readonly (readonly [string, Readonly<Record<string, string>>, number | undefined])[]
  ): Promise<void> => {
    const page = await scrape(daemon)
    for (const [name, labels, value] of wanted)
      t.equal(valueOf(page, name, labels), value, `${what}: ${name} ${JSON.stringify(labels)}`)
  }
  const pool = (used: number, held: number, free: number, cooling: number) =>
    [
      ['ipkeeper_pool_capacity_addresses', prod, 5],
      ['ipkeeper_pool_used_addresses', prod, used],
      ['ipkeeper_pool_held_addresses', prod, held],
      ['ipkeeper_pool_free_addresses', prod, free],
      ['ipkeeper_pool_cooling_addresses', prod, cooling],
    ] as const
  const web = { container: 'c1', pod: 'web-0' }

  await shows(
    'at the start',
    [...ended('add', 'OK'), undefined],
    ...pool(0, 0, 5, 0),
    ['ipkeeper_pool_capacity_addresses', { pool: 'lab', segment: 'lab' }, 2 ** 64],
    ['ipkeeper_pool_exhaustion_seconds', prod, Infinity],
    ['ipkeeper_attachments', {}, 0],
    ['ipkeeper_config_valid', {}, 1],
    ['ipkeeper_kubernetes_watch_up', {}, undefined],
    ['ipkeeper_findings', { kind: 'ip-differs' }, 0],
    ['ipkeeper_repairs_total', { kind: 'dead-boot' }, 0],
  )

  t.equal((await site.verb(daemon, 'add', web)).status, 200)
  await shows(
    'an ADD',
    [...ended('add', 'OK'), 1],
    ...pool(1, 0, 4, 0),
    ['ipkeeper_leases', { state: 'bound' }, 1],
    ['ipkeeper_attachments', {}, 1],
    ['ipkeeper_takeovers_total', { from: 'same_pod' }, 0],
  )

  t.equal((await site.verb(daemon, 'add', { ...web, container: 'c2' })).status, 200)
  await shows(
    'the same pod in a new sandbox',
    ['ipkeeper_takeovers_total', { from: 'same_pod' }, 1],
    ['ipkeeper_takeovers_total', { from: 'other_pod' }, 0],
    ['ipkeeper_attachments', {}, 2],
    ...pool(1, 0, 4, 0),
  )

  t.equal((await site.verb(daemon, 'del', web)).status, 200)
  await shows(
    'the DEL of its old sandbox comes late',
    ['ipkeeper_late_dels_total', { how: 'superseded' }, 1],
    ['ipkeeper_late_dels_total', { how: 'unknown' }, 0],
    [...ended('del', 'OK'), 1],
    ...pool(1, 0, 4, 0),
  )

  t.equal((await site.verb(daemon, 'del', { ...web, container: 'c9' })).status, 200)
  await shows('nobody knows it', ['ipkeeper_late_dels_total', { how: 'unknown' }, 1])

  t.equal((await site.verb(daemon, 'del', { ...web, container: 'c2' })).status, 200)
  await shows(
    'a DEL in time',
    ['ipkeeper_late_dels_total', { how: 'superseded' }, 1],
    ['ipkeeper_late_dels_total', { how: 'unknown' }, 1],
    ...pool(0, 0, 5, 1),
    ['ipkeeper_leases', { state: 'cooling' }, 1],
  )

  const named = { container: 'c3', pod: 'db-0', annotations: { 'ipkeeper.io/ip': '10.30.0.6' } }
  t.equal((await site.verb(daemon, 'add', named)).status, 200)
  t.equal((await site.verb(daemon, 'add', { ...named, pod: 'db-1', container: 'c4' })).status, 409)
  await shows('somebody has it', [...ended('add', 'IPK_ADDRESS_HELD'), 1])
  const kept = { ...named, container: 'c3' }
  t.equal((await site.verb(daemon, 'del', kept)).status, 200)
  await shows('what was asked for by name is held while it rests', ...pool(0, 1, 4, 1))

  for (const index of [0, 1, 2, 3])
    t.equal((await site.verb(daemon, 'add', { container: `f${index}`, pod: `f-${index}` })).status, 200)
  t.equal((await site.verb(daemon, 'add', { container: 'f5', pod: 'f-5' })).status, 409)
  await shows(
    'the pool is full',
    ...pool(4, 1, 0, 0),
    ['ipkeeper_pool_exhaustion_seconds', prod, 0],
    [...ended('add', 'IPK_POOL_FULL'), 1],
  )

  await daemon.ask('POST', '/v1/reservations', { address: 'fd00:30::5', segment: 'lab', owner: 'shop/db-7' })
  await shows(
    'a reservation',
    ['ipkeeper_reservations', {}, 1],
    ['ipkeeper_pool_held_addresses', { pool: 'lab' }, 1],
  )

  const page = await scrape(daemon)
  const commits = valueOf(page, 'ipkeeper_store_commit_seconds_count') ?? 0
  t.ok(commits >= 10, `${commits} commits`)
  for (const name of [
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'process_start_time_seconds',
  ])
    t.ok((valueOf(page, name) ?? 0) > 0, name)
  writeFileSync(site.config, 'pools: [')
  await until('the fault is seen', async () => valueOf(await scrape(daemon), 'ipkeeper_config_valid') === 0)

  const { body } = await daemon.ask('GET', '/metrics')
  t.notMatch(
    body,
    /10\.30\.|fd00|web-0|db-|shop|uid-|f-[0-9]|\/run\/|"c[0-9]"/,
    'no address, pod or container',
  )
})

t.test('a DEL that was queued is counted when it is carried out', { skip }, async t => {
  const site = makeSite(t)
  const before = await site.start()
  const pod = { container: 'c1', pod: 'web-0' }
  t.equal((await site.plugin('ADD', pod)).exit, 0)
  t.equal(await before.stop(), 0)
  t.equal((await site.plugin('DEL', pod)).exit, 0)
  const daemon = await site.start()
  const page = await scrape(daemon)
  t.equal(valueOf(page, 'ipkeeper_deferred_dels_done_total'), 1)
  t.equal(valueOf(page, 'ipkeeper_deferred_dels', { state: 'waiting' }), 0)
  t.equal(valueOf(page, 'ipkeeper_attachments'), 0)
  writeFileSync(join(site.stateDir, 'deferred-dels', 'rubbish'), 'no JSON')
  await until(
    'it is put aside',
    async () => valueOf(await scrape(daemon), 'ipkeeper_deferred_dels', { state: 'quarantined' }) === 1,
  )
})

t.test('an ADD that nobody was told of is undone, and counted', { skip }, async t => {
  const site = makeSite(t)
  const before = await site.start()
  const body = {
    ...{ containerId: 'c1', netns: '/run/netns/none', ifname: 'eth0', path: '/opt/cni/bin' },
    ...{ args: 'K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0', invocationId: 'f00d', confirms: true },
    config: {
      ...{ cniVersion: '1.0.0', name: 'fixed', type: 'bridge' },
      ipam: { type: 'ipkeeper', pool: 'prod' },
    },
  }
  const added = await before.ask('POST', '/v1/cni/add', body)
  t.equal(added.status, 200, added.body)
  await before.stop('SIGKILL')
  const daemon = await site.start()
  await until(
    'it is undone',
    async () =>
      valueOf(await scrape(daemon), 'ipkeeper_adds_undone_total', { reason: 'never_answered' }) === 1,
  )
})

t.test('on TCP where the configuration says so, and nothing but the page', { skip }, async t => {
  const port = await freePort()
  const listen = `metrics: { listen: "127.0.0.1:${port}" }\n`
  const url = `http://127.0.0.1:${port}`
  const daemon = await makeSite(t, listen).start()
  const reply = await fetch(`${url}/metrics`)
  t.equal(reply.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  t.equal(valueOf(readPage(await reply.text()), 'ipkeeper_config_valid'), 1)
  t.equal((await fetch(`${url}/v1/leases`)).status, 404)
  t.equal(await daemon.stop(), 0, 'a connection that is kept open does not keep the daemon')
})
