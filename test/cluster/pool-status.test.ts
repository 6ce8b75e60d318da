/** Daemons with --store kubernetes: one of them is elected, shows the figures of pools, and is asked about IPPools. */
import t from 'tap'
import { createPod, startClusterNode } from '../rigs/cluster-node.ts'
import { readPage, valueOf } from '../rigs/metrics-page.ts'
import { until } from '../rigs/poll.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'
import { missing } from '../rigs/requirements.ts'
import { makeServerCertificate } from '../rigs/server-certificate.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { registerWebhook, webhookSite } from '../rigs/webhook.ts'

const pools = '/apis/ipkeeper.io/v1alpha1/ippools'

const pool = (name: string, spec: object): Record<string, unknown> => ({
  apiVersion: 'ipkeeper.io/v1alpha1',
  kind: 'IPPool',
  metadata: { name },
  spec,
})

t.test('IPPools and who sees to them', { skip: missing('cluster', 'executables', 'openssl') }, async t => {
  const folder = tempFolder(t)
  const site = webhookSite(folder)
  const certificate = await makeServerCertificate(folder, 'webhook', `IP:${site.address}`)
  site.install(certificate)
  const api = await startPreparedCluster(t, { resources: true, nodes: ['worker-1', 'worker-2'] })
  const args = ['--store', 'kubernetes:']
  const options = { args, ipam: { ranges: [[{ subnet: '10.22.0.0/29' }]] } }
  const one = await startClusterNode(t, api, { ...options, config: { webhook: site.config } })
  const two = await startClusterNode(t, api, { ...options, name: 'worker-2' })
  const isElected = async (node: typeof one): Promise<boolean> =>
    valueOf(readPage((await node.daemon.ask('GET', '/metrics')).body), 'ipkeeper_elected') === 1

  await t.test('one of two daemons is elected', async t => {
    await until('one is elected', async () => (await isElected(one)) || (await isElected(two)))
    t.equal([await isElected(one), await isElected(two)].filter(Boolean).length, 1)
    t.equal(
      valueOf(readPage((await two.daemon.ask('GET', '/metrics')).body), 'ipkeeper_store_away'),
      0,
      'and the store is there',
    )
  })

  await t.test('the status of a pool follows its leases, whichever node they are on', async t => {
    const path = `${pools}/fixed`
    await one.add(await createPod(api, 'a'))
    await api.until(path, got => got['status']?.ratio === '1/5')
    await two.add(await createPod(api, 'b', {}, { node: 'worker-2' }))
    const { status } = await api.until(path, got => got['status']?.ratio === '2/5')
    t.match(status, {
      ...{ capacity: 5, used: 2, held: 0, free: 3 },
      ipv4: { capacity: 5, used: 2, held: 0, free: 3, ratio: '2/5' },
      conditions: [
        { type: 'Ready', status: 'True', reason: 'InForce' },
        { type: 'Full', status: 'False', reason: 'SomeFree', lastTransitionTime: /^\d{4}-.*Z$/ },
      ],
    })
    for (const name of ['c', 'd', 'e']) await one.add(await createPod(api, name))
    const full = await api.until(path, got => got['status']?.ratio === '5/5')
    const again = await api.until(path, got => got['status'].conditions[1].status === 'True')
    t.match(again['status'].conditions, [{ lastTransitionTime: status.conditions[0].lastTransitionTime }, {}])
    t.equal(full['spec'].recorded.origin, 'network')
  })

  await t.test('the ranges in force are a column', async t => {
    const columnOf = async (name: string): Promise<unknown> =>
      (await api.printed(pools)).find(({ Name }) => Name === name)?.['Ranges']
    t.equal(await columnOf('fixed'), '10.22.0.0/29')
    const both = [[{ subnet: '10.70.0.0/24', rangeStart: '10.70.0.10' }], [{ subnet: 'fd00:70::/64' }]]
    await api.create(pool('both', { ranges: both }))
    await until('shown', async () => (await columnOf('both')) === '10.70.0.10-10.70.0.254, fd00:70::/64')
    await api.request('PATCH', `${pools}/both`, { spec: { ranges: [[{ subnet: '10.71.0.0/24' }]] } })
    await until('another, with no address in it', async () => (await columnOf('both')) === '10.71.0.0/24')
    await api.request('DELETE', `${pools}/both`)
  })

  await t.test('who is elected ends: the other one goes on', async t => {
    const [first, second] = (await isElected(one)) ? [one, two] : [two, one]
    if (first === one) {
      // The one with the webhook is needed below.
      t.ok(await isElected(one))
      return
    }
    await first.daemon.stop()
    await until('the other is elected', () => isElected(second))
  })

  await t.test('IPPools are looked at before they are kept', async t => {
    await registerWebhook(api, site, certificate.cert)
    const over = pool('over', { subnet: '10.22.0.0/24' })
    await until('asked', async () => {
      const refusal: unknown = await api.create(over).catch((error: unknown) => error)
      if (refusal instanceof Error) return /pools.ipkeeper.io.*overlap/.test(refusal.message)
      await api.request('DELETE', `${pools}/over`)
      return false
    })
    await t.rejects(
      api.create(over),
      /denied the request: the ranges of pool over \(10.22.0.1-10.22.0.254\) overlap those of network fixed/,
    )
    await api.create(pool('own', { subnet: '10.60.0.0/24' }))
    await t.rejects(
      api.create(
        pool('odd', { subnet: '10.61.0.0/24', gateway: '10.61.0.1', mtu: 1280, dns: { nameservers: ['x'] } }),
      ),
      /IPPool odd: spec.dns.nameservers\[0\]/,
    )
    await api.until(`${pools}/own`, got => got['status']?.ratio === '0/253')
    await until('known', async () => {
      const refusal: unknown = await api
        .create(pool('own2', { subnet: '10.60.0.0/25' }))
        .catch((error: unknown) => error)
      return refusal instanceof Error && /overlap those of pool own/.test(refusal.message)
    })
    // Nobody has an address of it: the daemons let it go (store/kubernetes/pool-guard.ts).
    await api.request('DELETE', `${pools}/own`)
    await until('gone', async () => {
      const left: unknown = await api.request('GET', `${pools}/own`).catch((error: unknown) => error)
      return left instanceof Error
    })
  })
})
