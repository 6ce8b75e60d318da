import t from 'tap'
import { asksFirst, carriage, leavesNode } from '../../../../ipkeeper-server/ipam/request/main-config.ts'

t.test('how other nodes reach the pods of a network', t => {
  for (const [mode, isGateway, expected] of [
    ['bridge', true, 'routed'],
    ['bridge', false, undefined],
    ['ptp', true, 'routed'],
    ['ptp', false, 'routed'],
    ['macvlan', false, 'link'],
    ['underlay', false, 'link'],
    ['underlay', true, 'link'],
  ] as const) {
    const name = `${mode}${isGateway ? ' with a gateway' : ''}`
    t.equal(carriage({ mode, isGateway }), expected, name)
    t.equal(leavesNode(mode), expected === 'link', name)
  }
  t.end()
})

t.test('whether it is asked first that nobody else has the address', t => {
  for (const [duplicateProbe, foreignPorts, expected] of [
    [true, [], true],
    [false, ['eth1'], false],
    ['among-others', [], false],
    ['among-others', ['eth1'], true],
  ] as const)
    t.equal(
      asksFirst({ duplicateProbe }, { foreignPorts }),
      expected,
      `${duplicateProbe} ${foreignPorts.join()}`,
    )
  t.end()
})
