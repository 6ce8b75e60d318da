/** A real API server asks a real daemon before it keeps objects, as deploy/webhook/webhook.yaml tells it to. */
import t from 'tap'
import { createPod, startClusterNode } from '../rigs/cluster-node.ts'
import { RefusedError, type ApiObject } from '../rigs/cluster-client.ts'
import { startCluster, type Cluster } from '../rigs/cluster.ts'
import { logs } from '../rigs/logs.ts'
import { readPage, valueOf } from '../rigs/metrics-page.ts'
import { until } from '../rigs/poll.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'
import { missing } from '../rigs/requirements.ts'
import { makeAuthority, makeExpiredCertificate, makeServerCertificate } from '../rigs/server-certificate.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { certificateOfPage, registerWebhook, webhookSite } from '../rigs/webhook.ts'

const skip = missing('cluster', 'executables', 'openssl')

const containers = [{ name: 'main', image: 'localhost/none' }]
const labels = { app: 'a' }

type Annotations = Readonly<Record<string, string>>

function pod(name: string, annotations: Annotations): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', annotations },
    spec: { containers },
  }
}

function workload(kind: string, name: string, annotations: Annotations, spec: object = {}): ApiObject {
  const isSet = kind === 'StatefulSet'
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace: 'shop' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: { containers } },
      ...(isSet && { serviceName: name }),
      ...spec,
    },
  }
}

function cronJob(name: string, annotations: Annotations): ApiObject {
  const template = { metadata: { annotations }, spec: { containers, restartPolicy: 'Never' } }
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace: 'shop' },
    spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template } } },
  }
}

/** What the API server said, or "created". */
async function create(api: Cluster, object: ApiObject): Promise<string> {
  try {
    await api.create(object)
    return 'created'
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
    return (JSON.parse(error.message.slice(error.message.indexOf('{'))) as { message: string }).message
  }
}

const refused = /^admission webhook "pods.ipkeeper.io" denied the request: /

t.test('what the API server keeps', { skip }, async t => {
  const folder = tempFolder(t)
  const site = webhookSite(folder)
  const certificate = await certificateOfPage(folder, site)
  t.equal(
    Buffer.from(certificate.caBundle, 'base64').toString(),
    certificate.cert,
    'what the page prints for webhook.yaml',
  )
  site.install(certificate)
  const api = await startPreparedCluster(t)
  const node = await startClusterNode(t, api, {
    ipam: { pool: 'prod' },
    config: {
      webhook: site.config,
      pools: [
        { name: 'prod', subnet: '10.22.0.0/24' },
        { name: 'tiny', subnet: '10.31.0.0/29' },
        { name: 'gone', subnet: '10.32.0.0/24', draining: true },
      ],
    },
  })
  const metric = async (name: string, own: Record<string, string> = {}): Promise<number | undefined> =>
    valueOf(readPage((await node.daemon.ask('GET', '/metrics')).body), name, own)
  /** The API server takes up to a second to see a change of its webhooks. */
  const untilAsked = (how: string, wanted: (said: string) => boolean): Promise<void> =>
    until(how, async () => wanted(await create(api, pod('probe', { 'ipkeeper.io/probe': how }))))

  await t.test('without the webhook everything', async t => {
    t.equal(await create(api, pod('before', { 'ipkeeper.io/ipp': '10.22.0.9' })), 'created')
  })

  await registerWebhook(api, site, certificate.cert)
  await untilAsked('asked', said => refused.test(said))
  const db = await createPod(api, 'db', { 'ipkeeper.io/ip': '10.22.0.50' })
  t.match(await node.add(db), { ips: ['10.22.0.50/24'] })

  await t.test('objects', async t => {
    const three = '10.22.0.100-10.22.0.102'
    const table: readonly [what: string, object: ApiObject, said: RegExp | 'created'][] = [
      ['a pod that asks for nothing', pod('plain', {}), 'created'],
      ['a pod with a free address', pod('free', { 'ipkeeper.io/ip': '10.22.0.9' }), 'created'],
      [
        'a misspelt key',
        pod('misspelt', { 'ipkeeper.io/ipp': '10.22.0.9' }),
        /denied the request: unknown annotation ipkeeper.io\/ipp; did you mean ipkeeper.io\/ip\?/,
      ],
      ['no address', pod('none', { 'ipkeeper.io/ip': '10.22.0.050' }), /"10.22.0.050" is no IP address/],
      [
        'outside of every pool',
        pod('outside', { 'ipkeeper.io/ip': '10.99.0.9' }),
        /asks for 10.99.0.9, which is outside every range of pool prod \(10.22.0.1-10.22.0.254\), pool tiny/,
      ],
      [
        "another pod's",
        pod('other', { 'ipkeeper.io/ip': '10.22.0.50' }),
        /which is held by shop\/db on node worker-1 .* \[IPK_ADDRESS_HELD\]; choose another address/,
      ],
      [
        'a StatefulSet with more replicas than addresses',
        workload('StatefulSet', 'set', { 'ipkeeper.io/ips': three }, { replicas: 4 }),
        /pod shop\/set-3 has ordinal 3, but annotation ipkeeper.io\/ips lists 3 addresses/,
      ],
      [
        'a StatefulSet with as many',
        workload('StatefulSet', 'set', { 'ipkeeper.io/ips': three }, { replicas: 3 }),
        'created',
      ],
      [
        'a Deployment without room for a rollout',
        workload('Deployment', 'web', { 'ipkeeper.io/ip': '10.22.0.60' }),
        /names 1 usable address for up to 2 pods \(replicas 1, maxSurge 1\) at once; .* strategy Recreate/,
      ],
      [
        'a Deployment with Recreate',
        workload('Deployment', 'web', { 'ipkeeper.io/ip': '10.22.0.60' }, { strategy: { type: 'Recreate' } }),
        'created',
      ],
      [
        'a Deployment that is larger than its pool',
        workload('Deployment', 'large', { 'ipkeeper.io/pool': 'tiny' }, { replicas: 6 }),
        /names pool tiny, which has 5 free addresses for up to 8 pods at once \(replicas 6, maxSurge 2\)/,
      ],
      [
        'a ReplicaSet',
        workload('ReplicaSet', 'rs', { 'ipkeeper.io/ips': three }, { replicas: 4 }),
        /for up to 4 pods/,
      ],
      ['a DaemonSet', workload('DaemonSet', 'ds', { 'ipkeeper.io/pool': 'prd' }), /did you mean "prod"\?/],
      ['a CronJob', cronJob('cron', { 'ipkeeper.io/retain': 'always' }), /"always" is no retention/],
      ['a CronJob that asks for nothing', cronJob('plain', {}), 'created'],
    ]
    for (const [what, object, said] of table) {
      const got = await create(api, object)
      if (said === 'created') t.equal(got, said, what)
      else t.match(got, said, what)
      if (said !== 'created') t.match(got, refused)
    }
    t.equal((await node.daemon.leases()).length, 1, 'nothing was given')
  })

  await t.test('what drains is kept, with a warning', async t => {
    const before = api.warnings.length
    await create(api, pod('prod', { 'ipkeeper.io/pool': 'prod' }))
    t.strictSame(api.warnings.slice(before), [])
    for (const [object, said] of [
      [
        workload('Deployment', 'drains', { 'ipkeeper.io/pool': 'gone' }, { replicas: 2 }),
        /^annotation ipkeeper.io\/pool names pool gone, which is draining: no new pod gets an address of it \[IPK_POOL_DRAINING\]/,
      ],
      [
        pod('drains', { 'ipkeeper.io/ip': '10.32.0.9' }),
        /^annotation ipkeeper.io\/ip asks for 10.32.0.9, which is in a range of pool gone that is draining/,
      ],
      [
        pod('first', { 'ipkeeper.io/ip.net1': '10.9.0.5', 'k8s.v1.cni.cncf.io/networks': 'lan' }),
        /^annotation ipkeeper.io\/ip.net1 asks for 10.9.0.5, which is outside .*, as far as is known \[IPK_ADDRESS_OUTSIDE\]; compare it/,
      ],
    ] as const) {
      const known = api.warnings.length
      t.equal(await create(api, object), 'created')
      t.match(api.warnings.slice(known), [said])
    }
  })

  await t.test('changes: what was there before and is no worse, goes through', async t => {
    const path = '/api/v1/namespaces/shop/pods'
    const change = (name: string, annotations: object): Promise<ApiObject> =>
      api.request('PATCH', `${path}/${name}`, { metadata: { annotations } })
    await change('before', { note: 'x' })
    await t.rejects(
      change('free', { 'ipkeeper.io/ip': '10.22.0.50' }),
      /held by shop\/db/,
      'a fault that comes',
    )
    await change('before', { 'ipkeeper.io/ipp': null })
    const set = '/apis/apps/v1/namespaces/shop/statefulsets/set'
    await t.rejects(api.request('PATCH', set, { spec: { replicas: 4 } }), /has ordinal 3/)
    await api.request('PATCH', set, { spec: { replicas: 2 } })
    await api.request('DELETE', `${path}/before`)
    t.match(await api.request('DELETE', set), { status: 'Success' })
  })

  await t.test('a dry run is answered as any other', async t => {
    const dry = (annotations: Annotations): Promise<ApiObject> =>
      api.request('POST', '/api/v1/namespaces/shop/pods?dryRun=All', pod('dry', annotations))
    await dry({ 'ipkeeper.io/ip': '10.22.0.9' })
    await t.rejects(dry({ 'ipkeeper.io/ip': 'x' }), /is no IP address/)
  })

  await t.test('what was said is counted, and objects that do not speak to us are not sent', async t => {
    const counted = async (answer: string) =>
      (await metric('ipkeeper_admission_reviews_total', { answer })) ?? 0
    const before = [await counted('admitted'), await counted('refused')] as const
    await create(api, pod('silent', { 'example.org/ip': 'x' }))
    await create(api, pod('spoken', { 'ipkeeper.io/retain': '30m' }))
    await create(api, pod('wrong', { 'ipkeeper.io/retain': 'x' }))
    t.strictSame([await counted('admitted'), await counted('refused')], [before[0] + 1, before[1] + 1])
  })

  await t.test('a certificate that is renewed is taken up', async t => {
    const renewed = await makeServerCertificate(folder, 'renewed', `IP:${site.address}`)
    site.install(renewed)
    await registerWebhook(api, site, renewed.cert)
    await untilAsked('renewed', said => refused.test(said))
    await logs(t, node.daemon, /read the certificate of the webhook.*read the certificate of the webhook/s)
  })

  await t.test('one that is expired: the API server does not ask, and objects are kept', async t => {
    const expired = await makeExpiredCertificate(folder, 'expired', `IP:${site.address}`)
    site.install(expired)
    await registerWebhook(api, site, expired.cert)
    await untilAsked('expired', said => !refused.test(said))
    t.equal(
      await metric('ipkeeper_webhook_certificate_expiry_timestamp_seconds'),
      Date.parse('2020-01-02') / 1000,
    )
  })

  await t.test('files that make no certificate leave the last one in force', async t => {
    const last = await makeServerCertificate(folder, 'last', `IP:${site.address}`)
    site.install(last)
    await registerWebhook(api, site, last.cert)
    await untilAsked('last', said => refused.test(said))
    site.install({ cert: certificate.cert, key: last.key })
    await metric('ipkeeper_build_info')
    await registerWebhook(api, site, `${last.cert}${certificate.cert}`)
    await untilAsked('still last', said => refused.test(said))
    await logs(t, node.daemon, /IPK_WEBHOOK_CERTIFICATE.*make no server certificate/)
  })

  await t.test('the daemon is away: objects are kept', async t => {
    await node.daemon.stop()
    t.equal(await create(api, pod('away', { 'ipkeeper.io/ipp': 'x' })), 'created')
  })
})

t.test('of an authority the daemon issues itself a certificate, also of the next one', { skip }, async t => {
  const folder = tempFolder(t)
  const site = webhookSite(folder)
  const [first, second] = [
    await makeAuthority(folder, 'first', 'rsa'),
    await makeAuthority(folder, 'second', 'ec'),
  ]
  site.install(first)
  const api = await startPreparedCluster(t)
  await startClusterNode(t, api, { config: { webhook: { ...site.config, issueFor: site.address } } })
  const untilRefused = (how: string): Promise<void> =>
    until(how, async () => refused.test(await create(api, pod('probe', { 'ipkeeper.io/probe': how }))))
  await registerWebhook(api, site, first.cert)
  await untilRefused('asked')
  await registerWebhook(api, site, `${second.cert}${first.cert}`)
  site.install(second)
  await untilRefused('asked with both')
  await registerWebhook(api, site, second.cert)
  await untilRefused('asked with the second alone')
})

t.test('a port that another has', { skip }, async t => {
  const folder = tempFolder(t)
  const site = webhookSite(folder)
  const api = await startCluster(t)
  const options = { config: { webhook: site.config } }
  const first = await startClusterNode(t, api, options)
  await logs(t, first.daemon, /tls.crt cannot be read .ENOENT/, 'no certificate is no reason not to start')
  const second = await startClusterNode(t, api, options)
  await logs(t, second.daemon, /IPK_WEBHOOK_LISTEN.*another program listens on .*:9443/, 'nor is a port')
})
