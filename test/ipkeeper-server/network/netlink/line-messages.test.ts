import t from 'tap'
import { linkQuery, readLine } from '../../../../ipkeeper-server/network/netlink/line-messages.ts'
import { encodeMessage } from '../../../../ipkeeper-server/network/netlink/route-message.ts'
import type { Command } from '../../../../ipkeeper-server/network/plan/command.ts'
import { wiringCommands } from '../../../../ipkeeper-server/network/plan/plan-wiring.ts'
import { sampleJob } from '../plan/sample-job.ts'

const read = (line: string) => readLine(line.split(' '), 9)

/** Without the header that all messages have. */
const bodyOf = (line: string): string => {
  const message = read(line)?.message(name => ({ a: 5, b: 6 })[name] ?? 0)
  return message ? Buffer.from(encodeMessage(message, 1).subarray(16)).toString('hex') : 'left to ip'
}

t.test('messages', t => {
  const up = '00000000 05000000 01000000 01000000'
  for (const [line, ...parts] of [
    ['link set dev a up', up],
    ['link set dev a down', '00000000 05000000 00000000 01000000'],
    ['link set dev a mtu 1400', '00000000 05000000 00000000 00000000', '0800 0400 78050000'],
    ['link set dev a alias x master b up', up, '0800 0a00 06000000', '0500 1400 78000000'],
    ['link set dev a group 7', '00000000 05000000 00000000 00000000', '0800 1b00 07000000'],
    ['link delete dev a', '00000000 05000000 00000000 00000000'],
    ['link delete group 7', '00000000 00000000 00000000 00000000', '0800 1b00 07000000'],
    ['address add 10.22.0.50/16 dev a', '02 10 00 00 05000000', '0800 0200 0a160032 0800 0100 0a160032'],
    ['address add 127.0.0.1/8 dev a', '02 08 00 fe 05000000', '0800 0200 7f000001 0800 0100 7f000001'],
    [
      'address add 10.22.0.50/16 dev a noprefixroute',
      ...['02 10 00 00 05000000', '0800 0200 0a160032 0800 0100 0a160032', '0800 0800 00020000'],
    ],
    ['neighbour delete 10.22.0.50 dev a', '02000000 05000000 80000000 0800 0100 0a160032'],
    ['neighbour replace proxy 10.22.0.50 dev a', '02000000 05000000 80000800 0800 0100 0a160032'],
    [
      'neighbour replace 10.22.0.50 lladdr 02:00:00:00:00:01 dev a nud stale',
      ...['02000000 05000000 04000000 0800 0100 0a160032', '0a00 0200 020000000001 0000'],
    ],
    [
      'route add 0.0.0.0/0 via 10.22.0.1 dev a',
      ...[
        '02 00 00 00 fe 03 00 01 00000000',
        '0800 0100 00000000',
        '0800 0500 0a160001',
        '0800 0400 05000000',
      ],
    ],
    [
      'route replace 10.22.0.50/32 dev a table 300 metric 7 mtu 1400',
      ...['02 20 00 00 00 03 fd 01 00000000', '0800 0100 0a160032', '0800 0600 07000000'],
      ...['0c00 0800 0800 0200 78050000', '0800 0f00 2c010000', '0800 0400 05000000'],
    ],
  ] as const)
    t.equal(bodyOf(line), parts.join('').replaceAll(' ', ''), line)
  t.equal(
    Buffer.from(encodeMessage(linkQuery('lo'), 1)).toString('hex'),
    '30000000 1200 0500 01000000 00000000 00000000 00000000 00000000 00000000 0700 0300 6c6f0000 0800 1d00 08000000'.replaceAll(
      ' ',
      '',
    ),
  )
  t.end()
})

t.test('links that have to be there, and what ip says where they are not', t => {
  const links = (line: string) => [...(read(line)?.links ?? [])]
  t.strictSame(links('link set dev a master b'), [
    ['a', 'Cannot find device "a"'],
    ['b', 'Error: argument "b" is wrong: Device does not exist'],
  ])
  t.strictSame(links('link add link b name a type macvlan mode bridge'), [['b', 'Cannot find device "b"']])
  t.strictSame(links('link add name a type bridge'), [])
  t.strictSame(links('link delete dev a'), [['a', 'Cannot find device "a"']])
  t.strictSame(links('link delete group 7'), [])
  t.end()
})

t.test('what is left to ip', t => {
  for (const line of [
    'rule add from 10.22.0.0/16',
    'link delete dev if7',
    'link delete dev a type bridge',
    'link delete dev a group 7',
    'link delete group dying',
    'link delete group 2147483648',
    'link delete group',
    'link delete a',
    'link delete',
    'link show dev a',
    'link set a up',
    'link set dev a up up',
    'link set dev a up down',
    'link set dev if7 up',
    'link set dev a/b up',
    'link set dev abcdefghijklmnop up',
    'link set dev a mtu 0x10',
    'link set dev a mtu 010',
    'link set dev a mtu',
    'link set dev a address 0:1:2:3:4:5',
    'link set dev a addrgenmode eui64',
    'link set dev a type bridge_slave hairpin off',
    'link set dev a netns /proc/1/ns/net',
    'link add name a type bridge vlan_filtering 1',
    'link add name a type dummy',
    'link add name a type veth',
    'link add name a type veth peer b',
    'link add name a netns 7 type veth peer name b',
    'link add link b name a type macvlan mode source',
    'link add name a',
    'address delete 10.22.0.50/16 dev a',
    'address add 10.22.0.50 dev a',
    'address add 10.22.0.50/16 dev a scope link',
    'address add ::ffff:10.22.0.50/112 dev a',
    'address change 10.22.0.50/16 dev a',
    'neighbour add 10.22.0.50 dev a',
    'neighbour replace 10.22.0.50 dev a nud reachable',
    'neighbour delete 10.22.0.50 lladdr 02:00:00:00:00:01 dev a',
    'route add default via 10.22.0.1 dev a',
    'route add 10.22.0.0/16 via fd00:22::1 dev a',
    'route add 10.22.0.0/16 dev a proto 147',
    'route add 10.22.0.0/16 dev a metric 4294967296',
    'route add 10.22.0.0/16 dev a scope 256',
    'route add 10.22.0.0/16',
    'route delete 10.22.0.0/16 dev a',
    'route replace unicast 10.22.0.0/16 dev a',
  ])
    t.equal(read(line), undefined, line)
  t.equal(readLine(['link', 'set', 'dev', 'a', 'constructor']), undefined)
  const inPod = 'link add name a type veth peer name b netns /proc/self/fd/3'
  t.equal(readLine(inPod.split(' ')), undefined, 'a namespace that nobody handed over')
  t.ok(read(inPod))
  t.end()
})

t.test('every line of ip that wires a pod is known', t => {
  for (const mode of ['bridge', 'ptp', 'macvlan', 'underlay'] as const) {
    const config = { mode, uplink: mode === 'bridge' ? undefined : 'up0', hairpin: true }
    const job = sampleJob({ config, wiring: { mode, master: 'up0', proxyOn: 'up0' } })
    const { host, link, addresses, routes } = wiringCommands(job)
    const commands: readonly Command[] = [...host, ...link, ...addresses, ...routes]
    for (const { words } of commands) t.ok(readLine(words, 9), `${mode}: ${words.join(' ')}`)
  }
  t.end()
})
