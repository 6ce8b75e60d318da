/** What a program of a killed daemon makes too late for the next one's undo goes soon after the start. */
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { makeWiredNode } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

interface LinkShown {
  readonly ifname: string
}

t.test('links of the host after a start', { skip, timeout: 120_000 }, async t => {
  const node = await makeWiredNode(t, { settings: { mode: 'bridge', ipMasq: true } })
  const { host } = node
  const veths = async (): Promise<readonly string[]> => {
    const shown = await host.must('ip', ['-json', 'link', 'show', 'type', 'veth'])
    return (JSON.parse(shown || '[]') as readonly LinkShown[]).map(({ ifname }) => ifname).sort()
  }
  const make = async (name: string, alias?: string): Promise<void> => {
    await host.must('ip', ['link', 'add', name, 'type', 'veth', 'peer', 'name', `p${name.slice(-12)}`])
    await host.must('ip', ['link', 'set', 'dev', `p${name.slice(-12)}`, 'netns', 'elsewhere'])
    if (alias !== undefined) await host.must('ip', ['link', 'set', 'dev', name, 'alias', alias])
    await host.must('ip', ['link', 'set', 'dev', name, 'up'])
  }
  await host.must('ip', ['netns', 'add', 'elsewhere'])
  const pod = await node.pod()
  await pod.add()
  const ofRecord = await veths()
  t.equal(ofRecord.length, 1)
  // Its pod is idle, and so has no carrier: the record is what keeps it.
  await host.must('ip', ['-n', pod.namespace.name, 'link', 'set', 'eth0', 'down'])
  await node.daemon().stop('SIGKILL')
  await make('ipk0000000000a1', 'ipkeeper fixed c1 eth0')
  await make('ipk0000000000a2')
  await make('ipk0000000000b1', 'of somebody else')
  await make('veth00000000b2', 'ipkeeper fixed c1 eth0')
  await make('ipk0000000000b3', 'ipkeeper fixed c2 eth0')
  await host.must('ip', ['-n', 'elsewhere', 'link', 'set', 'p0000000000b3', 'up'])
  const left = [...ofRecord, 'ipk0000000000b1', 'ipk0000000000b3', 'veth00000000b2'].sort()

  const started = performance.now()
  const daemon = await node.startDaemon()
  await until('the first look', async () => (await veths()).join() === left.join())
  // As by a program that was slow to begin.
  await make('ipk0000000000a3', 'ipkeeper fixed c1 eth0')
  await until('the second look', async () => (await veths()).join() === left.join())
  t.ok(performance.now() - started < 15_000)
  // The kernel takes a link out of its lists before `ip` ends.
  const told = (): readonly string[] => daemon.log().match(/(?<="link":"ipk0000000000)\w+/g) ?? []
  await until('the last line', () => told().length === 3)
  t.same(told().toSorted(), ['a1', 'a2', 'a3'], 'one line each')

  await make('ipk0000000000a4', 'ipkeeper fixed c1 eth0')
  await delay(Math.max(0, started + 17_000 - performance.now()))
  t.same(await veths(), [...left, 'ipk0000000000a4'].sort(), 'later nobody looks')
  await pod.del()
  t.same(await veths(), ['ipk0000000000a4', ...left.filter(name => !ofRecord.includes(name))].sort())
})
