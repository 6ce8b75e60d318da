import t from 'tap'
import { connectDaemon } from '../../../../ipkeeper-server/cli/framework/daemon-client.ts'
import { isOlder } from '../../../../ipkeeper-server/cli/framework/older-daemon.ts'
import { serveLeases } from '../../../rigs/served-leases.ts'

t.test('which version is older', t => {
  for (const [version, than, older] of [
    ['0.1.0', '0.2.0', true],
    ['0.9.9', '0.10.0', true],
    ['1.0.0', '0.9.0', false],
    ['0.2.0', '0.2.0', false],
    ['0.2.0-rc.1', '0.2.0', false],
    ['', '0.2.0', false],
    ['0.1', '0.2.0', false],
  ] as const)
    t.equal(isOlder(version, than), older, `${version} ${than}`)
  t.end()
})

t.test('what a daemon does not know', async t => {
  const { socket } = await serveLeases(t, { facts: { version: '0.2.0' } })
  const told = (own: string): string =>
    `the daemon (0.2.0) is older than this ipkeeperctl (${own}), and does not know what it was asked`
  for (const [own, path, problem] of [
    [
      '0.3.0',
      '/v1/nodes?colour=red',
      {
        ...{ code: 'IPK_REQUEST_INVALID', message: told('0.3.0'), hint: 'systemctl restart ipkeeper' },
        details: 'request refused: the query has an unknown key "colour"',
      },
    ],
    ['1.0.0', '/v1/colours', { code: 'IPK_ROUTE_UNKNOWN', message: told('1.0.0') }],
    ['0.2.0', '/v1/nodes?colour=red', { message: 'request refused: the query has an unknown key "colour"' }],
    ['0.1.0', '/v1/colours', { message: 'no GET /v1/colours' }],
    ['0.3.0', '/v1/leases?namespace=a&pod=b/c', { message: 'pod b/c is not in namespace a' }],
  ] as const) {
    const daemon = connectDaemon(socket, own)
    await t.rejects(daemon.ask('GET', path), problem, `${own} ${path}`)
    await daemon.close()
  }
})
