/** Who had an address, asked on one node of what another one did: by the packaged executables on a real etcd. */
import t from 'tap'
import { setTimeout as delay } from 'node:timers/promises'
import type { HistoryReply } from '../../shared/api/address.schema.ts'
import { startEtcdCluster } from '../rigs/etcd.ts'
import { makeMachine, type Machine } from '../rigs/machine.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const config = { kubernetes: { mode: 'off' }, reconcile: { minAge: '365d' }, cooldown: '1s' }
const address = '10.22.0.50'

async function ask(machine: Machine, line: string): Promise<HistoryReply> {
  const { stdout } = await machine.daemon().control('history', ...line.split(' '), '-o', 'json')
  return JSON.parse(stdout) as HistoryReply
}

const told = ({ history }: HistoryReply): string[] =>
  history.filter(({ state }) => state === 'bound').map(({ pod, node }) => `${pod?.name} on ${node}`)

t.test('history over the cluster', { skip: missing('namespaces', 'executables', 'etcd') }, async t => {
  const folder = tempFolder(t)
  const etcd = await startEtcdCluster(t)
  const machine = (): Machine => makeMachine(t, { folder, config, store: `etcd:${etcd.urls.join(',')}` })
  const [first, second] = [machine(), machine()]
  await first.start('n1')
  await second.start('n2')

  const a = await first.pod('a', address, 'release')
  t.equal(await a.add(), address)
  const duringA = new Date().toISOString()
  await delay(5)
  await a.del()
  const b = await second.pod('b', address, 'release')
  await until('the address of a pod that has gone', async () => (await b.add()) === address)

  t.test('another node is asked as this one is', async t => {
    await until('what n1 has recorded', async () => told(await ask(second, address)).length === 2)
    t.strictSame(told(await ask(second, address)), ['b on n2', 'a on n1'])
    t.strictSame(told(await ask(second, `${address} --at ${duringA}`)), ['a on n1'])
    t.strictSame(told(await ask(second, '--pod shop/a')), ['a on n1'])
    t.strictSame(told(await ask(second, '-n shop')), ['b on n2', 'a on n1'])
    t.match((await ask(second, address)).history[2], { ended: 'deleted' })
    const { coverage } = await ask(second, address)
    t.match(coverage, [
      { node: 'n1', to: null },
      { node: 'n2', to: null },
    ])
  })

  t.test('a node that is gone for ever leaves what it has recorded', async t => {
    await first.stop('SIGKILL')
    t.strictSame(told(await ask(second, `${address} --at ${duringA}`)), ['a on n1'])
    await second.stop('SIGKILL')
    await second.start('n2')
    t.strictSame(told(await ask(second, `${address} --at ${duringA}`)), ['a on n1'], 'after a restart here')
  })

  t.test('what was before is not known, and nobody is no answer to it', async t => {
    const { history, notKnown } = await ask(second, `${address} --at 2020-01-01`)
    t.strictSame(history, [])
    t.match(notKnown, [/^not known before \S+: the history of node n[12] begins then$/])
    const { stdout } = await second.daemon().control('history', address, '--at', '2020-01-01')
    t.match(stdout, /^no record of anybody who had it\nnot known before /)
  })

  t.test('while the engine is away, this node tells what it knows, and what it does not', async t => {
    await etcd.members[0]?.kill()
    const { history, notKnown } = await ask(second, address)
    t.strictSame(told({ history, coverage: [], notKnown }), ['b on n2'])
    t.match(notKnown, [/^not known of other nodes: what they have recorded cannot be read \(/])
  })
})
