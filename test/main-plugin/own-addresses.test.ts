/** Addresses that the node has, on whichever link, are given to nobody: by the packaged executables, in both roles. */
import t from 'tap'
import { missing } from '../rigs/requirements.ts'
import { addUplink, wiredModes } from '../rigs/wired-modes.ts'
import { addressOf, makeWiredNode, type CallOptions, type Settings } from '../rigs/wired-node.ts'

/** The IPAM role, under any parent; it wires nothing. */
const delegate: Settings = { type: 'bridge', bridge: 'cni0' }

const roles: Readonly<Record<string, { readonly settings: Settings; readonly skip: false | string }>> = {
  ...wiredModes,
  'the IPAM role': { settings: delegate, skip: missing('namespaces', 'executables') },
}

for (const [role, { settings, skip }] of Object.entries(roles)) {
  t.test(role, { skip }, async t => {
    const node = await makeWiredNode(t, { settings })
    const { host } = node
    await addUplink(node)
    const get = async (options: CallOptions = {}): Promise<string> => {
      const pod = await node.pod(options)
      const result = await pod.add()
      return `${addressOf(result, 4)} ${addressOf(result, 6)}`
    }
    t.equal(await get(), '10.22.0.2 fd00:22::2')
    // A second pod comes at once after the change, and no earlier look is old.
    const own = [
      'address add 10.22.0.3/32 dev lo',
      'link add vip0 type bridge',
      'address add 10.22.0.4/24 dev vip0',
      'address add 10.22.0.6/16 dev up1',
      'address add fd00:22::3/64 dev up1 nodad',
      'address add fd00:22::5/128 dev lo',
    ]
    await host.must('ip', ['-batch', '-'], { input: `${own.join('\n')}\n` })
    t.equal(await get(), '10.22.0.5 fd00:22::4')
    t.equal(await get(), '10.22.0.7 fd00:22::6')

    for (const [ip, link] of [
      ['10.22.0.4', 'vip0'],
      ['fd00:22::5', 'lo'],
    ] as const) {
      const pod = await node.pod({ annotations: { 'ipkeeper.io/ip': ip } })
      const { code, msg } = await pod.fails('ADD')
      t.equal(code, 148)
      t.match(msg, new RegExp(`asks for ${ip}, but node \\S+ has it itself, on link ${link}`))
      await pod.del()
    }
    const asked = { namespace: 'shop', name: 'next', config: node.config() }
    const { steps } = JSON.parse((await node.daemon().ask('POST', '/v1/explain', asked)).body) as {
      readonly steps: readonly { readonly subject: string; readonly text: string }[]
    }
    t.match(
      steps.find(({ subject }) => subject === '10.22.0.4'),
      { text: 'the node has it itself, on link vip0' },
      'explained',
    )
    t.equal((await node.daemon().boundLeases()).length, 6)

    await host.must('ip', ['address', 'delete', '10.22.0.4/24', 'dev', 'vip0'])
    t.match(await get({ annotations: { 'ipkeeper.io/ip': '10.22.0.4' } }), /^10\.22\.0\.4 /)
    t.equal(await get(), '10.22.0.8 fd00:22::8')
    t.notMatch(node.daemon().log(), /are read for each ADD/)
  })
}
