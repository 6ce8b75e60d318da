import t from 'tap'
import { refuseMisspelt } from '../../../../ipkeeper-server/ipam/request/refuse-misspelt.ts'

t.test('a key one letter away from a known one', t => {
  const known = ['subnet', 'rangeStart', 'gw']
  for (const object of [{}, { subnet: 1 }, { SUBNET: 1 }, { foreign: 1 }, { gv: 1 }, { sub: 1 }]) {
    t.doesNotThrow(() => {
      refuseMisspelt(object, known, 'ipam')
    }, JSON.stringify(object))
  }
  for (const [key, path, message] of [
    ['subnt', 'ipam', 'ipam: unknown key "subnt"; did you mean "subnet"?'],
    ['rangestrat', 'ipam.ranges[0]', 'ipam.ranges[0]: unknown key "rangestrat"; did you mean "rangeStart"?'],
    ['subnets', '', 'unknown key "subnets"; did you mean "subnet"?'],
  ] as const) {
    t.throws(
      () => {
        refuseMisspelt({ [key]: null }, known, path)
      },
      { code: 'IPK_CONFIG_INVALID', message },
    )
  }
  t.end()
})
