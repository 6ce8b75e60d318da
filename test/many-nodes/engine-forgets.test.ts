import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { isWhole } from '../rigs/extent.ts'
import { logs } from '../rigs/logs.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { filePool, startForgetfulSite, type ForgetfulSite, type LivingPod } from './forgetful-site.ts'

/**
 * An etcd that loses its records, or goes back to a snapshot, under real daemons: no address is ever had by two living pods,
 * and in the end it has all that live. Where a node may hold what the engine has forgotten, nothing new is given.
 */

type Members = 1 | 3
const both: readonly Members[] = isWhole ? [1, 3] : [3]
const single: readonly Members[] = [1]

interface Case {
  readonly name: string
  readonly members: readonly Members[]
  readonly play: (t: Test, site: ForgetfulSite) => Promise<unknown>
}

/** A loss is noticed, and over: every node is in an epoch that is newer than this one. */
async function isOver(t: Test, site: ForgetfulSite, before: number): Promise<void> {
  await site.ready()
  const records = await site.engine.nodes()
  for (const { name } of site.nodes) {
    const epoch = records.get(name)?.epoch ?? 1
    t.ok(epoch > before && epoch === (await site.epoch()), `${name} is in epoch ${epoch}`)
  }
  const hasPool = async (): Promise<boolean> => (await site.engine.get(`pools/${filePool}`)) !== undefined
  await until('the pool of the configuration is on record', hasPool, 10_000)
}

/** Eight new pods, one after the other on all nodes, while it is lost and after. */
const eightMore = (site: ForgetfulSite): Promise<readonly LivingPod[]> =>
  Promise.all(Array.from({ length: 8 }, (_, index) => site.begin(site.node(1 + (index % 3)))))

/** What a snapshot knows, and what became of it since: pods were added, deleted, moved and restarted. */
async function snapshotOfOld(t: Test, site: ForgetfulSite): Promise<string> {
  const [one, two, three] = [site.node(1), site.node(2), site.node(3)]
  await site.populate(2)
  const [ended, left, moved, restarted] = await site.populate(4, [one])
  if (!ended || !left || !moved || !restarted) throw new Error('too few pods')
  const file = await site.snapshot()
  await site.populate(3)
  await site.end(ended)
  await site.end(left)
  await site.begin(two, { asked: [left.address] })
  await site.move(moved, three)
  await site.restart(t, restarted)
  return file
}

/** Nothing of what happens is taken for a loss. */
async function isNoLoss(t: Test, site: ForgetfulSite, happens: () => Promise<unknown>): Promise<void> {
  const before = await site.epoch()
  const refused = (): number => site.calls.refusals.get('ADD IPK_STORE_INCOMPLETE') ?? 0
  const refusedBefore = refused()
  const over = new AbortController()
  const seen = new Set<string>()
  const watching = (async () => {
    while (!over.signal.aborted) {
      for (const node of site.nodes)
        if (node.isUp()) seen.add((await site.status(node).catch(() => undefined))?.state ?? 'no answer')
      await delay(20)
    }
  })()
  try {
    await happens()
    await site.ready()
  } finally {
    over.abort()
    await watching
  }
  t.notOk(seen.has('incomplete'), 'no node took it for a loss')
  t.equal(refused(), refusedBefore, 'nobody was refused for it')
  t.equal(await site.epoch(), before, 'no epoch begins')
}

const cases: readonly Case[] = [
  {
    name: 'the pod of a lost node ends elsewhere: that is no loss',
    members: single,
    play: async (t, site) => {
      const [lost, other] = [site.node(1), site.node(2)]
      await site.populate(1)
      const [taken] = await site.populate(1, [lost])
      if (!taken) return
      await lost.kill()
      const { pod, uid } = taken.sandbox
      const next = await site.begin(other, { pod, uid, asked: [taken.address] })
      await site.end(next)
      site.bury(taken)
      await until('nothing is left of it', async () => {
        const { leases } = await site.engine.read()
        return !leases.some(({ address }) => address === taken.address)
      })
      await isNoLoss(t, site, async () => {
        await lost.start()
        await eightMore(site)
      })
    },
  },
  {
    name: 'away, and back with everything',
    members: both,
    play: async (t, site) => {
      await site.populate(2)
      await isNoLoss(t, site, () =>
        site.amidst(async () => {
          for (const server of site.engine.servers) await server.kill()
          await delay(1000)
          for (const server of site.engine.servers) await server.start()
        }),
      )
    },
  },
  {
    name: 'a member lags behind, and another one is replaced',
    members: [3],
    play: async (t, site) => {
      const [first, second] = site.engine.servers
      if (!first || !second) return
      await site.populate(2)
      await isNoLoss(t, site, async () => {
        await site.amidst(async () => {
          await first.isolate?.()
          await delay(2000)
          await first.join?.()
        })
        await site.engine.healthy()
        await site.engine.replace(second)
        await eightMore(site)
        await site.engine.healthy()
      })
    },
  },
  ...(['another', 'the same'] as const).map((id): Case => ({
    name: `wiped, with ${id} cluster ID`,
    members: id === 'another' ? both : single,
    play: async (t, site) => {
      await site.populate(4)
      const before = await site.epoch()
      await site.engine.reset(undefined, id === 'another' ? site.newName() : undefined)
      await eightMore(site)
      await isOver(t, site, before)
    },
  })),
  ...(['another', 'the same'] as const).map((id): Case => ({
    name: `back at a snapshot, with ${id} cluster ID`,
    members: id === 'the same' ? both : single,
    play: async (t, site) => {
      // The token that makes it the same.
      const name = site.newName()
      await site.beginAnew(name)
      const before = await site.epoch()
      const file = await snapshotOfOld(t, site)
      const was = await site.engine.mark()
      await site.engine.reset(file, id === 'the same' ? name : site.newName())
      await site.engine.healthy()
      const is = await site.engine.mark()
      t.equal(is.cluster === was.cluster, id === 'the same', 'its cluster ID')
      t.ok(is.revision < was.revision, `from revision ${was.revision} back to ${is.revision}`)
      await eightMore(site)
      await isOver(t, site, before)
    },
  })),
  {
    name: 'back at a snapshot while pods come and go',
    members: both,
    play: async (t, site) => {
      await site.populate(2)
      const before = await site.epoch()
      const file = await site.snapshot()
      await site.amidst(async () => {
        await delay(500)
        await site.engine.reset(file, site.newName())
      })
      await isOver(t, site, before)
    },
  },
  ...(['wiped', 'deleted record by record', 'back at a snapshot'] as const).map((how): Case => ({
    name: `${how} while a daemon is down`,
    members: how === 'back at a snapshot' ? both : single,
    play: async (t, site) => {
      const [one, two, down] = [site.node(1), site.node(2), site.node(3)]
      const before = await site.epoch()
      const pods = await site.populate(3)
      const file = how === 'back at a snapshot' ? await site.snapshot() : undefined
      await site.populate(3)
      await down.kill()
      // Which is heard of as news, and not by a list of what is left.
      if (how === 'deleted record by record') await site.engine.deleteAll()
      else await site.engine.reset(file, site.newName())
      await site.waits(t, [one, two], [down.name])
      await site.refuses(t, [one, two])
      await goesOn(t, site, pods)
      await one.kill()
      await one.start()
      await site.waits(t, [one, two], [down.name])
      await site.refuses(t, [one, two])
      await down.start()
      await eightMore(site)
      await isOver(t, site, before)
    },
  })),
  ...(['wiped', 'back at a snapshot'] as const).map((how): Case => ({
    name: `${how} while a daemon is down that is given up, and comes back after all`,
    members: single,
    play: async (t, site) => {
      const [one, two, down] = [site.node(1), site.node(2), site.node(3)]
      const pods = await site.populate(2)
      const named = pods.find(({ node }) => node === down)
      const file = how === 'wiped' ? undefined : await site.snapshot()
      await site.populate(1, [one, two])
      const [first, second, ...others] = await site.populate(4, [down])
      if (!named || !first || !second) return
      const taken = [named, first, second]
      await down.kill()
      await site.engine.reset(file, site.newName())
      await site.waits(t, [one, two], [down.name])
      const { exit, stderr } = await one.daemon().control('forget-node', down.name)
      t.equal(exit, 0, stderr)
      await site.ready([one, two], 5000)
      // The operator has said that what was there is dead.
      for (const pod of taken) site.bury(pod)
      await site.begin(one, { pod: named.sandbox.pod, asked: [named.address] })
      await site.begin(one, { asked: [first.address] })
      await site.begin(two, { asked: [second.address] })
      await site.populate(2, [one, two])
      await down.start()
      await site.ready()
      for (const pod of taken) {
        t.notOk(await site.stands(pod), `${pod.address} is another pod's`)
        await logs(t, down, pod.address, 'which its daemon says')
      }
      for (const pod of others) t.ok(await site.stands(pod), 'what nobody else was given stands')
      await eightMore(site)
      for (const pod of taken) t.equal((await down.del(pod.sandbox)).kind, 'given')
    },
  })),
  ...(['wiped', 'back at a snapshot', 'back at a snapshot, and then others wrote into it'] as const).map(
    (how): Case => ({
      name: `${how} while all daemons are down`,
      members: single,
      play: async (t, site) => {
        const [one, two, three] = [site.node(1), site.node(2), site.node(3)]
        const name = site.newName()
        await site.beginAnew(name)
        const before = await site.epoch()
        const pods = await site.populate(2)
        const file = how === 'wiped' ? undefined : await site.snapshot()
        await site.populate(3)
        for (const node of site.nodes) await node.kill()
        const was = await site.engine.mark()
        await site.engine.reset(file, how.includes('others') ? name : site.newName())
        await site.engine.healthy()
        if (how.includes('others')) {
          // So that neither the ID nor the revision tells.
          while ((await site.engine.mark()).revision <= was.revision) await site.engine.writeElsewhere()
          t.equal((await site.engine.mark()).cluster, was.cluster)
        }
        await one.start()
        await site.waits(t, [one], [two.name, three.name])
        await site.refuses(t, [one])
        await goesOn(t, site, pods)
        await two.start()
        await site.waits(t, [one, two], [three.name])
        await site.refuses(t, [one, two])
        await three.start()
        await eightMore(site)
        await isOver(t, site, before)
      },
    }),
  ),
  {
    name: 'daemons are killed while they tell it again',
    members: both,
    play: async (t, site) => {
      const before = await site.epoch()
      await site.populate(30)
      await site.engine.reset(undefined, site.newName())
      const slow = makeSlow(site)
      const owed: (number | undefined)[] = []
      try {
        for (let times = 0; times < 6; times++) {
          const node = site.node(1 + (times % 3))
          // A lease and a holder of each pod: some are told, and some are not.
          let last: number | undefined
          const inTheMiddle = async (): Promise<boolean> => {
            last = (await site.status(node).catch(() => undefined))?.owed
            return last !== undefined && last > 0 && last < 55
          }
          await until('', inTheMiddle, 2000).catch(() => undefined)
          owed.push(last)
          await node.kill()
          await node.start()
        }
      } finally {
        await slow.end()
      }
      t.comment(`killed when so many of 60 records were owed: ${owed.join()}`)
      await eightMore(site)
      await isOver(t, site, before)
    },
  },
  {
    name: 'lost again while the first loss is made good',
    members: single,
    play: async (t, site) => {
      const [one, two, three] = [site.node(1), site.node(2), site.node(3)]
      const before = await site.epoch()
      await site.populate(2)
      const first = await site.snapshot()
      await site.populate(2)
      await three.cut('both')
      await site.engine.reset(undefined, site.newName())
      await site.waits(t, [one, two], [three.name])
      const second = await site.snapshot()
      // Back in the epoch before the first loss.
      await site.engine.reset(first, site.newName())
      await site.waits(t, [one, two], [three.name])
      await site.refuses(t, [one, two])
      await two.kill()
      await three.mend()
      await site.engine.reset(second, site.newName())
      await site.waits(t, [one, three], [two.name])
      await site.refuses(t, [one, three])
      await two.start()
      await eightMore(site)
      await isOver(t, site, before)
    },
  },
  {
    name: 'back at a snapshot of the epoch before',
    members: single,
    play: async (t, site) => {
      await site.populate(2)
      const file = await site.snapshot()
      await site.populate(2)
      const before = await site.epoch()
      await site.engine.reset(undefined, site.newName())
      await eightMore(site)
      await isOver(t, site, before)
      const between = await site.epoch()
      await site.engine.reset(file, site.newName())
      await eightMore(site)
      await isOver(t, site, between)
    },
  },
  {
    // Before that it is to a new node as if nobody had ever been there.
    name: 'wiped, and a new node comes when one of those that know of it has written into it',
    members: single,
    play: async (t, site) => {
      const [one, two, three] = [site.node(1), site.node(2), site.node(3)]
      await site.populate(3)
      for (const node of [two, three]) await node.cut('both')
      await site.engine.reset(undefined, site.newName())
      await site.waits(t, [one], [two.name, three.name])
      await site.spare.start()
      await site.waits(t, [site.spare, one], [two.name, three.name])
      await site.refuses(t, [site.spare, one])
      await two.mend()
      await site.waits(t, [site.spare, one, two], [three.name])
      await site.refuses(t, [site.spare, one, two])
      await three.mend()
      await site.populate(2, [site.spare, ...site.nodes])
    },
  },
  {
    name: 'a node gets another name while another one is down: that is no loss',
    members: single,
    play: async (t, site) => {
      const [one] = [site.node(1)]
      await site.spare.start()
      await site.populate(2, [one, site.spare])
      await one.kill()
      await site.spare.kill('SIGTERM')
      site.spare.rename(`${site.spare.name}-again`)
      await site.spare.start()
      await until('its former name is given up', async () => {
        const former = (await site.engine.nodes()).get(site.spare.name)
        return former?.gone !== undefined
      })
      await isNoLoss(t, site, async () => {
        await one.start()
        await site.populate(2, [one, site.spare])
      })
      const before = await site.epoch()
      await site.engine.reset(undefined, site.newName())
      await eightMore(site)
      await isOver(t, site, before)
    },
  },
]

/** What needs no new claim: CHECK, DEL, and a new sandbox of a pod that lives; one pod of each node that runs for each. */
async function goesOn(t: Test, site: ForgetfulSite, pods: readonly LivingPod[]): Promise<void> {
  for (const [name, own] of Map.groupBy(pods, ({ node }) => node.name)) {
    const [restarted, ended] = own
    if (!restarted?.node.isUp() || !ended) continue
    t.ok(await site.stands(restarted), `${name}: CHECK`)
    await site.restart(t, restarted)
    const began = performance.now()
    await site.end(ended)
    t.ok(performance.now() - began < 5000, `${name}: DEL`)
  }
}

/** It answers, but slowly, until `end`. */
function makeSlow({ engine: { servers } }: ForgetfulSite): { end(): Promise<void> } {
  const over = new AbortController()
  const slowly = (async () => {
    while (!over.signal.aborted) {
      for (const server of servers) server.freeze()
      await delay(80)
      for (const server of servers) server.thaw()
      await delay(4)
    }
  })()
  return {
    end: async () => {
      over.abort()
      await slowly
    },
  }
}

for (const members of [1, 3] as const) {
  t.test(
    `an etcd of ${members} forgets`,
    { skip: missing('namespaces', 'nft', 'etcd', 'etcdctl', 'executables'), timeout: 400_000 },
    async t => {
      const site = await startForgetfulSite(t, members)
      for (const { name, play } of cases.filter(({ members: of }) => of.includes(members)))
        await t.test(name, async t => {
          const began = performance.now()
          await play(t, site)
          await site.judge(t)
          t.comment(`${((performance.now() - began) / 1000).toFixed(1)} s`)
        })
    },
  )
}
