/** One of several daemons is elected, by a Lease of a real API server. */
import t, { type Test } from 'tap'
import type { ApiAccess } from '../../ipkeeper-server/kubernetes/api-client.ts'
import { kubeconfigAccess } from '../../ipkeeper-server/kubernetes/kubeconfig.ts'
import { LeaseElection } from '../../ipkeeper-server/kubernetes/lease-election.ts'
import { ipkeeperToken } from '../rigs/cluster-node.ts'
import { RefusedError } from '../rigs/cluster-client.ts'
import { startCluster, type Cluster } from '../rigs/cluster.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { startTcpRelay } from '../rigs/tcp-relay.ts'

/** A tenth of the real ones. */
const timing = { duration: 3_000, deadline: 2_000, renewEvery: 500, lookEvery: 500, retryEvery: 200 }
const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/ipkeeper'

interface Candidate {
  readonly identity: string
  readonly election: LeaseElection
  /** Moments at which it began or ended, by one clock for all. */
  readonly terms: { readonly began: number; ended?: number }[]
  readonly troubles: string[]
}

function candidate(identity: string, access: ApiAccess): Candidate {
  const terms: Candidate['terms'] = []
  const troubles: string[] = []
  const election = new LeaseElection({
    ...{ access, namespace: 'kube-system', identity, timing },
    onChange: elected => {
      const last = terms.at(-1)
      if (elected) terms.push({ began: performance.now() })
      else if (last) last.ended = performance.now()
    },
    onTrouble: error => troubles.push(error.message),
  })
  return { identity, election, terms, troubles }
}

/** Who says that it is elected; never two. */
function elected(t: Test, candidates: readonly Candidate[]): Candidate | undefined {
  const all = candidates.filter(({ election }) => election.isElected())
  if (all.length > 1) t.fail('two are elected')
  return all[0]
}

async function oneElected(t: Test, candidates: readonly Candidate[]): Promise<Candidate> {
  await until('one is elected', () => elected(t, candidates) !== undefined)
  const one = elected(t, candidates)
  if (!one) throw new Error('nobody is elected any more')
  return one
}

const accessBy = (kubeconfig: string): ApiAccess =>
  kubeconfigAccess(kubeconfig, undefined, () => performance.now())

const leaseOf = (api: Cluster) => api.request('GET', path)

t.test('election', { skip: missing('cluster') }, async t => {
  const api = await startCluster(t)
  const access = accessBy(api.kubeconfigFor({ token: await ipkeeperToken(api) }))
  const candidates = ['n1 a', 'n2 b', 'n3 c'].map(identity => candidate(identity, access))
  t.teardown(() => Promise.all(candidates.map(({ election }) => election.stop())))

  await t.test('one of three is elected, and stays it', async t => {
    for (const { election } of candidates) election.start()
    const first = await oneElected(t, candidates)
    const { spec } = await leaseOf(api)
    t.equal(spec.leaseDurationSeconds, 3)
    await api.until(path, got => got['spec'].renewTime !== spec.renewTime)
    t.equal(elected(t, candidates), first)
    t.equal((await leaseOf(api))['spec'].holderIdentity, first.election.holder())
  })

  await t.test('a label that somebody writes changes nothing', async t => {
    const first = elected(t, candidates)
    await api.request('PATCH', path, { metadata: { labels: { seen: 'yes' } } })
    const { spec } = await leaseOf(api)
    await api.until(path, got => got['spec'].renewTime !== spec.renewTime)
    t.equal(elected(t, candidates), first)
    t.equal(first?.terms.length, 1)
  })

  await t.test('who ends gives it up, and the next begins at its next look', async t => {
    const first = elected(t, candidates)
    const left = candidates.filter(one => one !== first)
    const at = performance.now()
    await first?.election.stop()
    await oneElected(t, left)
    t.ok(performance.now() - at < timing.duration, 'sooner than by silence')
    t.equal((await leaseOf(api))['spec'].leaseTransitions, 1)
  })

  await t.test('a Lease that somebody deleted is made anew', async t => {
    await api.request('DELETE', path)
    await api.until(path, got => got['spec'].holderIdentity !== '')
    // Who had it learns of that at its next renewal only, and says until then that it is elected.
    await until('one is elected, whom the Lease names', async () => {
      const { holderIdentity } = (await leaseOf(api))['spec']
      const all = candidates.filter(({ election }) => election.isElected())
      return all.length === 1 && all[0]?.identity === holderIdentity
    })
    t.ok(elected(t, candidates))
  })

  await t.test('the API is away: the elected one stops, and one begins when it is back', async t => {
    const first = await oneElected(t, candidates)
    await api.stop('SIGKILL')
    await until('nobody is elected', () => !candidates.some(({ election }) => election.isElected()))
    t.match(first.troubles, [/PUT .*leases\/ipkeeper/])
    await api.start()
    await oneElected(t, candidates)
  })
})

t.test(
  'the elected one is cut off: it stops before another begins',
  { skip: missing('cluster') },
  async t => {
    const api = await startCluster(t)
    const token = await ipkeeperToken(api)
    const { hostname, port } = new URL(api.url)
    const relay = await startTcpRelay(t, { host: hostname, port: Number(port) })
    const direct = accessBy(api.kubeconfigFor({ token }))
    const cut = candidate('n1 a', {
      server: `https://127.0.0.1:${relay.port}`,
      source: 'test',
      secrets: again => {
        const { tls, ...rest } = direct.secrets(again)
        return { ...rest, tls: { ...tls, servername: 'kubernetes' } }
      },
    })
    const other = candidate('n2 b', direct)
    t.teardown(() => Promise.all([cut.election.stop(), other.election.stop()]))
    cut.election.start()
    await until('it is elected', () => cut.election.isElected())
    other.election.start()
    await until('the other has looked', () => other.election.holder() === 'n1 a')
    relay.block()
    await until('the other is elected', () => elected(t, [cut, other]) === other)
    const ended = cut.terms[0]?.ended ?? Infinity
    const began = other.terms[0]?.began ?? 0
    t.ok(ended < began, `it stopped ${Math.round(began - ended)} ms before`)
    relay.open()
    await until('it sees the other', () => cut.election.holder() === 'n2 b')
    t.equal(elected(t, [cut, other]), other)
    t.equal((await leaseOf(api))['spec'].leaseTransitions, 1)
  },
)

t.test('who may not is told once, and is never elected', { skip: missing('cluster') }, async t => {
  const api = await startCluster(t)
  await api.until('/api/v1/namespaces/kube-system', () => true)
  await api.create({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'poor', namespace: 'kube-system' },
  })
  const token = await api.serviceAccountToken('kube-system', 'poor')
  const poor = candidate('n1 a', accessBy(api.kubeconfigFor({ token })))
  t.teardown(() => poor.election.stop())
  poor.election.start()
  await until('it is told', () => poor.troubles.length > 0)
  t.match(poor.troubles, [/403 Forbidden/])
  t.notOk(poor.election.isElected())
  await t.rejects(leaseOf(api), RefusedError)
})
