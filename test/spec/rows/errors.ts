import { writeFileSync } from 'node:fs'
import { firstOwnCode, specifiedCodes } from '../../../shared/cni/error-codes.ts'
import { catalogue } from '../../../shared/problem/catalogue.ts'
import { added, allVersions, assertRefused, refuses } from '../answers.ts'
import { network, withIpam } from '../network.ts'
import type { Row } from '../row.ts'

const away = { IPKEEPER_SOCKET: '/nowhere/not found/s' }

export const errorRows: readonly Row[] = [
  {
    id: 'F',
    title: 'an error is one object of cniVersion, code, msg and details',
    cases: [
      {
        title: 'by the plugin and by the daemon, in the version of the configuration',
        versions: allVersions,
        changesNothing: true,
        differs: 'cniVersion is there, as the specification says; the reference leaves it away',
        run: async (t, rig, version) => {
          const byPlugin = await rig.run({ config: network(version, { name: '%' }) })
          const byDaemon = await rig.run({ config: withIpam(version, { subnet: 'foo' }) })
          for (const answer of [byPlugin, byDaemon]) {
            assertRefused(t, answer, { code: 7, msg: /./, details: /./ }, version)
            t.equal(answer.document?.['cniVersion'], version)
          }
        },
      },
    ],
  },
  {
    id: 'F codes',
    title: 'a code below 100 means what the specification says; ours begin at 100',
    cases: [
      refuses('1, 2, 4, 6, 7, 8, and ours from 100 up', () => [
        ['1 version', { config: network('9.9.9') }, 1, /./],
        ['2 field', { config: network('1.0.0', { type: 'ipkeeper', promiscMode: true }) }, 2, /./],
        [
          '132 no such pool',
          { config: withIpam('1.0.0', { pool: 'prod' }) },
          132,
          /"prod", which does not exist/,
        ],
        ['4 environment', { env: { CNI_PATH: '' } }, 4, /./],
        ['6 decoding', { config: '{' }, 6, /./],
        ['7 configuration', { config: withIpam('1.0.0', {}) }, 7, /./],
        ['7 CNI_ARGS', { env: { CNI_ARGS: 'a' } }, 7, /./],
        ['8 namespace', { env: { CNI_NETNS: '/proc/self/ns/net' } }, 8, /./],
        ['103 no address', { env: { CNI_ARGS: 'IP=foo' } }, 103, /./],
        ['104 outside', { env: { CNI_ARGS: 'IP=192.0.2.7' } }, 104, /./],
        ['105 gateway', { env: { CNI_ARGS: 'IP=10.22.0.1' } }, 105, /./],
        ['111 nothing to check', { verb: 'CHECK' }, 111, /./],
      ]),
      refuses('11 when waiting can help, 50 for STATUS', () => {
        const config = withIpam('1.1.0', { timeout: 1 })
        return [
          ...['ADD', 'CHECK', 'GC'].map(
            verb => [verb, { verb, config, env: away }, 11, /^cannot reach /] as const,
          ),
          [
            'STATUS',
            { verb: 'STATUS', config, env: { ...away, IPKEEPER_STATE_DIR: '/proc/nowhere' } },
            50,
            /^cannot reach /,
          ],
        ]
      }),
      {
        title: 'no error has a code that is reserved, or that tells the runtime to leave a DEL out',
        changesNothing: true,
        run: t => {
          const allowed: readonly number[] = specifiedCodes
          const strange = Object.entries(catalogue).filter(
            ([, { cniCode }]) =>
              !allowed.includes(cniCode) && !(Number.isInteger(cniCode) && cniCode >= firstOwnCode),
          )
          t.strictSame(strange, [])
          return Promise.resolve()
        },
      },
    ],
    see: ['C1'],
  },
  {
    id: 'F1',
    title: 'the text of a failed DEL has nothing that runtimes take for a success',
    cases: [
      {
        title: 'no socket, and a state folder that takes nothing: fails without those words',
        run: async (t, rig) => {
          await added(t, rig, '1.0.0')
          const file = rig.folder.file('not found')
          writeFileSync(file, '')
          const config = withIpam('1.0.0', { timeout: 0.2 })
          for (const stateDir of [file, `${file}/no such file or directory`]) {
            const env = { ...away, IPKEEPER_STATE_DIR: stateDir }
            const answer = await rig.run({ verb: 'DEL', config, env })
            assertRefused(t, answer, { code: 11, msg: /queued/ }, stateDir)
            t.notMatch(answer.stdout, /not found|no such file or directory/i)
          }
        },
      },
      refuses('a name that holds them', () => [
        [
          'DEL',
          { verb: 'DEL', config: network('1.0.0', { name: 'not found' }) },
          ...([7, 'invalid characters found in network name', 'missing'] as const),
        ],
      ]),
    ],
  },
]
