import t from 'tap'
import {
  announcementCommand,
  announcementSysctls,
  forgetNeighbourCommands,
} from '../../../../ipkeeper-server/network/plan/announcement.ts'
import { writeBatch } from '../../../../ipkeeper-server/network/plan/command.ts'

t.test('settings are those of the families in use', t => {
  const ipv4 = { key: 'net/ipv4/conf/eth0/arp_notify', value: '1' }
  const ipv6 = { key: 'net/ipv6/conf/eth0/ndisc_notify', value: '1' }
  for (const [addresses, expected] of [
    [[], []],
    [['10.22.0.50'], [ipv4]],
    [['fd00:22::50'], [ipv6]],
    [
      ['fd00:22::50', '10.22.0.50', '10.22.0.51'],
      [ipv4, ipv6],
    ],
  ] as const)
    t.strictSame(announcementSysctls('eth0', addresses), expected, addresses.join(' '))
  t.end()
})

t.test('the announcement sets the MAC to what it is', t => {
  t.equal(
    writeBatch([announcementCommand('eth0', '0A:58:0a:16:00:32')]),
    'link set dev eth0 address 0a:58:0a:16:00:32\n',
  )
  for (const wrong of ['', 'ff:ff:ff:ff:ff:ff', '0a:58', '0a:58:0a:16:00:32 up'])
    t.throws(() => announcementCommand('eth0', wrong), /cannot be the MAC/, wrong)
  t.end()
})

t.test('the node forgets', t => {
  t.equal(
    writeBatch(forgetNeighbourCommands(['10.22.0.50', 'fd00:22::50'], 'ipk0')),
    [
      'neighbour replace 10.22.0.50 lladdr 02:00:00:00:00:00 dev ipk0 nud stale',
      'neighbour delete 10.22.0.50 dev ipk0',
      'neighbour replace fd00:22::50 lladdr 02:00:00:00:00:00 dev ipk0 nud stale',
      'neighbour delete fd00:22::50 dev ipk0',
      '',
    ].join('\n'),
  )
  t.strictSame(forgetNeighbourCommands([], 'ipk0'), [])
  t.end()
})
