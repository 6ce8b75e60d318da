import t from 'tap'
import { checkMtuCarries, checkMtuFits } from '../../../../ipkeeper-server/network/plan/mtu-limits.ts'

t.test('IPv6 needs 1280 bytes, IPv4 what a link has', t => {
  for (const [mtu, families] of [
    [68, []],
    [68, [4]],
    [1279, [4]],
    [1280, [6]],
    [1500, [4, 6]],
  ] as const) {
    t.doesNotThrow(() => {
      checkMtuCarries(mtu, families)
    })
  }
  for (const families of [[6], [4, 6]] as const) {
    t.throws(
      () => {
        checkMtuCarries(1279, families)
      },
      {
        code: 'IPK_CONFIG_INVALID',
        message: 'an MTU of 1279 is too small for IPv6, which needs 1280',
        hint: /1280 or more/,
      },
    )
  }
  t.end()
})

t.test('a pod sends nothing that its uplink could not', t => {
  const uplink = { name: 'eth1', mtu: 1500 }
  for (const mtu of [68, 1500]) {
    t.doesNotThrow(() => {
      checkMtuFits(mtu, uplink)
    })
  }
  t.throws(
    () => {
      checkMtuFits(1501, uplink)
    },
    {
      code: 'IPK_CONFIG_INVALID',
      message: '"mtu": 1501 is more than the 1500 of uplink eth1',
      hint: /eth1 mtu 1501/,
    },
  )
  t.end()
})
