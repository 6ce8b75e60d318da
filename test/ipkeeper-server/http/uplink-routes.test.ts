import t from 'tap'
import type { UplinkItem, UplinksReply } from '../../../shared/api/uplink.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { openLeaseApp } from '../../rigs/served-leases.ts'

const item: UplinkItem = {
  ...{ bridge: 'ipkul0', uplink: 'eth1', state: 'joined', since: '2026-01-02T03:04:05.000Z', made: true },
  ...{ addresses: ['10.30.0.11/24'], routes: 2, ports: [] },
}

t.test('the uplinks, and their return', async t => {
  const asked: string[] = []
  const { app } = await openLeaseApp(t, {
    parts: {
      uplinks: {
        list: () => Promise.resolve([item]),
        restore: bridge => {
          asked.push(bridge)
          return bridge === item.bridge
            ? Promise.resolve(item)
            : Promise.reject(new Problem('IPK_UPLINK_IN_USE', 'bridge has pods', { details: 'ipk1' }))
        },
      },
    },
  })
  const post = async (bridge: string) =>
    await app.inject({ method: 'POST', url: `/v1/uplinks/${bridge}/restore` })

  t.same((await app.inject({ url: '/v1/uplinks' })).json(), { uplinks: [item] })
  t.same((await post('ipkul0')).json(), { restored: item })
  const refused = await post('br0')
  t.equal(refused.statusCode, 409)
  t.match(refused.json(), { code: 'IPK_UPLINK_IN_USE', details: 'ipk1', hint: /ipkeeperctl uplinks/ })
  t.equal((await post('x'.repeat(65))).statusCode, 400)
  t.equal((await app.inject({ url: '/v1/uplinks/ipkul0/restore' })).statusCode, 404, 'GET changes nothing')
  t.same(asked, ['ipkul0', 'br0'])
})

t.test('which uplinks, in which order, and how many', async t => {
  const items: readonly UplinkItem[] = [
    { ...item, bridge: 'ipkul1', uplink: 'eth2' },
    { ...item, since: '2026-01-01T00:00:00.000Z' },
    { ...item, bridge: 'ipkul2', uplink: 'eth0', state: 'unfinished' },
  ]
  const restore = () => Promise.reject(new Problem('IPK_UPLINK_UNKNOWN', 'none'))
  const uplinks = { list: () => Promise.resolve([...items]), restore }
  const { app } = await openLeaseApp(t, { parts: { uplinks } })
  for (const [query, bridges, more] of [
    ['', ['ipkul0', 'ipkul1', 'ipkul2'], undefined],
    ['?bridge=ipkul1', ['ipkul1'], undefined],
    ['?uplink=eth0', ['ipkul2'], undefined],
    ['?uplink=eth9', [], undefined],
    ['?sort=uplink&limit=2', ['ipkul2', 'ipkul0'], 1],
    ['?sort=since&limit=1', ['ipkul0'], 2],
    ['?sort=state', ['ipkul2', 'ipkul1', 'ipkul0'], undefined],
  ] as const) {
    const reply = (await app.inject({ url: `/v1/uplinks${query}` })).json<UplinksReply>()
    t.strictSame([reply.uplinks.map(({ bridge }) => bridge), reply.more], [bridges, more], query)
  }
  t.match((await app.inject({ url: '/v1/uplinks?node=n1' })).json(), {
    message: 'request refused: the query has an unknown key "node"',
  })
})
