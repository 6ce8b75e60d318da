import { existsSync } from 'node:fs'
import t from 'tap'
import { routerGuardSysctls } from '../../../ipkeeper-server/network/pod-router-guard.ts'

t.test('an interface that could have IPv6 takes none of a router', t => {
  const some = existsSync('/proc/sys/net/ipv6/conf')
    ? [{ key: 'net/ipv6/conf/eth0/accept_ra', value: '0' }]
    : []
  t.strictSame(routerGuardSysctls('eth0', 1280), some)
  t.strictSame(routerGuardSysctls('eth0', 1279), [], 'the kernel has no such file for it')
  t.end()
})
