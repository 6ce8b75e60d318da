import t from 'tap'
import { seeRoutes } from '../../../ipkeeper-server/network/ip-show.ts'
import { missing } from '../../rigs/requirements.ts'
import { makeSpot } from '../../rigs/spot.ts'
import { toolDouble } from '../../rigs/tool-double.ts'

t.test('routes of both families, as ip shortens them and as they are', async t => {
  const shown: Readonly<Record<string, readonly object[]>> = {
    '-4': [
      { dst: 'default', gateway: '10.22.0.1', dev: 'eth0' },
      { dst: '10.22.0.0/16', dev: 'eth0', prefsrc: '10.22.0.50' },
      { dst: '10.22.0.50', dev: 'eth0', table: '255', type: '2' },
      { dst: '192.0.2.0/24', table: '100', metric: 50 },
      { dst: '192.0.2.0/24', table: '101' },
      { dst: '198.51.100.0/24', table: '254' },
      { dst: '203.0.113.0/24', table: '253' },
    ],
    '-6': [
      { dst: 'default', gateway: 'fd00:22::1', metric: 1024 },
      { dst: 'fd00:22::50', metric: 256 },
      { dst: 'fd00:22::/64', table: '255' },
    ],
  }
  const { run, runs } = toolDouble(({ args }) => ({ stdout: JSON.stringify(shown[args[2] ?? '']) }))
  const route = (dst: string, gw: string | undefined, table: number, priority: number, dev?: string) => ({
    dst,
    gw,
    dev,
    table,
    priority,
  })
  t.strictSame(await seeRoutes(run, ['table', 'all'], 7), [
    route('0.0.0.0/0', '10.22.0.1', 254, 0, 'eth0'),
    route('10.22.0.0/16', undefined, 254, 0, 'eth0'),
    route('10.22.0.50/32', undefined, 255, 0, 'eth0'),
    route('192.0.2.0/24', undefined, 100, 50),
    route('192.0.2.0/24', undefined, 101, 0),
    route('198.51.100.0/24', undefined, 254, 0),
    route('203.0.113.0/24', undefined, 253, 0),
    route('::/0', 'fd00:22::1', 254, 1024),
    route('fd00:22::50/128', undefined, 254, 256),
    route('fd00:22::/64', undefined, 255, 0),
  ])
  t.strictSame(
    runs.map(({ args, inside }) => [...args, inside]),
    ['-4', '-6'].map(family => ['-json', '-N', family, 'route', 'show', 'table', 'all', 7]),
  )
})

t.test('no routes, and a link that is gone', async t => {
  t.strictSame(await seeRoutes(toolDouble(() => ({})).run, ['dev', 'ipk1']), [])
  const { run } = toolDouble(() => ({ exit: 1, stderr: 'Cannot find device "ipk1"\n' }))
  t.strictSame(await seeRoutes(run, ['dev', 'ipk1']), [])
})

t.test(
  'of a real pod, whatever the machine calls its tables and the pod its links',
  {
    skip: missing('namespaces'),
  },
  async t => {
    const pod = await makeSpot(t)
    const name = 'a\u0001"b'
    await pod.must('ip', ['link', 'add', name, 'type', 'veth', 'peer', 'name', 'v1'])
    for (const link of [name, 'v1']) await pod.must('ip', ['link', 'set', 'dev', link, 'up'])
    for (const words of [
      ['10.22.0.0/16', 'dev', name],
      ['default', 'via', '10.22.0.1', 'dev', name],
      ['192.0.2.0/24', 'dev', name, 'table', '100', 'metric', '7'],
      ['198.51.100.0/24', 'dev', name, 'table', 'default'],
      ['203.0.113.0/24', 'dev', name, 'table', '0'],
      ['fd00:22::/64', 'dev', name],
      ['fd00:23::/64', 'dev', name, 'table', '0', 'metric', '5'],
    ])
      await pod.must('ip', ['route', 'add', ...words])
    const seen = await seeRoutes(pod.run, ['table', 'all'], pod.fd)
    const of = (dst: string) => seen.filter(route => route.dst === dst && route.dev === name)
    for (const [dst, gw, table, priority] of [
      ['10.22.0.0/16', undefined, 254, 0],
      ['0.0.0.0/0', '10.22.0.1', 254, 0],
      ['192.0.2.0/24', undefined, 100, 7],
      ['198.51.100.0/24', undefined, 253, 0],
      ['203.0.113.0/24', undefined, 254, 0],
      ['fd00:22::/64', undefined, 254, 1024],
      ['fd00:23::/64', undefined, 254, 5],
    ] as const)
      t.strictSame(of(dst), [{ dst, gw, dev: name, table, priority }])
    t.notOk(seen.some(({ table }) => Number.isNaN(table)))
  },
)
