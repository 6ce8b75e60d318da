import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { added, allVersions, assertRefused, assertResult, container, refuses, silent } from '../answers.ts'
import { firstAddresses, network, ranges, withIpam } from '../network.ts'
import { withDocument, type Answer, type Input, type Rig } from '../rig.ts'
import type { Row } from '../row.ts'

const verbs = ['ADD', 'CHECK', 'DEL', 'GC', 'STATUS']

/** The plugin with fd 0 as a shell makes it. */
async function withRedirection(rig: Rig, redirection: string, input: Input): Promise<Answer> {
  const child = spawn('/bin/sh', ['-c', `exec "$0" ${redirection}`, rig.plugin], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: rig.environment(input),
    timeout: 30_000,
    killSignal: 'SIGKILL',
  })
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)]
  const [exit] = (await once(child, 'close')) as [number]
  return withDocument({ exit, signal: null, stdout: await stdout, stderr: await stderr, ms: 0 })
}

const whole = '{"name":"a","cniVersion":"1.0.0"}'
const undecodable: readonly (readonly [why: string, input: string | Uint8Array])[] = [
  ['nothing', ''],
  ['white space', ' \n'],
  ['cut off', '{'],
  ['cut off in a string', '{"name":"a'],
  ['an array', '[]'],
  ['a string', '"a"'],
  ['a number', '1'],
  ['a boolean', 'true'],
  ['a byte order mark', `\ufeff${whole}`],
  ['a NUL at the end', `${whole}\0`],
  ['text at the end', `${whole}x`],
  ['two documents', whole + whole],
  ['a trailing comma', '{"name":"a",}'],
  ['a missing comma', '{"name":"a" "cniVersion":"1.0.0"}'],
  ['single quotes', "{'name':'a'}"],
  ['a key without quotes', '{name:"a"}'],
  ['a comment', '{"name":"a" /* why */}'],
  ['a line break in a string', '{"name":"a\nb"}'],
  ['a leading zero', '{"name":"a","x":01}'],
  ['NaN', '{"name":"a","x":NaN}'],
  ['UTF-16', new Uint8Array(Buffer.from(`\ufeff${whole}`, 'utf16le'))],
  ['a name that is a number', '{"name":1}'],
  ['a name that is a list', '{"name":["a"]}'],
  ['a name that is an object', '{"name":{}}'],
]

const wrongVersions = ['1', '1.0', 'true', '[]', '{}']

const upperCase = {
  CNIVERSION: '1.1.0',
  NAME: 'fixed',
  IPAM: {
    TYPE: 'ipkeeper',
    RANGES: [
      [{ SUBNET: '10.22.0.0/24', RANGESTART: '10.22.0.20', RANGEEND: '10.22.0.30', GATEWAY: '10.22.0.9' }],
    ],
    ROUTES: [{ DST: '0.0.0.0/0', GW: '10.22.0.8', MTU: 1400 }],
  },
  ARGS: { CNI: { IPS: ['10.22.0.25'] } },
}

/** As go-cni sends it: Go's names of struct fields. */
const camelCase = {
  cniVersion: '1.1.0',
  name: 'fixed',
  Ipam: { Type: 'ipkeeper', Subnet: '10.22.0.0/24', Gateway: '10.22.0.9', RangeStart: '10.22.0.20' },
  RuntimeConfig: { IPRanges: [[{ Subnet: '10.23.0.0/24', RangeStart: '10.23.0.7' }]], IPs: ['10.22.0.21'] },
}

const nulls = {
  ...{ cniVersion: '1.1.0', name: 'fixed', type: null, capabilities: null, dns: null, prevResult: null },
  ...{ args: null, runtimeConfig: null, socket: null, stateDir: null, timeout: null },
  ipam: {
    ...{ type: 'ipkeeper', subnet: null, rangeStart: null, rangeEnd: null, gateway: null, routes: null },
    ...{ resolvConf: null, dataDir: null, segment: null, exclude: null, socket: null, timeout: null },
    ranges: [[{ subnet: '10.22.0.0/24', rangeStart: null, rangeEnd: null, gateway: null, exclude: null }]],
  },
}

export const stdinRows: readonly Row[] = [
  {
    id: 'C1',
    title: 'stdin cannot be read',
    cases: [
      {
        title: 'closed, and a folder: code 5, for every verb that needs it',
        changesNothing: true,
        run: async (t, rig) => {
          for (const verb of verbs) {
            for (const redirection of ['<&-', '</']) {
              const answer = await withRedirection(rig, redirection, { verb })
              const refusal = { code: 5, msg: /^error reading from stdin: / }
              assertRefused(t, answer, refusal, `${verb} ${redirection}`)
            }
          }
        },
      },
    ],
  },
  {
    id: 'C2',
    title: 'stdin is not one JSON object with a name that is text',
    cases: [
      refuses('whatever else there is', () =>
        undecodable.map(
          ([why, config]) => [why, { config }, 6, /^error unmarshall network config: /] as const,
        ),
      ),
      refuses('for every verb', () =>
        verbs.map(verb => [verb, { verb, config: '{' }, 6, /^error unmarshall network config: /] as const),
      ),
    ],
  },
  {
    id: 'C3',
    title: 'the network has no name, or one that is none',
    cases: [
      refuses('missing in every way', () =>
        ['null', '{}', '{"name":""}', '{"name":null}', '{"cniVersion":"9.9.9"}'].flatMap(config =>
          verbs.map(verb => [`${verb} ${config}`, { verb, config }, 7, 'missing network name'] as const),
        ),
      ),
      refuses('characters: the name is in details', () =>
        ['te%%st', '../x', '-a', '.a', 'a b', 'a/b', 'a\n', 'a\0', 'é', '日本'].map(
          name =>
            [
              JSON.stringify(name),
              { config: network('1.0.0', { name }) },
              ...([7, 'invalid characters found in network name', name] as const),
            ] as const,
        ),
      ),
      {
        title: 'names of any length, with dots and hyphens, are taken',
        run: async (t, rig) => {
          for (const name of ['A', '0', 'a.b_c-d.', 'n'.repeat(300)]) {
            const config = network('1.0.0', { name })
            await added(t, rig, '1.0.0', { config }, name.slice(0, 20))
            await rig.run({ verb: 'DEL', config })
          }
        },
      },
    ],
  },
  {
    id: 'C4',
    title: 'cniVersion is not text',
    cases: [
      refuses('for every verb', () =>
        wrongVersions.flatMap(version =>
          verbs.map(
            verb =>
              [
                `${verb} ${version}`,
                { verb, config: `{"name":"a","cniVersion":${version}}` },
                ...([6, /^decoding version from network config: /] as const),
              ] as const,
          ),
        ),
      ),
    ],
  },
  {
    id: 'C5',
    title: 'no cniVersion means 0.1.0',
    cases: [
      {
        title: 'absent, empty and null: a result of 0.1.0',
        run: async (t, rig) => {
          for (const version of [undefined, '', null]) {
            const config = { ...network(''), cniVersion: version }
            const answer = await rig.run({ config })
            t.strictSame(assertResult(t, answer, '0.1.0', String(version)).length, 2)
            t.ok(answer.document?.['ip4'])
            await rig.run({ verb: 'DEL', config })
          }
        },
      },
      refuses('so verbs of later versions are refused', () =>
        ['CHECK', 'GC', 'STATUS'].map(
          verb => [verb, { verb, config: network('') }, 1, `config version does not allow ${verb}`] as const,
        ),
      ),
    ],
  },
  {
    id: 'C6',
    title: 'keys match without regard to case, and null is as good as absent',
    cases: [
      {
        title: 'every key that is read, in capitals',
        run: async (t, rig) => {
          const answer = await rig.run({ config: upperCase })
          t.strictSame(assertResult(t, answer, '1.1.0', 'capitals'), ['10.22.0.25/24'])
          t.strictSame(answer.document, {
            cniVersion: '1.1.0',
            ips: [{ address: '10.22.0.25/24', gateway: '10.22.0.9' }],
            routes: [{ dst: '0.0.0.0/0', gw: '10.22.0.8', mtu: 1400 }],
          })
        },
      },
      {
        title: 'as Go programs print their fields',
        run: async (t, rig) => {
          const addresses = await added(t, rig, '1.1.0', { config: camelCase })
          t.strictSame(addresses, ['10.23.0.7/24', '10.22.0.21/24'])
        },
      },
      {
        title: 'null for every key that may be absent',
        run: async (t, rig) => {
          t.strictSame(await added(t, rig, '1.1.0', { config: nulls }), [firstAddresses[0]])
        },
      },
      {
        title: "the runtime's list for GC, in another case of letters",
        run: async (t, rig) => {
          for (const id of ['c1', 'c2']) await added(t, rig, '1.1.0', { env: container(id) })
          const list = { 'CNI.dev/Valid-Attachments': [{ ContainerID: 'c1', IfName: 'eth0' }] }
          await silent(t, rig, { verb: 'GC', config: network('1.1.0', list) }, 'GC')
          t.strictSame(await rig.bound(), ['10.22.0.2 c1/eth0', 'fd00:22::2 c1/eth0'])
        },
      },
    ],
  },
  {
    id: 'C7',
    title: 'of equal keys the last counts; unknown keys and bytes that are no UTF-8 do no harm',
    cases: [
      {
        title: 'two names, two subnets; unknown keys at every level; nested 20,000 deep; invalid UTF-8',
        differs: 'the reference ends at 10,000 levels',
        run: async (t, rig) => {
          const deep = '['.repeat(20_000) + ']'.repeat(20_000)
          const config = (more: string): string =>
            '{"cniVersion":"9.9.9","cniVersion":"1.0.0","name":"%","name":"fixed",' +
            `"ipam":{"type":"ipkeeper","subnet":"10.9.9.0/31","subnet":"10.22.0.0/24","what":{"is":[null]}}${more}}`
          for (const [index, more] of ['', ',"x":{"y":1}', `,"x":${deep}`, ',"x":"\\ud800"'].entries()) {
            const env = { CNI_CONTAINERID: `c${index}` }
            await added(t, rig, '1.0.0', { config: config(more), env }, more.slice(0, 12))
          }
          const bytes = Buffer.concat([
            Buffer.from(config(',"x":"').slice(0, -1)),
            Buffer.from([0xff, 0xc0, 0x22, 0x7d]),
          ])
          await added(t, rig, '1.0.0', { config: bytes, env: { CNI_CONTAINERID: 'bytes' } })
        },
      },
      refuses(
        'keys that differ in case are equal',
        () => [
          [
            'the later name',
            { config: '{"name":"a","Name":"%","cniVersion":"1.0.0"}' },
            7,
            /invalid characters/,
          ],
          ['null does not count', { config: '{"name":"%","Name":null}' }, 7, /invalid characters/],
          ['in one spelling it does', { config: '{"name":"a","name":null}' }, 7, 'missing network name'],
        ],
        { differs: 'of keys in one spelling JavaScript sees only the last; libcni never sends two' },
      ),
    ],
  },
  {
    id: 'C8',
    title: 'numbers may come in other notation than they were written',
    cases: [
      {
        title: '1400.0 and 1.4e3 are 1400; numbers beyond 2^53 elsewhere are none of ours',
        differs: 'the reference refuses 1400.0; the value is the same, and the result prints 1400',
        run: async (t, rig) => {
          for (const [index, mtu] of ['1400', '1400.0', '1.4e3'].entries()) {
            const config =
              '{"cniVersion":"1.1.0","name":"fixed","x":18446744073709551616,"y":1e400,' +
              `"ipam":{"type":"ipkeeper","subnet":"10.22.0.0/24","routes":[{"dst":"0.0.0.0/0","mtu":${mtu}}]}}`
            const answer = await rig.run({ config, env: { CNI_CONTAINERID: `c${index}` } })
            assertResult(t, answer, '1.1.0', mtu)
            t.match(answer.stdout, /"mtu": 1400\n/, mtu)
          }
        },
      },
      refuses('numbers as text, fractions', () => {
        const route = (mtu: unknown): object => ({
          subnet: '10.22.0.0/24',
          routes: [{ dst: '0.0.0.0/0', mtu }],
        })
        return [
          [
            'text',
            { config: withIpam('1.1.0', route('1400')) },
            7,
            '"ipam.routes[0].mtu" must be a number, not a string',
          ],
          ['fraction', { config: withIpam('1.1.0', route(1400.5)) }, 7, /must be an integer, not 1400\.5/],
          [
            'subnet',
            { config: withIpam('1.1.0', { subnet: 10 }) },
            7,
            '"ipam.subnet" must be a string, not a number',
          ],
        ]
      }),
    ],
  },
  {
    id: 'C9',
    title: 'capabilities and foreign keys of cni.dev are left standing by runtimes',
    cases: [
      {
        title: 'ADD, CHECK and DEL with them',
        run: async (t, rig) => {
          const config = network('1.1.0', {
            capabilities: { ips: true, 'io.kubernetes.cri.pod-annotations': true },
            'cni.dev/foo': { bar: 1 },
            'cni.dev/valid-attachments': [],
          })
          await added(t, rig, '1.1.0', { config })
          for (const verb of ['CHECK', 'DEL']) t.equal((await rig.run({ verb, config })).exit, 0, verb)
        },
      },
    ],
  },
  {
    id: 'C10',
    title:
      'a field that is not supported is code 2 with key and value; a configuration without sense is code 7',
    cases: [
      refuses('not supported', () => [
        [
          'promiscuous bridge',
          { config: network('1.0.0', { type: 'ipkeeper', promiscMode: true }) },
          ...([2, /promiscMode.*true/] as const),
        ],
      ]),
      refuses(
        'without sense: details say where, or what to do',
        version => [
          ['CIDR', { config: withIpam(version, { subnet: 'foo' }) }, 7, /./, /^in ipam\.subnet; /],
          ['no ranges', { config: withIpam(version, {}) }, 7, /./, /give "ipam" a "subnet" or "ranges"/],
          [
            'type',
            { config: network(version, { ipam: 'x' }) },
            7,
            '"ipam" must be an object, not a string',
            /conflist .* the key that the message names/,
          ],
          [
            'list',
            { config: withIpam(version, { ranges: ranges[0] }) },
            7,
            /^"ipam\.ranges\[0\]" must be an array/,
            /./,
          ],
        ],
        { versions: allVersions },
      ),
    ],
  },
]
