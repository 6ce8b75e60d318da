import t from 'tap'
import {
  checkHostInterface,
  podInterfaceFault,
} from '../../../../ipkeeper-server/network/plan/interface-name.ts'

t.test('names of links of the host', t => {
  for (const name of ['br0', 'B', '0', 'a23456789012345', 'eth0.5', 'wlp3s0_1', 'br-a']) {
    t.equal(checkHostInterface(name, 'bridge'), name)
  }
  const no = (name: string) => `"bridge": ${JSON.stringify(name)} is no name of an interface`
  for (const [name, message] of [
    ['', no('')],
    ['.', no('.')],
    ['.br0', no('.br0')],
    ['_br0', no('_br0')],
    ['-br0', no('-br0')],
    ['br%d', no('br%d')],
    ['br@0', no('br@0')],
    ['br0\n', no('br0\n')],
    ['bré', no('bré')],
    ['all', no('all')],
    ['default', no('default')],
    [
      'a234567890123456',
      '"bridge": interface name too long: "a234567890123456" has 16 bytes, 15 is the most',
    ],
    ['é'.repeat(8), `"bridge": interface name too long: "${'é'.repeat(8)}" has 16 bytes, 15 is the most`],
  ] as const) {
    t.throws(() => checkHostInterface(name, 'bridge'), { code: 'IPK_CONFIG_INVALID', message }, message)
  }
  t.end()
})

t.test("names of a pod's interface", t => {
  for (const name of ['eth0', 'net1', '0', 'a23456789012345', 'eth0.5', 'eth0@if5', 'a_b-c']) {
    t.equal(podInterfaceFault(name), undefined, name)
  }
  const narrow = 'interface name cannot be wired'
  for (const [name, message] of [
    ['', 'interface name is empty'],
    ['.', 'interface name is . or ..'],
    ['..', 'interface name is . or ..'],
    ['a234567890123456', 'interface name is too long'],
    ['é'.repeat(8), 'interface name is too long'],
    ['a b', 'interface name contains / or : or whitespace characters'],
    ['a/b', 'interface name contains / or : or whitespace characters'],
    ['eth0\n', 'interface name contains / or : or whitespace characters'],
    ['eth%d', narrow],
    ['-eth0', narrow],
    ['@eth0', narrow],
    ['.eth0', narrow],
    ['eth0"', narrow],
    ['eth0\\', narrow],
    ['eth0#', narrow],
    ['ethé', narrow],
    ['all', narrow],
    ['default', narrow],
  ] as const) {
    const fault = podInterfaceFault(name)
    t.equal(fault?.message, message, JSON.stringify(name))
    if (message === narrow) t.match(fault?.details, `CNI_IFNAME ${JSON.stringify(name)}: `)
  }
  t.end()
})
