import t from 'tap'
import { cutOff, mend, type Cut } from '../rigs/cuts.ts'
import { etcdPorts, startEtcdMembers } from '../rigs/etcd-members.ts'
import { startLan } from '../rigs/lan.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { until } from '../rigs/poll.ts'

/** That the rig does to nodes and members what the tests take it to do. */

t.test(
  'three members, cut, killed and frozen',
  { skip: missing('namespaces', 'cluster', 'nft') },
  async t => {
    const folder = tempFolder(t)
    const lan = await startLan({ hosts: 4 })
    t.teardown(() => lan.close())
    const [node, ...hosts] = lan.hosts
    if (!node) return
    const etcd = await startEtcdMembers(t, hosts, folder)
    const [first, second, third] = etcd.members
    if (!first || !second || !third) return

    const reaches = async (url: string): Promise<number> => {
      const script = `fetch(process.argv[1] + '/health', { signal: AbortSignal.timeout(1500) }).then(() => 0, e => e.name === 'TimeoutError' ? 2 : 1).then(process.exit)`
      const { exit } = await node.run(process.execPath, ['-e', script, url])
      return exit ?? -1
    }
    t.equal(await reaches(first.url), 0, 'a node reaches a member')
    const cuts: readonly (readonly [Cut, number])[] = [
      ['both', 2],
      ['requests', 2],
      ['replies', 2],
      ['refused', 1],
      [1, 0],
    ]
    for (const [cut, exit] of cuts) {
      await cutOff(node, [etcdPorts.client], cut)
      t.equal(await reaches(first.url), exit, `cut: ${cut}`)
    }
    await mend(node)
    t.equal(await reaches(first.url), 0, 'mended')

    await etcd.ask('/v3/kv/put', { key: btoa('/a'), value: btoa('1') })
    await cutOff(first.host, [etcdPorts.peer], 'both')
    await until('a member alone does not answer', async () => !(await first.isHealthy()))
    await until('the others go on', async () => (await second.isHealthy()) && (await third.isHealthy()))
    await second.kill()
    await until('one of three does not answer', async () => !(await third.isHealthy()))
    await mend(first.host)
    second.start()
    third.freeze()
    await until('two of three go on', () => first.isHealthy())
    third.thaw()
    await etcd.healthy()
    await etcd.compact()
    const { kvs } = (await etcd.ask('/v3/kv/range', { key: btoa('/a') })) as { kvs: unknown[] }
    t.equal(kvs.length, 1, 'nothing is lost')
  },
)
