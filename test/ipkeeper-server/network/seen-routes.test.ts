import t from 'tap'
import { seeRoutes } from '../../../ipkeeper-server/network/seen-routes.ts'
import { toolDouble } from '../../rigs/tool-double.ts'

t.test('routes of both families, as ip shortens them and as they are', async t => {
  const shown: Readonly<Record<string, readonly object[]>> = {
    '-4': [
      { dst: 'default', gateway: '10.22.0.1', dev: 'eth0' },
      { dst: '10.22.0.0/16', dev: 'eth0', prefsrc: '10.22.0.50' },
      { dst: '10.22.0.50', dev: 'eth0', table: 'local', type: 'local' },
      { dst: '192.0.2.0/24', table: '100', metric: 50 },
      { dst: '192.0.2.0/24', table: 101 },
      { dst: '198.51.100.0/24', table: 'main' },
      { dst: '203.0.113.0/24', table: 'default' },
    ],
    '-6': [
      { dst: 'default', gateway: 'fd00:22::1', metric: 1024 },
      { dst: 'fd00:22::50', metric: 256 },
      { dst: 'fd00:22::/64', table: 'local' },
    ],
  }
  const { run, runs } = toolDouble(({ args }) => ({ stdout: JSON.stringify(shown[args[1] ?? '']) }))
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
    ['-4', '-6'].map(family => ['-json', family, 'route', 'show', 'table', 'all', 7]),
  )
})

t.test('no routes, and a link that is gone', async t => {
  t.strictSame(await seeRoutes(toolDouble(() => ({})).run, ['dev', 'ipk1']), [])
  const { run } = toolDouble(() => ({ exit: 1, stderr: 'Cannot find device "ipk1"\n' }))
  t.strictSame(await seeRoutes(run, ['dev', 'ipk1']), [])
})
