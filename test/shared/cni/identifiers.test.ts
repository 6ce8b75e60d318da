import t from 'tap'
import { containerIdFault, interfaceNameFault, networkNameFault } from '../../../shared/cni/identifiers.ts'

t.test('container IDs', t => {
  const badId = 'invalid characters in containerID'
  const cases: readonly [id: string, message?: string][] = [
    ['c1'],
    ['0'],
    ['a_b.c-d'],
    ['a'.repeat(300)],
    ['default-' + '0f'.repeat(32)],
    ['', badId],
    ['-a', badId],
    ['.a', badId],
    ['a\n', badId],
    ['\u00e9', badId],
    ['a b', badId],
    ['../x', badId],
    ['some-%%container-id', badId],
  ]
  for (const [id, message] of cases) {
    t.same(containerIdFault(id), message && { message, details: id }, JSON.stringify(id))
  }
  t.end()
})

t.test('network names', t => {
  const badName = 'invalid characters found in network name'
  t.equal(networkNameFault('my-net_1.0'), undefined)
  t.same(networkNameFault(''), { message: 'missing network name', details: '' })
  for (const name of ['te%%st', '../x', 'a\n', '-a', 'a/b']) {
    t.same(networkNameFault(name), { message: badName, details: name }, JSON.stringify(name))
  }
  t.end()
})

t.test('interface names', t => {
  const tooLong = 'interface name is too long'
  const dots = 'interface name is . or ..'
  const characters = 'interface name contains / or : or whitespace characters'
  const cases: readonly [name: string, message?: string][] = [
    ['eth0'],
    ['123456789012345'],
    ['%d'],
    ['...'],
    ['\u00e9'.repeat(7)],
    ['a\ufeffb'],
    ['a\u200bb'],
    ['', 'interface name is empty'],
    ['1234567890123456', tooLong],
    ['\u00e9'.repeat(8), tooLong],
    ['.', dots],
    ['..', dots],
    ['a/b', characters],
    ['a:b', characters],
    ...[' ', '\t', '\n', '\v', '\f', '\r', '\u0085', '\u00a0', '\u1680', '\u2003', '\u2028', '\u3000'].map(
      (space): [string, string] => [`a${space}b`, characters],
    ),
  ]
  for (const [name, message] of cases)
    t.equal(interfaceNameFault(name)?.message, message, encodeURIComponent(name))
  t.equal(interfaceNameFault('1234567890123456')?.details, 'interface name should be less than 16 characters')
  t.end()
})
