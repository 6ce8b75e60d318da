import t from 'tap'
import { loadedNetworks } from '../../../../ipkeeper-server/diagnose/lint/loaded-networks.ts'
import { networksOfMultus } from '../../../../ipkeeper-server/diagnose/lint/networks-of-multus.ts'

const fixed = { cniVersion: '1.0.0', name: 'fixed', plugins: [{ type: 'bridge' }] }
const plain = { name: 'plain', type: 'ptp' }

t.test('what Multus calls for the first interface', t => {
  const rows: readonly (readonly [what: string, multus: object, called: readonly string[] | 'elsewhere'])[] =
    [
      ['no Multus', { type: 'bridge' }, []],
      [
        'delegates of both shapes',
        { type: 'multus', delegates: [fixed, plain, 'x', {}] },
        ['fixed', 'plain'],
      ],
      [
        'a list of a file, by its path elsewhere',
        { type: 'multus-shim', clusterNetwork: '/host/net.d/10.conflist' },
        [],
      ],
      ['a network of a file, by its name', { type: 'multus', clusterNetwork: 'here' }, []],
      ['a definition of the API', { type: 'multus', clusterNetwork: 'lan' }, 'elsewhere'],
      ['neither', { type: 'multus', clusterNetwork: '', delegates: {} }, []],
    ]
  for (const [what, multus, called] of rows) {
    const networks = loadedNetworks([
      { path: '/net.d/00.conf', name: '00.conf', text: JSON.stringify({ name: 'm', ...multus }) },
      { path: '/net.d/10.conflist', name: '10.conflist', text: JSON.stringify({ ...fixed, name: 'here' }) },
    ])
    const found = networksOfMultus(networks)
    t.strictSame(found === 'elsewhere' ? found : found.map(({ name }) => name), called, what)
  }
  t.end()
})
