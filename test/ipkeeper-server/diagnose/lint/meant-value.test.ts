/** What the linter says to write in place of a value of another kind. */
import t from 'tap'
import { lintFiles, listOf } from './lint-text.ts'

const ipam = (section: string): string => listOf(`{ "type": "bridge", "ipam": ${section} }`)
const hostLocal = (keys: string): string => ipam(`{ "type": "host-local", ${keys} }`)
const keeper = (keys: string): string => ipam(`{ "type": "ipkeeper", ${keys} }`)

/** What is written wrongly in the place of HERE, and what the remedy says to write there. */
const remedies: readonly (readonly [config: string, wrong: string, right: string])[] = [
  ['{ "cniVersion": HERE, "name": "net", "plugins": [{ "type": "x" }] }', '1', '"1.0.0"'],
  ['{ "cniVersion": HERE, "name": "net", "plugins": [{ "type": "x" }] }', '1.0', '"1.0.0"'],
  ['{ "cniVersion": HERE, "name": "net", "plugins": [{ "type": "x" }] }', '0.4', '"0.4.0"'],
  ['{ "cniVersion": HERE, "name": "net", "plugins": [{ "type": "x" }] }', '"v1.0.0"', '"1.0.0"'],
  ['{ "cniVersion": HERE, "name": "net", "plugins": [{ "type": "x" }] }', '"1.0"', '"1.0.0"'],
  [
    '{ "cniVersion": "1.0.0", "cniVersions": HERE, "name": "n", "plugins": [{ "type": "x" }] }',
    '1',
    '["1.0.0"]',
  ],
  ['{ "cniVersion": "1.0.0", "name": HERE, "plugins": [{ "type": "x" }] }', '7', '"7"'],
  ['{ "cniVersion": "1.0.0", "name": "net", "plugins": HERE }', '"bridge"', '[{ "type": "bridge" }]'],
  [listOf('HERE'), '"bridge"', '{ "type": "bridge" }'],
  [listOf('{ "type": "bridge", "mtu": HERE }'), '"01450"', '1450'],
  [listOf('{ "type": "bridge", "isGateway": HERE }'), '"True"', 'true'],
  [listOf('{ "type": "bridge", "vlanTrunk": HERE }'), '100', '[{ "id": 100 }]'],
  [listOf('{ "type": "bridge", "dns": HERE }'), '"10.0.0.10"', '{ "nameservers": ["10.0.0.10"] }'],
  [listOf('{ "type": "bridge", "dns": { "nameservers": HERE } }'), '"10.0.0.10"', '["10.0.0.10"]'],
  [listOf('{ "type": "bridge", "capabilities": HERE }'), '"portMappings"', '{ "portMappings": true }'],
  [hostLocal('"ranges": HERE'), '"10.0.0.0/8"', '[[{ "subnet": "10.0.0.0/8" }]]'],
  [hostLocal('"ranges": [HERE]'), '"10.0.0.0/8"', '[{ "subnet": "10.0.0.0/8" }]'],
  [hostLocal('"ranges": [[HERE]]'), '"10.1.2.3/8"', '{ "subnet": "10.0.0.0/8" }'],
  [keeper('"ranges": [HERE]'), '"10.0.0.0/8"', '[{ "subnet": "10.0.0.0/8" }]'],
  [hostLocal('"subnet": "10.0.0.0/8", "routes": HERE'), '"0.0.0.0/0"', '[{ "dst": "0.0.0.0/0" }]'],
  [ipam('{ "type": "static", "addresses": HERE }'), '"10.0.0.5/8"', '[{ "address": "10.0.0.5/8" }]'],
  [ipam('{ "type": "dhcp", "request": HERE }'), '"router"', '[{ "option": "router" }]'],
]

t.test('what a remedy says to write can be written so', t => {
  for (const [config, wrong, right] of remedies) {
    const what = config.replace('HERE', wrong)
    const complaints = (text: string): readonly string[] =>
      lintFiles({ 'x.conflist': text })
        .findings.filter(({ severity }) => severity === 'error')
        .map(({ rule, remedy }) => `${rule}: ${remedy}`)
    const told = complaints(what)
    t.equal(told.length, 1, what)
    t.match(told[0], /^(?:wrong-type|cni-version-unknown): /)
    t.equal(told[0]?.replace(/^\S+ |, without quotes$/g, ''), `write ${right}`)
    t.strictSame(complaints(config.replace('HERE', right)), [], `${what}, mended`)
  }
  t.end()
})

t.test('a value that means nothing in its place gets the form that is wanted', t => {
  const rows: readonly (readonly [config: string, remedy: string])[] = [
    ['{ "cniVersion": true, "name": "net", "plugins": [{ "type": "x" }] }', 'write one of "0.1.0", "0.2.0"'],
    [hostLocal('"ranges": "all"'), 'write [[{ "subnet": ... }]]'],
    [hostLocal('"ranges": { "subnet": "10.0.0.0/8" }'), 'write [[{ "subnet": ... }]]'],
    [listOf('{ "type": "bridge", "ipam": "host-local" }'), 'write { "type": ... }'],
    [listOf('{ "type": "bridge", "mtu": "99999999999999999999" }'), 'write an integer'],
    [listOf('{ "type": "bridge", "mtu": 1.5 }'), 'write an integer'],
    [listOf('{ "type": "tuning", "sysctl": "x" }'), 'write an object'],
    [hostLocal('"subnet": "10.0.0.0/8", "routes": true'), 'write [{ "dst": ... }]'],
    [ipam('{ "type": "dhcp", "provide": "x" }'), 'write [{ "option": ..., "value": ... }]'],
    [listOf('{ "type": "x", "dns": { "search": true } }'), 'write an array'],
  ]
  for (const [config, remedy] of rows) {
    const { findings } = lintFiles({ 'x.conflist': config })
    const told = findings.filter(({ rule }) => rule === 'wrong-type').map(finding => finding.remedy)
    t.ok(told.length === 1 && told[0]?.startsWith(remedy), `${config}: ${told.join()}`)
  }
  t.end()
})
