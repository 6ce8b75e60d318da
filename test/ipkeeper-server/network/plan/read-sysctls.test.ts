import t from 'tap'
import { readSysctls, sysctlsOf } from '../../../../ipkeeper-server/network/plan/read-sysctls.ts'

t.test('names with dots or slashes, values as texts or whole numbers', t => {
  for (const [name, value, key, text] of [
    ['net.core.somaxconn', 1024, 'net/core/somaxconn', '1024'],
    ['net/core/somaxconn', '1024', 'net/core/somaxconn', '1024'],
    ['net.ipv4.ip_local_port_range', '1024 65535', 'net/ipv4/ip_local_port_range', '1024 65535'],
    ['net.ipv4.ip_local_port_range', '1024\t65535', 'net/ipv4/ip_local_port_range', '1024\t65535'],
    ['net.ipv4.ip_local_reserved_ports', '', 'net/ipv4/ip_local_reserved_ports', ''],
    ['net.ipv4.conf.IFNAME.arp_filter', 1, 'net/ipv4/conf/IFNAME/arp_filter', '1'],
    ['net.ipv4.conf.eth0-1.rp_filter', -1, 'net/ipv4/conf/eth0-1/rp_filter', '-1'],
    ['net.core.somaxconn', 'x'.repeat(256), 'net/core/somaxconn', 'x'.repeat(256)],
  ] as const) {
    t.strictSame(readSysctls({ sysctl: { [name]: value } }), [{ key, value: text }], name)
  }
  t.strictSame(readSysctls({}), [])
  t.strictSame(readSysctls({ sysctl: { 'net.core.somaxconn': null } }), [], 'null is absent')
  t.strictSame(
    readSysctls({ sysctl: { 'net.b.c': 1, 'net.a.c': 2 } }).map(({ key }) => key),
    ['net/b/c', 'net/a/c'],
    'in their order',
  )
  t.end()
})

t.test('what is refused', t => {
  const noName = 'no name of a kernel setting'
  const noValue = 'is no value of a kernel setting'
  for (const [name, value, message] of [
    ['kernel.msgmax', 1, 'only settings below net can be set'],
    ['vm/overcommit_memory', 1, 'only settings below net can be set'],
    ['Net.core.somaxconn', 1, 'only settings below net can be set'],
    ['network.core', 1, 'only settings below net can be set'],
    ['net', 1, 'only settings below net can be set'],
    ['', 1, noName],
    ['net.', 1, noName],
    ['.net.core', 1, noName],
    ['/net/core', 1, noName],
    ['net/../kernel/msgmax', 1, noName],
    ['net/./core', 1, noName],
    ['net..core', 1, noName],
    ['net//core', 1, noName],
    ['net.ipv4/conf.eth0', 1, noName],
    ['net/ipv4/conf/eth0.5/rp_filter', 1, noName],
    ['net.core.so maxconn', 1, noName],
    ['net.core.somaxconn\n', 1, noName],
    [`net.${'a'.repeat(253)}`, 1, noName],
    ['net.core.somaxconn', 1.5, `1.5 ${noValue}`],
    ['net.core.somaxconn', true, `true ${noValue}`],
    ['net.core.somaxconn', ['1'], `an array ${noValue}`],
    ['net.core.somaxconn', '1\n2', `"1\\n2" ${noValue}`],
    ['net.core.somaxconn', '1\0', `"1\\u0000" ${noValue}`],
    ['net.core.somaxconn', 'é', `"é" ${noValue}`],
    ['net.core.somaxconn', 'x'.repeat(257), `"${'x'.repeat(200)}..." ${noValue}`],
  ] as const) {
    const shown = name.length > 200 ? `${name.slice(0, 200)}...` : name
    t.throws(
      () => readSysctls({ sysctl: { [name]: value } }),
      { code: 'IPK_CONFIG_INVALID', message: `"sysctl.${shown}": ${message}` },
      JSON.stringify([name, value]),
    )
  }
  t.throws(() => readSysctls({ sysctl: { 'net.core.somaxconn': 1, 'net/core/somaxconn': 2 } }), {
    code: 'IPK_CONFIG_INVALID',
    message: '"sysctl.net/core/somaxconn": net/core/somaxconn is given twice',
    hint: /the same setting/,
  })
  t.end()
})

t.test("IFNAME as a whole part is the pod's interface", t => {
  const sysctls = readSysctls({
    sysctl: { 'net.ipv4.conf.IFNAME.arp_filter': 1, 'net.core.IFNAMES': 2, 'net.core.ifname': 3 },
  })
  t.strictSame(sysctlsOf(sysctls, 'eth0.5'), [
    { key: 'net/ipv4/conf/eth0.5/arp_filter', value: '1' },
    { key: 'net/core/IFNAMES', value: '2' },
    { key: 'net/core/ifname', value: '3' },
  ])
  t.end()
})
