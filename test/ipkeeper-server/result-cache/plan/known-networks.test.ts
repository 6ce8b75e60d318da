import t from 'tap'
import { knownNetworks } from '../../../../ipkeeper-server/result-cache/plan/known-networks.ts'
import type { LoadedNetwork } from '../../../../ipkeeper-server/diagnose/lint/loaded-networks.ts'

const network = (name: string, patch: Partial<LoadedNetwork>): LoadedNetwork => ({
  ...{ path: `/net.d/${name}`, name, cniVersion: '1.0.0', plugins: [], list: '{}' },
  ...patch,
})

t.test('what a Result can be written for, and whose networks they are', t => {
  const ipam = { type: 'ipkeeper' }
  const known = knownNetworks([
    network('main', { plugins: [{ type: 'ipkeeper' }], list: '{"name": "m\u00e4in"}' }),
    network('main', { cniVersion: '0.4.0' }),
    network('delegate', { plugins: [{ type: 'x' }, { type: 'bridge', ipam }], cniVersion: undefined }),
    network('other', { plugins: [{ type: 'bridge', ipam: { type: 'host-local' } }], cniVersion: '0.4.0' }),
    network('', { plugins: [{ type: 'ipkeeper' }] }),
  ])
  const base64 = Buffer.from('{"name": "m\u00e4in"}').toString('base64')
  t.strictSame(Object.fromEntries(known), {
    main: { usesIpkeeper: true, conflist: { name: 'main', cniVersion: '1.0.0', base64 } },
    delegate: { usesIpkeeper: true, conflist: undefined },
    other: { usesIpkeeper: false, conflist: { name: 'other', cniVersion: '0.4.0', base64: 'e30=' } },
  })
  t.end()
})
