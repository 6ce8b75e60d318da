import t from 'tap'
import { readConflist } from '../../../../ipkeeper-server/result-cache/plan/read-conflist.ts'

const ipam = { type: 'ipkeeper' }

t.test('networks that use ipkeeper, and others', t => {
  const cases: readonly (readonly [what: string, document: unknown, expected: object | undefined])[] = [
    [
      'the main plugin',
      { cniVersion: '1.0.0', name: 'net', plugins: [{ type: 'ipkeeper' }] },
      { name: 'net', cniVersion: '1.0.0', usesIpkeeper: true },
    ],
    [
      'the IPAM delegate, not first in the chain',
      { cniVersion: '0.4.0', name: 'net', plugins: [{ type: 'x' }, { type: 'bridge', ipam }] },
      { name: 'net', cniVersion: '0.4.0', usesIpkeeper: true },
    ],
    [
      'others',
      { cniVersion: '0.4.0', name: 'net', plugins: [{ type: 'bridge', ipam: { type: 'host-local' } }] },
      { name: 'net', cniVersion: '0.4.0', usesIpkeeper: false },
    ],
    [
      'keys as Go folds them',
      { CNIVersion: '0.4.0', Name: 'net', Plugins: [{ Type: 'ipkeeper' }] },
      { name: 'net', cniVersion: '0.4.0', usesIpkeeper: true },
    ],
    [
      'no version is the first one',
      { name: 'net', plugins: [] },
      { name: 'net', cniVersion: '0.1.0', usesIpkeeper: false },
    ],
    [
      'a version that is none',
      { cniVersion: '9.9.9', name: 'net', plugins: [] },
      { name: 'net', cniVersion: undefined, usesIpkeeper: false },
    ],
    [
      'a single plugin becomes a list',
      { cniVersion: '1.0.0', name: 'net', type: 'bridge', ipam },
      {
        name: 'net',
        cniVersion: '1.0.0',
        usesIpkeeper: true,
        madeList: JSON.stringify({
          cniVersion: '1.0.0',
          name: 'net',
          plugins: [{ cniVersion: '1.0.0', name: 'net', type: 'bridge', ipam }],
        }),
      },
    ],
    ['no name', { cniVersion: '1.0.0', plugins: [] }, undefined],
    ['plugins that are no list', { name: 'net', plugins: {} }, undefined],
    ['a list', [], undefined],
  ]
  for (const [what, document, expected] of cases)
    t.strictSame(readConflist(JSON.stringify(document)), expected, what)
  t.equal(readConflist('{"name": "net",}'), undefined, 'no JSON')
  t.end()
})
