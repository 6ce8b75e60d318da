/** An ADD with a real API server behind the daemon: who tells the annotations, and what is waited for. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createPod, startClusterNode, type Answer } from '../rigs/cluster-node.ts'
import { until } from '../rigs/poll.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('cluster', 'executables')

/** Milliseconds within which an ADD waited for nothing: start-up of the executable on a busy machine, and no more. */
const atOnce = 2_500

const gets = (address: string) => ({ ips: [`${address}/24`] })

const asks = (address: string): Record<string, string> => ({ 'ipkeeper.io/ip': address })

t.test('annotations that only the API can tell', { skip }, async t => {
  const cluster = await startPreparedCluster(t)
  const node = await startClusterNode(t, cluster)

  await t.test('a pod gets the address of its annotation', async t => {
    const web = await createPod(cluster, 'web-0', asks('10.22.0.50'))
    t.match(await node.add(web), gets('10.22.0.50'))
    t.match(await node.daemon.boundLeases(), [
      { address: '10.22.0.50', pod: { name: 'web-0', uid: web.uid } },
    ])
  })

  await t.test('a pod of another product, whose annotations are not switched on', async t => {
    const found = async (): Promise<unknown> => {
      const { checks } = JSON.parse((await node.daemon.control('doctor', '-o', 'json')).stdout) as {
        checks: readonly { id: string }[]
      }
      return checks.find(({ id }) => id === 'annotations')
    }
    t.match(await found(), { state: 'ok' })
    await createPod(cluster, 'moved', { 'cni.projectcalico.org/ipAddrs': '["10.22.0.60"]' })
    await until('the daemon has heard of it', async () => {
      const check = await found()
      return JSON.stringify(check).includes('calico (1 pod); shop/moved has cni.projectcalico.org/ipAddrs')
    })
    t.match(await found(), {
      state: 'warn',
      mend: ['ipkeeperctl', 'explain', '--socket', node.daemon.socket, 'shop/moved'],
    })
    await cluster.request('DELETE', '/api/v1/namespaces/shop/pods/moved')
  })

  await t.test('one that asks for nothing gets any address', async t => {
    t.match(await node.add(await createPod(cluster, 'cache')), gets('10.22.0.2'))
  })

  await t.test('an ADD waits for a pod that the API tells a little later', async t => {
    // The API chooses the UID, so the runtime of this pod is one that tells none.
    const adding = node.add({ name: 'early', uid: '' })
    await delay(1_000)
    await createPod(cluster, 'early', asks('10.22.0.51'))
    const got = await adding
    t.match(got, gets('10.22.0.51'))
    t.ok(got.ms > 900, `not before the API had it (${Math.round(got.ms)} ms)`)
  })

  await t.test('what the API does not tell in five seconds is missing', async t => {
    const known = await createPod(cluster, 'known', asks('10.22.0.52'))
    const elsewhere = await createPod(cluster, 'elsewhere', asks('10.22.0.53'), { node: 'worker-2' })
    const unknown = {
      'a pod that the API does not have': { name: 'ghost', uid: randomUUID() },
      'another pod of that name': { ...known, uid: randomUUID() },
      'a pod of another node': elsewhere,
    }
    const answers = await Promise.all(
      Object.entries(unknown).map(async ([what, pod]) => [what, pod.name, await node.add(pod)] as const),
    )
    for (const [what, name, answer] of answers) {
      t.match(
        answer,
        {
          code: 11,
          msg: `the annotations of pod shop/${name} are not known`,
          details: /capabilities.*\[IPK_FACTS_MISSING, /,
        },
        what,
      )
      t.ok(answer.ms > 4_900 && answer.ms < 5_000 + atOnce, `${what}: after ${Math.round(answer.ms)} ms`)
    }
    const names = (await node.daemon.boundLeases()).map(({ pod }) => pod?.name)
    t.notOk(names.includes('known'), 'and nothing was given to anybody')
  })

  await t.test('a static pod is known by the UID that kubelet gave it', async t => {
    const hash = 'd6a8b2f0c1e94d3f8a7b6c5d4e3f2a1b'
    const mirror = {
      ...asks('10.22.0.54'),
      'kubernetes.io/config.mirror': hash,
      'kubernetes.io/config.hash': hash,
      'kubernetes.io/config.source': 'file',
    }
    const { uid } = await createPod(cluster, 'etcd-worker-1', mirror)
    t.not(uid, hash)
    t.match(await node.add({ name: 'etcd-worker-1', uid: hash }), gets('10.22.0.54'))
  })

  await t.test('an annotation that cannot be meant is refused at once', async t => {
    const typo = await createPod(cluster, 'typo', { 'ipkeeper.io/ips0': '10.22.0.60' })
    const answer = await node.add(typo)
    t.match(answer, { code: 107, msg: /ipkeeper\.io\/ips0.*did you mean ipkeeper\.io\/ips/ })
    t.ok(answer.ms < atOnce, `${Math.round(answer.ms)} ms`)
  })
})

t.test('what the runtime passes on suffices', { skip }, async t => {
  const cluster = await startPreparedCluster(t)
  const node = await startClusterNode(t, cluster)
  const known = await createPod(cluster, 'known', asks('10.22.0.70'))
  await node.untilStatus(({ counts }) => counts.pods === 1)
  let pods = 0
  const passing = (passedOn: Record<string, string>) =>
    node.add({ name: `web-${pods++}`, uid: randomUUID(), passedOn })
  const isAtOnce = (answer: Answer, what: string): void => {
    t.ok(answer.ms < atOnce, `${what}: ${Math.round(answer.ms)} ms`)
  }

  cluster.freeze()
  const frozen = await passing(asks('10.22.0.60'))
  t.match(frozen, gets('10.22.0.60'), 'asks, while the API server hangs')
  isAtOnce(frozen, 'asks, while it hangs')
  const nothing = await passing({ 'example.com/other': 'x' })
  t.match(nothing, gets('10.22.0.2'), 'asks for nothing, while the API server hangs')
  isAtOnce(nothing, 'asks for nothing, while it hangs')
  cluster.thaw()

  await cluster.stop('SIGKILL')
  const stopped = await passing(asks('10.22.0.61'))
  t.match(stopped, gets('10.22.0.61'), 'while the API server is away')
  isAtOnce(stopped, 'while it is away')

  const cached = await node.add(known)
  t.match(cached, gets('10.22.0.70'), 'a pod that was known before is served from what is remembered')
  isAtOnce(cached, 'a pod that was known')
  const ghost = await node.add({ name: 'ghost', uid: randomUUID() })
  t.match(ghost, { code: 11, msg: 'the annotations of pod shop/ghost are not known' })
  const away = await node.untilStatus(({ connected }) => !connected)
  t.match(
    away.kubernetes?.watches.find(({ resource }) => resource === 'pods'),
    {
      synced: true,
      lastError: { message: /ECONNREFUSED|closed|reset/ },
    },
  )

  await cluster.start()
  const back = performance.now()
  const late = await createPod(cluster, 'late', asks('10.22.0.71'))
  let answer = await node.add(late)
  // The pause before the next attempt may be longer than an ADD waits; a runtime tries again.
  for (let tries = 0; 'code' in answer && answer.code === 11 && tries < 5; tries++)
    answer = await node.add(late)
  t.match(answer, gets('10.22.0.71'), 'the API is back, and the daemon was not started anew')
  t.comment(`served ${Math.round(performance.now() - back)} ms after the API was back`)
  await node.untilStatus(({ connected }) => connected)
  t.equal(node.daemon.log().match(/"msg":"serving"/g)?.length, 1)
})
