/**
 * Machines beside the pods: where there are any, it is asked first who has an address, and they are believed. Pods of the
 * node are not: one that answers for everything is told of, and others get their addresses.
 */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { AuditReply } from '../../shared/api/audit.schema.ts'
import { findProgram } from '../rigs/find-program.ts'
import { logs } from '../rigs/logs.ts'
import { until } from '../rigs/poll.ts'
import { startPrivateHost } from '../rigs/private-host.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import {
  addressOf,
  makeWiredNode,
  startWiredNode,
  type Settings,
  type WiredNode,
  type WiredPod,
} from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'arping', 'executables')

const modes: Readonly<Record<string, { readonly settings: Settings; readonly bridge: string }>> = {
  bridge: { settings: { mode: 'bridge' }, bridge: 'ipk0' },
  underlay: { settings: { mode: 'underlay', uplink: 'up0', isGateway: true }, bridge: 'ipkul0' },
}

const batch = async ({ host }: WiredNode, ...lines: readonly string[]): Promise<void> => {
  await host.must('ip', ['-batch', '-'], { input: `${lines.join('\n')}\n` })
}

async function makeSite(t: Test, settings: Settings): Promise<WiredNode> {
  const node = await makeWiredNode(t, { settings })
  await batch(node, 'link add up0 type veth peer name up1', 'link set up0 up', 'link set up1 up')
  return node
}

/** A machine on the bridge, such as a VM: it has 10.22.0.3 and fd00:22::3. */
async function plugIn(node: WiredNode, bridge: string): Promise<void> {
  await node.host.must('ip', ['netns', 'add', 'vm'])
  await batch(node, 'link add vm0 type veth peer name eth0 netns vm', `link set vm0 master ${bridge} up`)
  const inside = [
    'link set eth0 address 02:00:00:00:00:99',
    'link set eth0 up',
    'address add 10.22.0.3/16 dev eth0',
    'address add fd00:22::3/64 dev eth0 nodad',
  ]
  await node.host.must('ip', ['-n', 'vm', '-batch', '-'], { input: `${inside.join('\n')}\n` })
}

const both = async (pod: WiredPod): Promise<string> => {
  const result = await pod.add()
  return `${addressOf(result, 4)} ${addressOf(result, 6)}`
}

const findingsOf = async (node: WiredNode): Promise<AuditReply['findings']> => {
  const { stdout } = await node.daemon().control('audit', '-o', 'json')
  return (JSON.parse(stdout) as AuditReply).findings.filter(({ kind }) => kind === 'false-answer')
}

for (const [mode, { settings, bridge }] of Object.entries(modes)) {
  t.test(`mode ${mode}`, { skip }, async t => {
    const node = await makeSite(t, settings)
    const first = await node.pod({ name: 'first' })
    t.equal(await both(first), '10.22.0.2 fd00:22::2')
    await plugIn(node, bridge)

    await t.test('a machine that has an address keeps it', async t => {
      const named = await node.pod({ annotations: { 'ipkeeper.io/ip': '10.22.0.3' } })
      t.match(await named.fails('ADD'), {
        code: 144,
        msg: /02:00:00:00:00:99 on the network has 10\.22\.0\.3/,
      })
      await named.del()
      const pod = await node.pod()
      t.equal(await both(pod), '10.22.0.4 fd00:22::4', 'it is put aside')
      t.equal(
        addressOf(await (await node.pod()).add({ settings: { duplicateProbe: false } }), 4),
        '10.22.0.5',
      )
    })

    await t.test('a pod that answers for all is not believed', async t => {
      // The kernel answers for whatever is local, which is the whole range from now on.
      const liar = first.namespace.name
      const lies = ['route add local 10.22.0.0/16 dev lo']
      for (let number = 6; number < 10; number++)
        lies.push(`address add fd00:22::${number}/64 dev eth0 nodad`)
      await node.host.must('ip', ['-n', liar, '-batch', '-'], { input: `${lies.join('\n')}\n` })
      const pod = await node.pod()
      t.equal(await both(pod), '10.22.0.6 fd00:22::6')
      t.same([...(await pod.namespace.addresses('eth0'))].sort(), ['10.22.0.6/16', 'fd00:22::6/64'])

      // Under the MAC of the machine, as a pod may write any into its frames.
      await node.host.must('ip', ['-n', liar, 'link', 'set', 'dev', 'eth0', 'address', '02:00:00:00:00:99'])
      t.equal(await both(await node.pod()), '10.22.0.7 fd00:22::7')

      const [found] = await findingsOf(node)
      t.match(found, {
        severity: 'error',
        state: 'reported',
        pod: 'shop/first',
        address: '10.22.0.2/16, fd00:22::2/64',
      })
      t.match(found?.says, /shop\/first .* answered for 10\.22\.0\.7, fd00:22::7, and 1 time before/)
      await logs(t, node.daemon(), /a pod answered for addresses that it was not given/)
      const page = (await node.daemon().ask('GET', '/metrics')).body
      t.match(page, /^ipkeeper_false_answers_total\S* 2$/m)
      const tables = await node.host.must('nft', ['list', 'tables', 'bridge'])
      t.equal(tables.trim(), '', 'no rule stays')
      await first.del()
      t.same(await findingsOf(node), [], 'nothing is said of a pod that is gone')
    })

    await t.test('a pod that looks for an address does not claim it', async t => {
      const seeker = await node.pod({ name: 'seeker' })
      await seeker.add()
      const pod = await node.pod({ annotations: { 'ipkeeper.io/ip': '10.22.0.50,fd00:22::50' } })
      const ended = new AbortController()
      const added = both(pod).finally(() => {
        ended.abort()
      })
      const look = ['10.22.0.50', 'fd00:22::50'].map(
        address => `neighbour replace ${address} dev eth0 nud none use`,
      )
      while (!ended.signal.aborted) {
        await node.host.must('ip', ['-n', seeker.namespace.name, '-batch', '-'], {
          input: `${look.join('\n')}\n`,
        })
        await delay(100)
      }
      t.equal(await added, '10.22.0.50 fd00:22::50')
      t.same(await findingsOf(node), [])
    })

    if (mode !== 'bridge') return
    await t.test('what a daemon that was killed has left of rules goes, and nothing else', async t => {
      const now = Math.floor(Number(process.hrtime.bigint()) / 1e9)
      const others = [`ipkeeper-probe-ipk0123456789ab-${now}`, 'other']
      const left = ['ipkeeper-probe-ipk0123456789ab', `ipkeeper-probe-ipk0123456789ab-${now - 90}`]
      await node.daemon().stop('SIGKILL')
      for (const name of [...others, ...left]) await node.host.must('nft', ['add', 'table', 'bridge', name])
      await node.startDaemon()
      await node.pod().then(pod => pod.add())
      const tables = await node.host.must('nft', ['list', 'tables', 'bridge'])
      t.equal(tables.trim(), others.map(name => `table bridge ${name}`).join('\n'))
      for (const name of others) await node.host.must('nft', ['delete', 'table', 'bridge', name])
    })
  })
}

t.test('a daemon that begins to ask takes no rules from another one that is at it', { skip }, async t => {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const start = (bridge: string, subnet: string): Promise<WiredNode> =>
    startWiredNode(host, {
      ...{ folder, settings: { mode: 'bridge', bridge, duplicateProbe: true } },
      ipam: { ranges: [[{ subnet }]] },
    })
  const [one, two] = [await start('one0', '10.22.0.0/16'), await start('two0', '10.23.0.0/16')]
  // Nobody has to be kept from answering yet.
  for (const node of [one, two]) await node.pod().then(pod => pod.add())
  const added = one.pod().then(pod => pod.add())
  await until('it asks', async () =>
    (await host.must('nft', ['list', 'tables', 'bridge'])).includes('ipkeeper-probe-'),
  )
  await two.pod().then(pod => pod.add())
  await added
  t.notMatch(one.daemon().log(), /cannot be kept from answering/)
})

t.test('a node does not answer itself when it asks', { skip }, async t => {
  const node = await makeWiredNode(t, { settings: { mode: 'bridge', isGateway: true, duplicateProbe: true } })
  await (await node.pod()).add()
  await node.host.must('tee', ['/proc/sys/net/ipv6/conf/ipk0/proxy_ndp'], { input: '1' })
  // As for pods of other nodes, until it is heard that they have moved here.
  const answerFor = (address: string, ...marks: readonly string[]): Promise<void> =>
    batch(node, ['neighbour add proxy', address, 'dev ipk0', ...marks].join(' '))
  await answerFor('fd00:22::50', 'protocol 147')
  await answerFor('fd00:22::51')
  const named = (address: string): Promise<WiredPod> =>
    node.pod({ annotations: { 'ipkeeper.io/ip': address } })
  t.equal(addressOf(await (await named('fd00:22::50')).add(), 6), 'fd00:22::50')
  // Whoever told it otherwise knows why.
  t.match(await (await named('fd00:22::51')).fails('ADD'), { code: 144 })
})

t.test('nobody is asked among pods alone', { skip }, async t => {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const asked = folder.file('asked')
  writeFileSync(asked, '')
  writeFileSync(
    folder.file('arping'),
    `#!/bin/sh\necho "$*" >>${asked}\nexec ${findProgram('arping') ?? ''} "$@"\n`,
  )
  chmodSync(folder.file('arping'), 0o755)
  const env = { PATH: `${folder.path}:/usr/sbin:/usr/bin:/sbin:/bin` }
  const node = await startWiredNode(host, { folder, settings: { mode: 'bridge' }, env })
  await (await node.pod()).add()
  await (await node.pod()).add()
  t.equal(readFileSync(asked, 'utf8'), '')
  await plugIn(node, 'ipk0')
  await (await node.pod()).call('ADD')
  t.match(readFileSync(asked, 'utf8'), /^-D .* 10\.22\.0\.4$/m, 'once there is another machine')
})

t.test('mode macvlan: a pod is known by its MAC', { skip }, async t => {
  const node = await makeSite(t, { mode: 'macvlan', uplink: 'up0' })
  const liar = await node.pod({ name: 'liar' })
  t.equal(await both(liar), '10.22.0.2 fd00:22::2')
  await node.host.must('ip', ['-n', liar.namespace.name, '-batch', '-'], {
    input: 'route add local 10.22.0.0/16 dev lo\naddress add fd00:22::3/64 dev eth0 nodad\n',
  })
  const pod = await node.pod()
  t.equal(await both(pod), '10.22.0.3 fd00:22::3')
  t.same([...(await pod.namespace.addresses('eth0'))].sort(), ['10.22.0.3/16', 'fd00:22::3/64'])
  await until('it is told', async () => (await findingsOf(node)).length === 1)
  const [found] = await findingsOf(node)
  t.match(found, { pod: 'shop/liar' })
})
