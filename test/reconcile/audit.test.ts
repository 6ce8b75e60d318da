/** `ipkeeperctl audit` as a person or a program calls it. */
import t from 'tap'
import type { AuditReply } from '../../shared/api/audit.schema.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { makeWiredNode } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

t.test('ipkeeperctl audit', { skip, timeout: 60_000 }, async t => {
  const configuration = { reconcile: { interval: '1s', minAge: '1s', minAgeUnproved: '1s', mode: 'report' } }
  const node = await makeWiredNode(t, { settings: { mode: 'bridge' }, configuration })
  const [lives, lost] = [await node.pod({ name: 'lives' }), await node.pod({ name: 'lost' })]
  await lives.add()
  await lost.add()
  const audit = (...words: readonly string[]) => node.daemon().control('audit', ...words)

  await t.test('nothing is wrong', async t => {
    const { exit, stdout, stderr } = await audit()
    t.same([exit, stderr], [0, ''])
    t.match(stdout, /^ASKED +STATE +SAYS\nruntime +absent/)
    t.match(stdout, /\nnetwork namespaces +asked +2 looked at\n/)
    t.match(stdout, /: 2 attachments, no findings\n$/)
  })

  await t.test('a foreign link is worth a note, and no failure', async t => {
    await node.host.must('ip', ['link', 'add', 'veth7', 'type', 'veth', 'peer', 'name', 'veth8'])
    const { exit, stdout } = await audit()
    t.equal(exit, 0)
    t.match(stdout, /note: veth veth7 of another program has a peer that is down \[foreign-link\]\n {2}why: /)
    await node.host.must('ip', ['link', 'delete', 'veth7'])
  })

  await t.test('something is wrong, and only told', async t => {
    await lost.namespace.delete()
    const reply = async (): Promise<AuditReply> =>
      JSON.parse((await audit('-o', 'json')).stdout) as AuditReply
    await until('it is old enough', async () => (await reply()).findings[0]?.state === 'due')
    t.match(await reply(), {
      mode: 'report',
      attachments: 2,
      findings: [
        {
          ...{ kind: 'lease-without-sandbox', state: 'due', action: 'end-attachment', pod: 'shop/lost' },
          ...{ containerId: lost.containerId, ifname: 'eth0', network: 'fixed', link: /^ipk/ },
        },
      ],
    })
    const { exit, stdout, stderr } = await audit()
    t.same([exit, stderr], [1, ''])
    t.match(stdout, /warning: shop\/lost .* is gone, and no DEL has come for it \[lease-without-sandbox\]\n/)
    t.match(stdout, /\n {2}plan: end it, if the mode were repair\n {2}fix: set reconcile\.mode to repair\n/)
    t.match(stdout, /: 2 attachments, 1 finding; mode report\n$/)
    t.equal((await audit('-o', 'json')).exit, 1)
    t.equal(new Set((await node.daemon().boundLeases()).map(({ containerId }) => containerId)).size, 2)
  })

  await t.test('called wrongly, and without a daemon', async t => {
    t.equal((await audit('everything')).exit, 2)
    t.match(await audit('--help'), { exit: 0, stdout: /Example.*\n? *ipkeeperctl audit/is })
    await node.daemon().stop()
    const { exit, stderr } = await audit()
    t.equal(exit, 1)
    t.match(stderr, node.daemon().socket)
  })
})
