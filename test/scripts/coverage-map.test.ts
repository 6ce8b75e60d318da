import t from 'tap'
import coveredBy from '../../scripts/coverage-map.ts'

const cases: readonly (readonly [string, string, string | null])[] = [
  ['a room', 'test/ipkeeper-server/ipam/choose/offers.test.ts', 'ipkeeper-server/ipam/**/*.ts'],
  ['no room', 'test/ipkeeper-server/main.test.ts', 'ipkeeper-server/**/*.ts'],
  ['all of shared', 'test/shared/net/address.test.ts', 'shared/**/*.ts'],
  ['all of the plugin', 'test/plugin/main.test.ts', 'plugin/**/*.ts'],
  ['what every store promises', 'test/contract/sqlite.test.ts', 'ipkeeper-server/store/**/*.ts'],
  ['what was built is not measured', 'test/packaged/kill.test.ts', null],
  ['random cases are not measured', 'test/properties/histories.test.ts', null],
]

for (const [name, file, expected] of cases) t.equal(coveredBy(file), expected, name)
