import t from 'tap'
import { checkConfigLine } from '../../shared/check-config-line.ts'

t.test('the socket is named where it is not the usual one', t => {
  const path = '/etc/ipkeeper/config.yaml'
  for (const [socket, line] of [
    ['/run/ipkeeper/ipkeeper.sock', ['ipkeeper-server', 'check-config', path]],
    ['/run/lab.sock', ['ipkeeper-server', 'check-config', path, '--socket', '/run/lab.sock']],
  ] as const)
    t.strictSame(checkConfigLine(path, socket), line)
  t.end()
})
