/** An etcd goes back to yesterday, and so do state folders of its nodes, while their pods run on. */
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import t, { type Test } from 'tap'
import { startRestorableEtcd } from '../rigs/etcd.ts'
import { keepResult } from '../rigs/kept-result.ts'
import { logs } from '../rigs/logs.ts'
import { makeMachine, type Machine, type MachinePod } from '../rigs/machine.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('namespaces', 'executables', 'etcd')

interface Node {
  readonly name: string
  readonly machine: Machine
  /** What its runtime keeps of ADDs. */
  readonly results: string
  /** Of its state folder. */
  readonly copy: string
}

interface LivingPod {
  readonly node: Node
  readonly pod: MachinePod
  readonly address: string
}

interface Site {
  /** Their daemons run, and each has a pod. */
  readonly nodes: readonly Node[]
  /** Keeps what the etcd and the state folders of these nodes have. */
  readonly keep: (nodes: readonly Node[]) => Promise<void>
  /** Kills the daemons of these nodes, and takes the etcd and these state folders back to what was kept. */
  readonly restore: (killed: readonly Node[], folders: readonly Node[]) => Promise<void>
}

async function start(t: Test, count: number): Promise<Site> {
  const folder = tempFolder(t)
  const etcd = await startRestorableEtcd(t, folder)
  const nodes = Array.from({ length: count }, (_, index): Node => {
    const name = `n${index + 1}`
    const results = folder.file(`results-${name}`)
    mkdirSync(results)
    const config = {
      kubernetes: { mode: 'off' },
      cooldown: '1s',
      resultCache: { folders: { results: [results] } },
      reconcile: { interval: '1s', minAge: '1s' },
    }
    const machine = makeMachine(t, { folder, config, store: `etcd:${etcd.url}` })
    return { name, machine, results, copy: folder.file(`yesterday-${name}`) }
  })
  for (const node of nodes) {
    await node.machine.start(node.name)
    await populate(node, 1)
  }
  const snapshot = folder.file('snapshot')
  return {
    nodes,
    keep: async kept => {
      for (const { machine } of kept) await machine.stop()
      await etcd.save(snapshot)
      for (const { name, machine, copy } of kept) {
        cpSync(machine.stateDir, copy, { recursive: true })
        await machine.start(name)
      }
    },
    restore: async (killed, folders) => {
      for (const { machine } of killed) await machine.stop('SIGKILL')
      for (const { machine, copy } of folders) {
        rmSync(machine.stateDir, { recursive: true })
        cpSync(copy, machine.stateDir, { recursive: true })
      }
      await etcd.restore(snapshot)
    },
  }
}

/** Pods whose ADDs are answered, and kept by the runtime. */
async function populate(node: Node, count: number): Promise<readonly LivingPod[]> {
  const living: LivingPod[] = []
  for (let index = 0; index < count; index++) {
    const pod = await node.machine.pod(`${node.name}-${index}`)
    const address = await pod.add()
    keepResult(node.results, node.machine.stateDir, pod, address)
    living.push({ node, pod, address })
  }
  return living
}

/** What new pods of a node are given that ask for what others have; each asks until the store is no reason to refuse it. */
async function givenOn({ machine }: Node, living: readonly LivingPod[]): Promise<readonly string[]> {
  const given = living.map(async ({ address }) => {
    const pod = await machine.pod(`greedy-${address.slice(-3)}`, address)
    let answer = 'IPK_STORE_'
    while (answer.includes('IPK_STORE_')) {
      await pod.del()
      answer = await pod.add()
    }
    return answer
  })
  return (await Promise.all(given)).filter(answer => !answer.includes('IPK_ADDRESS_HELD'))
}

/** It says that it gives nothing new before these nodes have told what they hold. */
async function waits({ machine }: Node, nodes: readonly string[]): Promise<void> {
  await until(`waits for ${nodes.join(', ')}`, async () => {
    const { store } = await machine.status()
    return store.state === 'incomplete' && nodes.every(name => store.waitsFor?.includes(name))
  })
}

/** Each pod has its address, on record. */
async function allLive(t: Test, living: readonly LivingPod[]): Promise<void> {
  for (const { node, pod, address } of living) {
    t.equal((await node.machine.leases())[address], `bound ${node.name}`, `${address} is on record`)
    t.equal(await pod.check(), '')
  }
}

t.test('the state folder of one node', { skip, timeout: 120_000 }, async t => {
  const { nodes, keep, restore } = await start(t, 3)
  const [one, two, three] = nodes
  if (!one || !two || !three) return
  await keep([one])
  const living = await populate(one, 4)
  await restore([one, three], [one])
  await waits(two, ['n1', 'n3'])
  await one.machine.start('n1')
  await logs(t, one.machine.daemon(), /could not be adopted yet/, 'before all have told what they hold')
  const given = givenOn(two, living)
  await three.machine.start('n3')
  t.strictSame(await given, [], 'no address of a pod that lives is given to another one')
  await allLive(t, living)
})

t.test('the state folders of all nodes', { skip, timeout: 120_000 }, async t => {
  const { nodes, keep, restore } = await start(t, 2)
  const [one, two] = nodes
  if (!one || !two) return
  await keep(nodes)
  const living = [...(await populate(one, 3)), ...(await populate(two, 3))]
  await restore(nodes, nodes)
  await one.machine.start('n1')
  // The etcd does not know what lives here, so that it is as old of other nodes.
  const given = givenOn(one, living)
  await waits(one, ['n2'])
  await two.machine.start('n2')
  t.strictSame(await given, [], 'no address of a pod that lives is given to another one')
  t.strictSame(await givenOn(two, living), [])
  await allLive(t, living)
})
