import fc from 'fast-check'
import t from 'tap'
import {
  definitionBehind,
  interfacesOf,
  readSelections,
} from '../../../../ipkeeper-server/diagnose/lint/network-selection.ts'

t.test('what an annotation chooses', t => {
  const rows: readonly (readonly [text: string, chosen: readonly string[], interfaces: readonly string[]])[] =
    [
      ['lan', ['lan'], ['net1']],
      [' shop/lan , store@san ', ['shop/lan', 'store'], ['net1', 'san']],
      ['lan,lan', ['lan', 'lan'], ['net1', 'net2']],
      ['[]', [], []],
      ['[{"name":"lan","namespace":"shop","interface":"san0"}]', ['shop/lan'], ['san0']],
      [
        '[{"Name":"lan","ips":["10.0.0.1/24","fd00::1"],"mac":"02:00:00:00:00:01"},{"name":"b"}]',
        ['lan', 'b'],
        ['net1', 'net2'],
      ],
      ['[{"name":"lan","cni-args":{"x":1},"default-route":["10.0.0.1"]}]', ['lan'], ['net1']],
      ['[{"name":"lan","interfaceRequest":"old0","ips":null}]', ['lan'], ['old0']],
    ]
  for (const [text, chosen, interfaces] of rows) {
    const { selections, faults } = readSelections(text)
    t.strictSame(faults, [], text)
    t.strictSame(
      selections.map(({ namespace, name }) => (namespace === '' ? name : `${namespace}/${name}`)),
      chosen,
      text,
    )
    t.strictSame(interfacesOf(selections), interfaces, text)
  }
  t.end()
})

t.test('what is refused, and where', t => {
  const rows: readonly (readonly [text: string, at: string, says: RegExp])[] = [
    ['', '', /empty/],
    ['Lan', 'Lan', /chooses no network/],
    ['lan, a/b/c', 'a/b/c', /chooses no network/],
    ['lan@a@b', 'lan@a@b', /chooses no network/],
    ['lan@abcdefghijklmnop', 'lan@abcdefghijklmnop', /too long/],
    ['a@eth0', 'a@eth0', /eth0 is there already/],
    ['a@net2,b', 'b', /net2 is there already/],
    ['{"name":"lan"}', '{"name":"lan"}', /are a list/],
    ['["lan"]', '"lan"', /is an object/],
    ['[{"namespace":"a"}]', '{', /"name" is missing/],
    ['[{"name":7}]', '7', /"name" is not a text/],
    ['[{"name":"lan","ips":"10.0.0.1"}]', '"10.0.0.1"', /"ips" is not a list of addresses/],
    ['[{"name":"lan","ips":["10.0.0"]}]', '"10.0.0"', /"10\.0\.0" in "ips"/],
    ['[{"name":"lan","mac":"02:00"}]', '"02:00"', /"02:00" in "mac"/],
    ['[{"name":"lan","default-route":["x"]}]', '"x"', /"x" in "default-route"/],
    ['[{"name":"lan","cni-args":[]}]', '[]', /"cni-args" is not an object/],
    ['[{"name":"lan","ip":["10.0.0.1"]}]', '"ip"', /is no key of a network selection/],
    ['[{"name":"lan"},]', ',', /comma before/],
  ]
  for (const [text, at, says] of rows) {
    const [first, ...others] = readSelections(text).faults
    t.equal(text.slice(first?.start, first?.end), at, text)
    t.match(first?.message, says, text)
    t.strictSame(others, [], text)
  }
  const { faults } = readSelections('[{"name":"lan","ip":["10.0.0.1"]}]')
  t.match(faults, [{ severity: 'warning', remedy: 'write "ips"' }])
  t.end()
})

t.test('the definition behind an interface', t => {
  const rows: readonly (readonly [
    chosen: string | undefined,
    ifname: string,
    definition: string | undefined,
  ])[] = [
    ['lan,store/san@x', 'net1', 'shop/lan'],
    ['lan,store/san@x', 'x', 'store/san'],
    ['lan,store/san@x', 'net2', undefined],
    ['lan', 'eth0', undefined],
    ['[', 'net1', undefined],
    [undefined, 'net1', undefined],
  ]
  for (const [chosen, ifname, definition] of rows)
    t.equal(definitionBehind(chosen, { namespace: 'shop', ifname }), definition, `${chosen ?? '-'} ${ifname}`)
  t.end()
})

t.test('never throws', t => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), fc.stringMatching(/^[[{}\]",:@/a-z ]{0,40}$/)), text => {
      readSelections(text)
    }),
    { numRuns: 1000 },
  )
  t.end()
})
