import { added, allVersions, silent, versionsWith } from '../answers.ts'
import { network, previousResult } from '../network.ts'
import type { Row } from '../row.ts'
import { hostLocalRow } from './host-local.ts'

/** A result as it is when the last plugin of a chain has had it. */
const finalResult = (version: string): object => ({
  ...previousResult(version),
  dns: { nameservers: ['192.0.2.53'] },
  routes: [{ dst: '198.51.100.0/24' }],
  'example.test/extra': true,
})

export const chainingRows: readonly Row[] = [
  {
    id: 'H1',
    title: 'CHECK and DEL get the final result of the chain, with what later plugins changed',
    cases: [
      {
        title: 'interfaces, DNS and routes that are not ours',
        versions: versionsWith('CHECK'),
        run: async (t, rig, version) => {
          await added(t, rig, version)
          const config = network(version, { prevResult: finalResult(version) })
          for (const verb of ['CHECK', 'DEL']) await silent(t, rig, { verb, config }, verb)
        },
      },
    ],
  },
  {
    id: 'H2',
    title: 'prevResult may come in any version, or in none',
    cases: [
      {
        title: 'ADD with a result of each family of versions, and with an empty one',
        versions: allVersions,
        run: async (t, rig, version) => {
          const strangers = ['192.0.2.9/24', '2001:db8::9/64'] as const
          const results = ['0.2.0', '0.4.0', '1.1.0'].map(other => previousResult(other, strangers))
          for (const prevResult of [...results, {}]) {
            await added(
              t,
              rig,
              version,
              { config: network(version, { prevResult }) },
              JSON.stringify(prevResult),
            )
            await rig.run({ verb: 'DEL', config: network(version) })
          }
        },
      },
    ],
    see: ['G3'],
  },
  {
    id: 'H3',
    title: 'a prevResult of another version family',
    cases: [
      {
        title: 'CHECK reads its addresses all the same',
        versions: versionsWith('CHECK'),
        differs: 'the reference library refuses it',
        run: async (t, rig, version) => {
          await added(t, rig, version)
          for (const other of allVersions) {
            const config = network(version, { prevResult: previousResult(other) })
            await silent(t, rig, { verb: 'CHECK', config }, other)
          }
        },
      },
    ],
  },
  {
    id: 'H4',
    title: 'a plugin that lives in a chain only needs prevResult',
    notTested: 'ipkeeper is no such plugin: as IPAM delegate it never works on a prevResult',
  },
  {
    id: 'H5',
    title: "an IPAM plugin gets the parent's whole configuration and environment",
    cases: [
      {
        title: 'keys of a bridge and its DNS do no harm, and come back in no result',
        run: async (t, rig) => {
          const bridge = {
            bridge: 'cni0',
            isGateway: true,
            ipMasq: true,
            hairpinMode: false,
            mtu: 1450,
            vlan: 5,
          }
          const config = network('1.0.0', { ...bridge, dns: { nameservers: ['192.0.2.53'] } })
          const { document = {} } = await rig.run({ config })
          t.strictSame(Object.keys(document).sort(), ['cniVersion', 'ips'])
        },
      },
    ],
    elsewhere: ['test/privileged/bridge.test.ts', 'test/packaged/fallback.test.ts'],
  },
  {
    id: 'H6',
    title: 'the result of an IPAM plugin has addresses, routes and DNS, and no interfaces',
    see: ['D5', 'E1'],
  },
  {
    id: 'H7',
    title: 'parents call CHECK before they look at prevResult; ptp needs a gateway',
    see: ['G7', 'E1'],
    elsewhere: ['test/privileged/bridge.test.ts'],
  },
  {
    id: 'H8',
    title: 'a route without gateway is completed by the parent',
    see: ['E1'],
    elsewhere: ['test/privileged/bridge.test.ts'],
  },
  hostLocalRow,
]
