import { writeFileSync } from 'node:fs'
import {
  added,
  allVersions,
  assertRefused,
  assertResult,
  assertSilent,
  container,
  refuses,
  silent,
  versionsWith,
} from '../answers.ts'
import { network, previousResult, withIpam, type Config } from '../network.ts'
import type { Row } from '../row.ts'

const nothingToCheck = { code: 111, msg: 'ipkeeper: Failed to find address added by container c1' }

/** What a DEL may get for prevResult and is no result, or none of a plugin. */
const noResults: readonly unknown[] = [
  ...[undefined, null, {}, 'x', 5, []],
  ...[{ cniVersion: '9.9.9', ips: 'x' }, { ips: [null, 1, {}] }, { ip4: 'x' }],
]

/** Configurations of which only name and version are left, or hardly more. */
const poorConfigs: readonly (readonly [why: string, more: object])[] = [
  ['no ranges', { ipam: { type: 'ipkeeper' } }],
  ['no ipam', { ipam: null }],
  ['a subnet that is none', { ipam: { type: 'ipkeeper', subnet: 'foo' } }],
  ['other ranges than at ADD', { ipam: { type: 'ipkeeper', subnet: '192.0.2.0/24' } }],
  ['ranges of the wrong type', { ipam: { type: 'ipkeeper', ranges: 'x' } }],
  ['requests that are none', { args: { cni: { ips: 'foo' } }, runtimeConfig: 'x' }],
  ['the main role', { type: 'ipkeeper' }],
  [
    'unknown annotations',
    { runtimeConfig: { 'io.kubernetes.cri.pod-annotations': { 'ipkeeper.io/x': '1' } } },
  ],
]

const entry = (containerID: string, ifname = 'eth0'): object => ({ containerID, ifname })
const key = 'cni.dev/valid-attachments'
const oldKey = 'cni.dev/attachments'

/** What GC leaves of containers a and b, by what the runtime sends. */
const lists: readonly (readonly [why: string, sent: object, left: readonly string[]])[] = [
  ['one of two', { [key]: [entry('a')] }, ['a']],
  ['both', { [key]: [entry('a'), entry('b')] }, ['a', 'b']],
  ['one of two, by the key of the 1.1.0 text', { [oldKey]: [entry('b')] }, ['b']],
  ['both keys: the first counts', { [key]: [entry('a')], [oldKey]: [entry('b')] }, ['a']],
  ['[]', { [key]: [] }, []],
  ['null', { [key]: null }, []],
  ['null, by the other key', { [oldKey]: null }, []],
  ['[] beside a list by the other key', { [key]: [], [oldKey]: [entry('a')] }, []],
  ['of strangers', { [key]: [entry('x'), entry('a', 'net1')] }, []],
  ['absent: nothing is touched', {}, ['a', 'b']],
]

export const verbRows: readonly Row[] = [
  {
    id: 'G1',
    title: 'an attachment is (network, container, interface), whatever the namespace',
    cases: [
      {
        title: 'one container with two interfaces and two networks: a DEL ends one of three',
        run: async (t, rig) => {
          const version = '1.0.0'
          const one = withIpam(version, { subnet: '10.22.0.0/24' })
          const other = { ...withIpam(version, { subnet: '10.23.0.0/24' }), name: 'other' }
          await added(t, rig, version, { config: one })
          await added(t, rig, version, { config: one, env: container('c1', 'net1') })
          await added(t, rig, version, { config: other })
          const env = { ...container('c1', 'net1'), CNI_NETNS: '/another' }
          await silent(t, rig, { verb: 'DEL', config: one, env }, 'DEL of net1')
          t.strictSame(await rig.bound(), ['10.22.0.2 c1/eth0', '10.23.0.2 c1/eth0'])
        },
      },
    ],
  },
  {
    id: 'G2',
    title: 'containers, and networks of one container, are served at the same time',
    cases: [
      {
        title: 'eight containers, and one container in two networks: no address twice',
        run: async (t, rig) => {
          const other = { ...withIpam('1.0.0', { subnet: '10.23.0.0/24' }), name: 'other' }
          const runs = Array.from({ length: 8 }, (_, index) =>
            added(t, rig, '1.0.0', { env: container(`c${index}`) }, `c${index}`),
          )
          const addresses = (await Promise.all([...runs, added(t, rig, '1.0.0', { config: other })])).flat()
          t.equal(new Set(addresses).size, 17)
          t.equal((await rig.bound()).length, 17)
        },
      },
    ],
    elsewhere: ['test/properties/ownership.test.ts'],
  },
  {
    id: 'G3',
    title: 'DEL does what it can with whatever it gets, and succeeds',
    cases: [
      {
        title: 'no namespace, a missing one, a plain file, a folder, the own one, the one of another process',
        run: async (t, rig) => {
          const file = rig.folder.file('netns')
          writeFileSync(file, '')
          const paths = [
            undefined,
            '',
            '/no/such',
            file,
            '/',
            'relative',
            '/proc/self/ns/net',
            '/proc/1/ns/net',
          ]
          for (const path of [...paths, '/proc/4194305/ns/net']) {
            await added(t, rig, '1.0.0')
            await silent(
              t,
              rig,
              { verb: 'DEL', config: network('1.0.0'), env: { CNI_NETNS: path } },
              String(path),
            )
            t.strictSame(await rig.bound(), [], String(path))
          }
        },
      },
      {
        title: 'prevResult empty, and of each family of versions',
        versions: allVersions,
        differs: 'the reference library refuses a prevResult of another version family',
        run: async (t, rig, version) => {
          const results = ['0.2.0', '0.4.0', '1.1.0'].map(other => previousResult(other))
          for (const prevResult of [{ cniVersion: version }, ...results]) {
            await added(t, rig, version)
            const config = network(version, { prevResult })
            await silent(t, rig, { verb: 'DEL', config }, JSON.stringify(prevResult))
          }
          t.strictSame(await rig.bound(), [])
        },
      },
      {
        title: 'prevResult absent, null, and no result at all',
        run: async (t, rig) => {
          for (const prevResult of noResults) {
            await added(t, rig, '1.0.0')
            await silent(
              t,
              rig,
              { verb: 'DEL', config: network('1.0.0', { prevResult }) },
              JSON.stringify(prevResult),
            )
          }
          t.strictSame(await rig.bound(), [])
        },
      },
      {
        title: 'configurations of which little is left, and CNI_ARGS that cannot be read',
        differs: 'the reference reads the whole configuration first, and fails on what it does not need',
        run: async (t, rig) => {
          for (const [why, more] of poorConfigs) {
            await added(t, rig, '1.0.0')
            await silent(t, rig, { verb: 'DEL', config: network('1.0.0', more) }, why)
            t.strictSame(await rig.bound(), [], why)
          }
          for (const args of ['a', ';', 'a=b=c', 'FOO=bar', 'IP=foo', 'IgnoreUnknown=yes']) {
            await added(t, rig, '1.0.0')
            await silent(t, rig, { verb: 'DEL', config: network('1.0.0'), env: { CNI_ARGS: args } }, args)
            t.strictSame(await rig.bound(), [], args)
          }
        },
      },
      {
        title: 'twice, three times, and of a container that was never added',
        versions: allVersions,
        run: async (t, rig, version) => {
          await added(t, rig, version)
          const config = network(version)
          await silent(
            t,
            rig,
            { verb: 'DEL', config: { ...config, prevResult: previousResult(version) } },
            'first',
          )
          for (const time of ['second', 'third'])
            await silent(t, rig, { verb: 'DEL', config, env: { CNI_NETNS: '' } }, time)
          await silent(t, rig, { verb: 'DEL', config, env: container('stranger') }, 'never added')
        },
      },
    ],
  },
  {
    id: 'G4',
    title: 'DEL needs no prevResult',
    see: ['D5', 'G3'],
  },
  {
    id: 'G5',
    title: 'the DEL that follows a failed ADD succeeds',
    cases: [
      {
        title: 'ADD refused for its configuration and for its request, then DEL',
        versions: allVersions,
        changesNothing: true,
        run: async (t, rig, version) => {
          const small = withIpam(version, { subnet: '10.22.0.0/31' })
          for (const [config, args] of [
            [small, ''],
            [network(version), 'IP=192.0.2.7'],
          ] as const) {
            t.equal((await rig.run({ config, env: { CNI_ARGS: args } })).exit, 1)
            await silent(t, rig, { verb: 'DEL', config, env: { CNI_ARGS: args } }, 'DEL')
          }
        },
      },
    ],
  },
  {
    id: 'G6',
    title: 'the first plugin that fails a DEL ends the chain',
    cases: [
      {
        title: 'so a DEL with the daemon away is queued on disk and succeeds',
        run: async (t, rig) => {
          await added(t, rig, '1.0.0')
          await rig.daemon.stop()
          const config = withIpam('1.0.0', { timeout: 0.2 })
          assertSilent(t, await rig.run({ verb: 'DEL', config }), 'DEL')
        },
      },
    ],
    elsewhere: ['test/packaged/daemon.test.ts'],
  },
  {
    id: 'G7',
    title: 'CHECK compares what is recorded, and changes nothing',
    cases: [
      {
        title: 'after ADD with and without prevResult, with additions of later plugins; lost, and after DEL',
        versions: versionsWith('CHECK'),
        run: async (t, rig, version) => {
          const holding = (prevResult: unknown): Config => ({
            ...network(version),
            ...(prevResult !== undefined && { prevResult }),
          })
          const addresses = await added(t, rig, version)
          const [v4 = '', v6 = ''] = addresses
          const previous = previousResult(version, [v4, v6])
          const ips = previous['ips'] as readonly object[]
          const more = { ...previous, ips: [...ips, { address: '192.0.2.1/24' }] }
          for (const prevResult of [undefined, previous, more, null]) {
            const why = JSON.stringify(prevResult)
            await silent(t, rig, { verb: 'CHECK', config: holding(prevResult) }, why)
          }
          const lacking = { ...previous, ips: ips.slice(0, 1) }
          for (const prevResult of [lacking, { cniVersion: version }]) {
            const answer = await rig.run({ verb: 'CHECK', config: holding(prevResult) })
            const msg = /^lease .* of container c1 is missing in prevResult$/
            assertRefused(t, answer, { code: 111, msg }, JSON.stringify(prevResult))
          }
          t.equal((await rig.bound()).length, 2)
          await rig.run({ verb: 'DEL', config: network(version) })
          const after = await rig.run({ verb: 'CHECK', config: holding(previous) })
          assertRefused(t, after, nothingToCheck, 'after DEL')
        },
      },
      refuses(
        'what was never added; what ADD would not take for a configuration',
        version => [
          ['never added', { verb: 'CHECK' }, 111, nothingToCheck.msg],
          [
            'no ipam',
            { verb: 'CHECK', config: network(version, { ipam: null }) },
            7,
            "IPAM config missing 'ipam' key",
          ],
          ['no ranges', { verb: 'CHECK', config: withIpam(version, {}) }, 7, 'no IP ranges specified'],
          ['CNI_ARGS', { verb: 'CHECK', env: { CNI_ARGS: 'FOO=bar' } }, 7, 'ARGS: unknown args ["FOO=bar"]'],
        ],
        { versions: versionsWith('CHECK') },
      ),
    ],
  },
  {
    id: 'G8',
    title: 'cri-o checks milliseconds after an ADD',
    see: ['D4', 'G7'],
  },
  {
    id: 'G9',
    title: 'the list of valid attachments has two spellings',
    see: ['G10', 'C6'],
  },
  {
    id: 'G10',
    title: 'the list may be empty, null or absent',
    cases: [
      {
        title: 'ten forms, each with two containers',
        run: async (t, rig) => {
          const config = network('1.1.0')
          for (const [why, sent, left] of lists) {
            for (const id of ['a', 'b']) await added(t, rig, '1.1.0', { env: container(id) })
            await silent(t, rig, { verb: 'GC', config: { ...config, ...sent } }, why)
            const holders = new Set((await rig.bound()).map(lease => lease.replace(/^\S+ (.*)\/eth0$/, '$1')))
            t.strictSame([...holders].sort(), left, why)
            for (const id of ['a', 'b']) await rig.run({ verb: 'DEL', config, env: container(id) })
          }
        },
      },
      {
        title: 'a list that is none is an error, and nothing is touched',
        run: async (t, rig) => {
          await added(t, rig, '1.1.0')
          for (const list of ['x', {}, ['c1'], [{ containerID: 'c1' }], [null]]) {
            const answer = await rig.run({ verb: 'GC', config: network('1.1.0', { [key]: list }) })
            assertRefused(t, answer, { code: 7, msg: /cni\.dev\/valid-attachments/ }, JSON.stringify(list))
          }
          t.equal((await rig.bound()).length, 2)
        },
      },
    ],
  },
  {
    id: 'G11',
    title: 'GC stays within its network',
    cases: [
      {
        title: 'two networks, and an interface that the list does not name',
        run: async (t, rig) => {
          const config = withIpam('1.1.0', { subnet: '10.22.0.0/24' })
          const other = { ...withIpam('1.1.0', { subnet: '10.23.0.0/24' }), name: 'other' }
          await added(t, rig, '1.1.0', { config })
          await added(t, rig, '1.1.0', { config, env: container('c1', 'net1') })
          await added(t, rig, '1.1.0', { config: other })
          await silent(t, rig, { verb: 'GC', config: { ...config, [key]: [entry('c1')] } }, 'GC')
          t.strictSame(await rig.bound(), ['10.22.0.2 c1/eth0', '10.23.0.2 c1/eth0'])
        },
      },
    ],
    elsewhere: ['test/ipkeeper-server/leases/verbs/gc.test.ts', 'test/packaged/fallback.test.ts'],
  },
  {
    id: 'G12',
    title: 'what the cache of the runtime has lost is reclaimed by GC alone',
    see: ['G10'],
  },
  {
    id: 'G13',
    title: 'GC protects what is younger than its list',
    elsewhere: ['test/ipkeeper-server/leases/verbs/gc.test.ts', 'test/packaged/gc-order.test.ts'],
  },
  {
    id: 'G14',
    title: 'STATUS succeeds when an ADD could be served, and is an error on stdout when not',
    cases: [
      {
        title: 'with the daemon',
        changesNothing: true,
        run: async (t, rig) => {
          await silent(t, rig, { verb: 'STATUS', config: network('1.1.0') }, 'STATUS')
        },
      },
      {
        title: 'where no daemon ever answered: code 50',
        changesNothing: true,
        run: async (t, rig) => {
          const env = {
            IPKEEPER_SOCKET: rig.folder.file('none'),
            IPKEEPER_STATE_DIR: rig.folder.file('none'),
          }
          const answer = await rig.run({ verb: 'STATUS', config: network('1.1.0'), env })
          assertRefused(
            t,
            answer,
            { code: 50, msg: /there is no such socket$/, details: /systemctl/ },
            'STATUS',
          )
        },
      },
    ],
    elsewhere: ['test/packaged/status.test.ts', 'test/callers/containerd-2.test.ts'],
  },
  {
    id: 'G15',
    title: 'an error of STATUS makes the node NotReady',
    cases: [
      {
        title: 'so a full pool is none: STATUS succeeds, and the next ADD says that the pool is full',
        run: async (t, rig) => {
          const config = withIpam('1.1.0', { subnet: '10.22.0.0/30' })
          await added(t, rig, '1.1.0', { config })
          const full = await rig.run({ config, env: container('c2') })
          const msg =
            'failed to allocate for range 0: no IP addresses available in range set: 10.22.0.1-10.22.0.2'
          assertRefused(t, full, { code: 109, msg }, 'full')
          await silent(t, rig, { verb: 'STATUS', config }, 'STATUS')
        },
      },
      {
        title: 'unless the configuration asks for it: code 50',
        run: async (t, rig) => {
          const config = withIpam('1.1.0', { subnet: '10.22.0.0/30', statusReportsExhaustion: true })
          await silent(t, rig, { verb: 'STATUS', config }, 'not full')
          await added(t, rig, '1.1.0', { config })
          const full = await rig.run({ verb: 'STATUS', config })
          assertRefused(t, full, { code: 50, msg: /no IP addresses available in range set/ }, 'full')
        },
      },
    ],
    elsewhere: ['test/packaged/status.test.ts'],
  },
  {
    id: 'G16',
    title: 'parents do not send a DEL when the IPAM plugin fails, so it takes back what it began',
    cases: [
      {
        title: 'the second range set is full: nothing of the first is taken',
        run: async (t, rig) => {
          const version = '1.0.0'
          const sets = [[{ subnet: '10.22.0.0/24' }], [{ subnet: 'fd00:22::/126', rangeEnd: 'fd00:22::2' }]]
          const config = withIpam(version, { ranges: sets })
          await added(t, rig, version, { config })
          const answer = await rig.run({ config, env: container('c2') })
          assertRefused(
            t,
            answer,
            { code: 109, msg: /^failed to allocate for range 1: no IP addresses / },
            'full',
          )
          t.strictSame(await rig.bound(), ['10.22.0.2 c1/eth0', 'fd00:22::2 c1/eth0'])
          await rig.run({ verb: 'DEL', config })
          const next = await rig.run({ config, env: container('c2') })
          t.equal(assertResult(t, next, version, 'free again')[0], '10.22.0.3/24')
        },
      },
    ],
    elsewhere: ['test/privileged/bridge.test.ts'],
  },
]
