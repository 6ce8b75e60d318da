import { added, assertRefused, container, refuses, silent } from '../answers.ts'
import { network, withIpam } from '../network.ts'
import type { Row } from '../row.ts'

const args = (text: string): { readonly env: Readonly<Record<string, string>> } => ({
  env: { CNI_ARGS: text },
})
const pair = (text: string): string => `ARGS: invalid pair ${JSON.stringify(text)}`
const unknown = (...pairs: string[]): string =>
  `ARGS: unknown args [${pairs.map(one => `"${one}"`).join(' ')}]`
const flag = (value: string): string =>
  `ARGS: error parsing value of pair "IgnoreUnknown=${value}": boolean unmarshal error: invalid input ${value}`

const asking = (...ips: unknown[]): object => ({ args: { cni: { ips } } })
const byRuntime = (...ips: unknown[]): object => ({ runtimeConfig: { ips } })

const podKeys = [
  'IgnoreUnknown=1',
  'K8S_POD_NAMESPACE=shop',
  'K8S_POD_NAME=web-0',
  'K8S_POD_INFRA_CONTAINER_ID=c1',
  'K8S_POD_UID=u1',
]

/** What runtimes put into runtimeConfig for other plugins, in their own spelling. */
const foreignCapabilities: readonly object[] = [
  { portMappings: [{ HostPort: 8080, ContainerPort: 80, Protocol: 'tcp', HostIP: '' }] },
  { portMappings: [] },
  { bandwidth: { ingressRate: 1, ingressBurst: 34359738359, egressRate: 1, egressBurst: 4294967295 } },
  { dns: { Servers: ['192.0.2.53'], Searches: null, Options: null } },
  { aliases: { fixed: ['a', 'b'] } },
  { aliases: ['a', 'b'] },
  { mac: '02:42:ac:11:00:02', infinibandGUID: 'c2:11:22:33:44:55:66:77', deviceID: '0000:04:00.5' },
  { cgroupPath: '/kubepods.slice/x' },
  { 'io.kubernetes.cri.pod-annotations': { 'example.test/a': 'b' } },
  { 'io.kubernetes.cri.pod-annotations': {} },
  { 'io.kubernetes.cri.pod-annotations': null },
]

export const argumentRows: readonly Row[] = [
  {
    id: 'I1',
    title: 'CNI_ARGS are pairs joined by ";"',
    cases: [
      refuses('pairs that are none, unknown keys, a switch that is neither on nor off', () => [
        ...[
          'FOO',
          ';',
          'IP=10.22.0.9;',
          'a=b=c',
          'IgnoreUnknown=1;',
          'IgnoreUnknown=1;;IP=10.22.0.9',
          'IgnoreUnknown',
        ].map(
          text =>
            [
              text,
              args(text),
              7,
              pair(text.split(';').find(one => one.split('=').length !== 2) ?? ''),
            ] as const,
        ),
        ['unknown', args('FOO=bar'), 7, unknown('FOO=bar')],
        ['two unknown', args('FOO=bar;IP=10.22.0.9;BAR=x'), 7, unknown('FOO=bar', 'BAR=x')],
        ['keys are case-sensitive', args('ip=10.22.0.9'), 7, unknown('ip=10.22.0.9')],
        ['a blank is part of the key', args(' IP=10.22.0.9'), 7, unknown(' IP=10.22.0.9')],
        ['off', args('IgnoreUnknown=0;FOO=1'), 7, unknown('FOO=1')],
        ['off, as a word', args('IgnoreUnknown=False;FOO=1'), 7, unknown('FOO=1')],
        ['switched off again', args('IgnoreUnknown=1;IgnoreUnknown=0;FOO=1'), 7, unknown('FOO=1')],
        ...['yes', '2', ''].map(
          value => [value, args(`IgnoreUnknown=${value};A=b`), 7, flag(value)] as const,
        ),
        [
          'no address',
          args('IP=foo'),
          103,
          'ARGS: error parsing value of pair "IP=foo": invalid IP address foo',
        ],
        ['before the ranges', { ...args('FOO=1'), config: withIpam('1.0.0', {}) }, 7, unknown('FOO=1')],
        [
          'after ipam',
          { ...args('FOO=1'), config: network('1.0.0', { ipam: null }) },
          7,
          /missing 'ipam' key/,
        ],
      ]),
      {
        title: 'the switch may stand anywhere; the later of equal keys counts; an empty value is none',
        run: async (t, rig) => {
          const texts: readonly (readonly [text: string, address: string])[] = [
            ['IgnoreUnknown=1;FOO=bar;IP=10.22.0.9', '10.22.0.9/24'],
            ['FOO=;IP=10.22.0.10;IgnoreUnknown=TRUE', '10.22.0.10/24'],
            ['IP=10.22.0.99;IP=10.22.0.11', '10.22.0.11/24'],
            ['IgnoreUnknown=1;=x;ip=10.22.0.99', '10.22.0.2/24'],
            ['IP=', '10.22.0.3/24'],
          ]
          for (const [index, [text, address]] of texts.entries()) {
            const env = { CNI_CONTAINERID: `c${index}`, CNI_ARGS: text }
            t.equal((await added(t, rig, '1.0.0', { env }, text))[0], address, text)
          }
        },
      },
    ],
    see: ['G3'],
  },
  {
    id: 'I2',
    title: 'the keys that runtimes send, in any order',
    cases: [
      {
        title: 'five rotations of the keys of Kubernetes; the lease is of that pod',
        run: async (t, rig) => {
          for (let turn = 0; turn < podKeys.length; turn++) {
            const text = [...podKeys.slice(turn), ...podKeys.slice(0, turn)].join(';')
            await added(t, rig, '1.0.0', args(text), text)
            t.match(await rig.daemon.boundLeases(), [
              { pod: { namespace: 'shop', name: 'web-0', uid: 'u1' } },
            ])
            await silent(t, rig, { verb: 'DEL', config: network('1.0.0'), ...args(text) }, text)
          }
        },
      },
      {
        title: 'those of podman and of other plugins',
        differs: 'host-local knows IP alone; these keys are known, since every runtime may send them',
        run: async (t, rig) => {
          for (const text of [
            'IgnoreUnknown=1;K8S_POD_NAME=a',
            'K8S_POD_NAME=a',
            'GATEWAY=10.22.0.1',
            'MAC=02:42:ac:11:00:02',
          ]) {
            await added(t, rig, '1.0.0', args(text), text)
            await rig.run({ verb: 'DEL', config: network('1.0.0') })
          }
        },
      },
    ],
  },
  {
    id: 'I3',
    title: 'IP= comes with and without prefix length, of both families, and as a list',
    cases: [
      {
        title: 'every form gives what it names',
        differs: 'host-local knows no list',
        run: async (t, rig) => {
          const texts: readonly (readonly [text: string, addresses: readonly string[]])[] = [
            ['10.22.0.9', ['10.22.0.9/24']],
            ['10.22.0.10/24', ['10.22.0.10/24']],
            ['FD00:22:0::9', ['fd00:22::9/64']],
            ['::ffff:10.22.0.12', ['10.22.0.12/24']],
            ['10.22.0.11,fd00:22::b', ['10.22.0.11/24', 'fd00:22::b/64']],
          ]
          for (const [index, [text, wanted]] of texts.entries()) {
            const env = { CNI_CONTAINERID: `c${index}`, CNI_ARGS: `IP=${text}` }
            const addresses = await added(t, rig, '1.0.0', { env }, text)
            t.strictSame(
              wanted.filter(address => !addresses.includes(address)),
              [],
              text,
            )
          }
        },
      },
      refuses(
        'another prefix length than that of the subnet',
        () => [['/16', args('IP=10.22.0.9/16'), 106, /the prefix length of its subnet is \/24$/]],
        { differs: 'host-local ignores it; the pod would get something else than it asked for' },
      ),
      refuses('texts that are no address', () =>
        [
          '10.22.0',
          '010.22.0.9',
          ' 10.22.0.9',
          '10.22.0.9%eth0',
          '0x0a.22.0.9',
          '10.22.0.300',
          '10.22.0.9/33',
          '/24',
        ].map(
          text =>
            [
              text,
              args(`IP=${text}`),
              ...([
                103,
                `ARGS: error parsing value of pair "IP=${text}": invalid IP address ${text}`,
              ] as const),
            ] as const,
        ),
      ),
    ],
  },
  {
    id: 'I4',
    title: 'runtimeConfig.ips before args.cni.ips before CNI_ARGS',
    cases: [
      {
        title: 'all three, each two, each alone',
        differs: 'host-local takes all three at once, and fails when they name one family twice',
        run: async (t, rig) => {
          const mixes: readonly (readonly [more: object, text: string, address: string])[] = [
            [{ ...byRuntime('10.22.0.21'), ...asking('10.22.0.31') }, 'IP=10.22.0.41', '10.22.0.21/24'],
            [{ ...byRuntime('10.22.0.22'), ...asking('10.22.0.32') }, '', '10.22.0.22/24'],
            [byRuntime('10.22.0.23'), 'IP=10.22.0.43', '10.22.0.23/24'],
            [asking('10.22.0.34/24'), 'IP=10.22.0.44', '10.22.0.34/24'],
            [byRuntime('10.22.0.25/24'), '', '10.22.0.25/24'],
            [asking('10.22.0.36'), '', '10.22.0.36/24'],
            [{}, 'IP=10.22.0.47', '10.22.0.47/24'],
            [
              { RuntimeConfig: { IPs: ['10.22.0.28'] }, Args: { CNI: { IPs: ['10.22.0.38'] } } },
              '',
              '10.22.0.28/24',
            ],
          ]
          for (const [index, [more, text, address]] of mixes.entries()) {
            const env = { CNI_CONTAINERID: `c${index}`, CNI_ARGS: text }
            const config = network('1.0.0', more)
            t.equal((await added(t, rig, '1.0.0', { config, env }, address))[0], address)
          }
        },
      },
    ],
  },
  {
    id: 'I5',
    title: 'an address that cannot be had is an error, and nothing is kept of the rest',
    cases: [
      refuses("in host-local's words", () => {
        const input = (...ips: unknown[]): { readonly config: object } => ({
          config: network('1.0.0', asking(...ips)),
        })
        const outside = (text: string): string => `failed to allocate all requested IPs: ${text}`
        const gateway = (range: number, text: string): string =>
          `failed to allocate for range ${range}: requested ip ${text} is subnet's gateway`
        return [
          ['no address', input('foo'), 103, 'invalid IP address foo'],
          ['outside', input('10.9.9.9'), 104, outside('10.9.9.9')],
          ['one inside, one outside', input('10.22.0.9', '10.9.9.9'), 104, outside('10.9.9.9')],
          ['two of a family', input('10.22.0.9', '10.22.0.10'), 104, outside('10.22.0.10')],
          ['the gateway', input('10.22.0.1'), 105, gateway(0, '10.22.0.1')],
          ['the gateway of the second set', input('10.22.0.9', 'fd00:22::1'), 105, gateway(1, 'fd00:22::1')],
          ['the network address', input('10.22.0.0'), 104, outside('10.22.0.0')],
          ['the broadcast address', input('10.22.0.255'), 104, outside('10.22.0.255')],
          ['by the runtime', { config: network('1.0.0', byRuntime('10.9.9.9')) }, 104, outside('10.9.9.9')],
          [
            'no list',
            { config: network('1.0.0', { args: { cni: { ips: '10.22.0.9' } } }) },
            7,
            /"args\.cni\.ips" must be an array/,
          ],
          [
            'no list, by the runtime',
            { config: network('1.0.0', { runtimeConfig: { ips: '10.22.0.9' } }) },
            7,
            /must be an array/,
          ],
        ]
      }),
      {
        title: 'in use: names who has it; the other family is not kept',
        run: async (t, rig) => {
          await added(t, rig, '1.0.0', { config: network('1.0.0', asking('10.22.0.9')) })
          const config = network('1.0.0', asking('fd00:22::9', '10.22.0.9'))
          const msg =
            'failed to allocate for range 0: requested IP address 10.22.0.9 is not available in range set 10.22.0.1-10.22.0.254'
          const answer = await rig.run({ config, env: container('c2') })
          assertRefused(t, answer, { code: 101, msg, details: /held by .*c1/ }, 'in use')
          t.equal((await rig.bound()).length, 2)
        },
      },
      {
        title: 'both families at once, and one address twice',
        run: async (t, rig) => {
          const both = network('1.0.0', asking('fd00:22::9', '10.22.0.9', '10.22.0.9'))
          t.strictSame(await added(t, rig, '1.0.0', { config: both }), ['10.22.0.9/24', 'fd00:22::9/64'])
        },
      },
    ],
  },
  {
    id: 'I6',
    title: 'runtimeConfig holds declared capabilities only, and may be absent',
    cases: [
      {
        title: 'absent, null, empty',
        run: async (t, rig) => {
          for (const [index, more] of [{}, { runtimeConfig: null }, { runtimeConfig: {} }].entries())
            await added(t, rig, '1.0.0', { config: network('1.0.0', more), env: container(`c${index}`) })
        },
      },
    ],
  },
  {
    id: 'I7',
    title: 'what runtimes put into runtimeConfig, in all its shapes',
    cases: [
      {
        title: 'capabilities of other plugins do no harm',
        run: async (t, rig) => {
          for (const [index, runtimeConfig] of foreignCapabilities.entries()) {
            const config = network('1.0.0', { runtimeConfig })
            await added(
              t,
              rig,
              '1.0.0',
              { config, env: container(`c${index}`) },
              JSON.stringify(runtimeConfig),
            )
          }
        },
      },
    ],
    see: ['A11', 'C6', 'H9', 'I4'],
  },
  {
    id: 'I8',
    title: 'args is metadata: content that nobody knows is no error',
    cases: [
      {
        title: 'unknown keys, null, and shapes that are none',
        differs: 'host-local fails where args is of another shape than it expects',
        run: async (t, rig) => {
          const shapes = [
            null,
            {},
            { foo: { bar: 1 } },
            { cni: { x: 1 } },
            { cni: null },
            { cni: { ips: null } },
            { cni: 'x' },
            'x',
            [],
          ]
          for (const [index, shape] of shapes.entries()) {
            const config = network('1.0.0', { args: shape })
            await added(t, rig, '1.0.0', { config, env: container(`c${index}`) }, JSON.stringify(shape))
          }
        },
      },
    ],
  },
]
