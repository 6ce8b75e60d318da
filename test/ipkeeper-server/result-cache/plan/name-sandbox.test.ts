import t from 'tap'
import {
  resultFileName,
  sandboxOfName,
  usualContainerId,
} from '../../../../ipkeeper-server/result-cache/plan/name-sandbox.ts'

const id = 'ab'.repeat(32)

t.test('whose result a name speaks of', t => {
  const cases: readonly (readonly [
    name: string,
    networks: readonly string[],
    expected: readonly string[] | undefined,
  ])[] = [
    [`fixed-${id}-eth0`, [], ['fixed', id, 'eth0']],
    [`my-own-net-${id}-eth-1`, [], ['my-own-net', id, 'eth-1']],
    ['fixed-c1-eth0', [], ['fixed', 'c1', 'eth0']],
    ['my-net-cnitool-77-eth0', ['my', 'my-net'], ['my-net', 'cnitool-77', 'eth0']],
    ['my-net-c1-eth0', [], ['my', 'net-c1', 'eth0']],
    ['nothing', [], undefined],
    ['-c1-eth0', [], undefined],
    ['a-b', [], undefined],
    ['net-c\n1-eth0', [], undefined],
    ['net-c1-an-interface-name-that-is-too/long', [], undefined],
    ['', [], undefined],
  ]
  for (const [name, networks, expected] of cases) {
    const { network, containerId, ifname } = sandboxOfName(name, networks)
    t.strictSame(
      network === undefined ? undefined : [network, containerId, ifname],
      expected,
      JSON.stringify(name),
    )
  }
  t.end()
})

t.test('a container ID that nothing else can be taken for', t => {
  t.equal(usualContainerId(`fixed-${id}-eth0`), id)
  t.equal(usualContainerId('fixed-c1-eth0'), undefined)
  t.end()
})

t.test('the name that libcni gives', t => {
  t.equal(resultFileName({ network: 'a-b', containerId: 'c', ifname: 'eth0' }), 'a-b-c-eth0')
  t.end()
})
