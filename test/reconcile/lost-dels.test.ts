/** 600 sandboxes go without a DEL: what they had is gone two minutes later, and nobody who lives has noticed. */
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { AuditReply } from '../../shared/api/audit.schema.ts'
import { countEcho, serveEcho } from '../rigs/echo.ts'
import { inParallel } from '../rigs/in-parallel.ts'
import { loseNamespaces, makeNamespaces } from '../rigs/many-namespaces.ts'
import { until } from '../rigs/poll.ts'
import { requestedPod, type RequestedPod } from '../rigs/requested-pod.ts'
import { missing } from '../rigs/requirements.ts'
import { makeWiredNode, type WiredNode } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

const [lostCount, livingCount, passingCount] = [600, 8, 50]
const cleanWithinMs = 120_000
/** A runtime waits for minutes; what takes longer than this, a person would notice. */
const longestAddMs = 5_000

interface HostLink {
  readonly ifindex: number
  readonly ifname: string
}

/** The host's sides of pods' links. */
async function hostLinks({ host }: WiredNode): Promise<readonly HostLink[]> {
  const links = JSON.parse(await host.must('ip', ['-json', 'link', 'show', 'type', 'veth'])) as HostLink[]
  return links.map(({ ifindex, ifname }) => ({ ifindex, ifname })).sort((a, b) => a.ifindex - b.ifindex)
}

async function audit(node: WiredNode): Promise<AuditReply> {
  return JSON.parse((await node.daemon().ask('GET', '/v1/audit')).body) as AuditReply
}

t.test(`${lostCount} lost DELs`, { skip, timeout: 500_000 }, async t => {
  const node = await makeWiredNode(t, { settings: { mode: 'bridge', isGateway: true, ipMasq: true } })
  const podsIn = (paths: readonly string[]): readonly RequestedPod[] =>
    paths.map(path => requestedPod(node, path))
  const [livingPaths, lostPaths, passingPaths] = [
    await makeNamespaces(node.host, 'living', livingCount),
    await makeNamespaces(node.host, 'lost', lostCount),
    await makeNamespaces(node.host, 'passing', passingCount),
  ]
  const living = podsIn(livingPaths)
  const addresses = (await inParallel(living, 4, pod => pod.add())).map(({ addresses }) => addresses)
  const linksOfLiving = await hostLinks(node)
  const server = await serveEcho({ host: node.host }, 'gateway')
  const counts = livingPaths
    .slice(0, 3)
    .flatMap(path =>
      ['10.22.0.1', 'fd00:22::1'].map(gateway =>
        countEcho({ host: node.host, namespace: { path } }, gateway),
      ),
    )

  const lost = podsIn(lostPaths)
  await inParallel(lost, 8, pod => pod.add())
  t.equal((await hostLinks(node)).length, lostCount + livingCount)
  t.same((await audit(node)).findings, [], 'while all live nothing is found')

  // Of most of them the namespace is only hidden: their links stay until somebody removes them.
  const held = lostPaths.filter((_, index) => index % 6 !== 0)
  await loseNamespaces(node.host, held, true)
  await loseNamespaces(
    node.host,
    lostPaths.filter(path => !held.includes(path)),
    false,
  )
  const lostAt = performance.now()

  const addTimes: number[] = []
  const passing = podsIn(passingPaths)
  const churn = inParallel(passing, 2, async pod => {
    await delay(1_000)
    addTimes.push((await pod.add()).ms)
    await delay(500)
    await pod.del()
  })
  const isClean = async (): Promise<boolean> => (await audit(node)).attachments <= livingCount
  while (!(await isClean()) && performance.now() - lostAt < cleanWithinMs) await delay(1_000)
  const cleanMs = performance.now() - lostAt
  await churn
  await until('the last of those that passed is gone', isClean)

  t.ok(cleanMs < cleanWithinMs, `${lostCount} lost attachments were ended ${Math.round(cleanMs)} ms after`)
  t.equal(
    node
      .daemon()
      .log()
      .match(/"msg":"repaired: /g)?.length,
    lostCount,
    'each is told once',
  )
  const bound = (await node.daemon().boundLeases()).map(({ address }) => address)
  t.same(
    [...bound].sort(),
    addresses.flat().sort(),
    'the living have what they had, and nobody else has anything',
  )
  t.same(await hostLinks(node), linksOfLiving, 'nor has anybody else a link')
  const ruleset = await node.host.must('nft', ['list', 'ruleset'])
  const masqueraded = new Set(ruleset.match(/\b10\.22\.\d+\.\d+\b(?!\/)/g))
  masqueraded.delete('10.22.0.1')
  t.same([...masqueraded].sort(), addresses.flatMap(([first = '']) => first).sort())
  t.same((await audit(node)).findings, [])

  for (const stop of counts) {
    const { asked, answered } = await stop()
    t.ok(asked > 100 && answered === asked, `${answered} of ${asked} questions of a living pod were answered`)
  }
  await server.stop()
  const longest = Math.max(...addTimes)
  const mean = addTimes.reduce((sum, ms) => sum + ms, 0) / addTimes.length
  t.equal(addTimes.length, passingCount)
  t.ok(
    longest < longestAddMs,
    `ADDs meanwhile: ${Math.round(mean)} ms on average, ${Math.round(longest)} ms at most`,
  )
})
