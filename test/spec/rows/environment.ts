import { added, assertSilent, refuses, silent } from '../answers.ts'
import { network } from '../network.ts'
import type { Row } from '../row.ts'

const config = network('1.1.0')

/** Which variables a verb cannot do without, in the order in which missing ones are listed. */
const required: Readonly<Record<string, readonly string[]>> = {
  ADD: ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  CHECK: ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  DEL: ['CNI_CONTAINERID', 'CNI_IFNAME', 'CNI_PATH'],
  GC: ['CNI_PATH'],
  STATUS: ['CNI_PATH'],
}

const missing = (names: readonly string[]): string => `required env variables [${names.join(',')}] missing`

const without = (names: readonly string[]): Record<string, undefined> =>
  Object.fromEntries(names.map(name => [name, undefined]))

const badIds = ['some-%%container-id', '-a', '.a', '_a', 'a\n', 'a b', 'a/b', '..', 'é', '\u00a0']
const badId = 'invalid characters in containerID'

const longest = '123456789012345'
const tooLong = 'interface name is too long'
const dots = 'interface name is . or ..'
const separator = 'interface name contains / or : or whitespace characters'
/** What Go counts as white space, which is not what JavaScript does. */
const spaces = [
  ' ',
  '\t',
  '\n',
  '\v',
  '\f',
  '\r',
  '\u0085',
  '\u00a0',
  '\u1680',
  '\u2000',
  '\u2028',
  '\u202f',
  '\u3000',
]

const sameNetns = "plugin's netns and netns from CNI_NETNS should not be the same"
const own = { CNI_NETNS: '/proc/self/ns/net' }

export const environmentRows: readonly Row[] = [
  {
    id: 'B1',
    title: 'a variable that the verb needs is missing or empty',
    cases: [
      refuses('each of them in turn, unset and empty', () =>
        Object.entries(required).flatMap(([verb, names]) =>
          names.flatMap(name =>
            [undefined, ''].map(
              value =>
                [`${verb} ${name}`, { verb, config, env: { [name]: value } }, 4, missing([name])] as const,
            ),
          ),
        ),
      ),
      refuses('all of them, and several: every missing one is named, in their order', () => [
        ...Object.entries(required).map(
          ([verb, names]) => [verb, { verb, config, env: without(names) }, 4, missing(names)] as const,
        ),
        [
          'three of ADD',
          { config, env: without(['CNI_PATH', 'CNI_NETNS', 'CNI_IFNAME']) },
          ...([4, missing(['CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'])] as const),
        ],
      ]),
      {
        title:
          'what a verb can do without: DEL without CNI_NETNS and CNI_ARGS, GC and STATUS with CNI_PATH alone',
        run: async (t, rig) => {
          await added(t, rig, '1.1.0', { config })
          await silent(t, rig, { verb: 'DEL', config, env: without(['CNI_NETNS', 'CNI_ARGS']) }, 'DEL')
          t.strictSame(await rig.bound(), [])
          const bare = without(['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME'])
          for (const verb of ['GC', 'STATUS']) await silent(t, rig, { verb, config, env: bare }, verb)
        },
      },
    ],
  },
  {
    id: 'B2',
    title: 'a container ID that is none',
    cases: [
      refuses('characters, and the first one', () => [
        ...badIds.flatMap(id =>
          ['ADD', 'DEL', 'CHECK'].map(
            verb =>
              [
                `${verb} ${JSON.stringify(id)}`,
                { verb, config, env: { CNI_CONTAINERID: id } },
                4,
                badId,
              ] as const,
          ),
        ),
        [
          'before what is missing',
          { config, env: { CNI_CONTAINERID: '%', CNI_NETNS: undefined, CNI_PATH: '' } },
          ...([4, badId] as const),
        ],
        ['before the interface', { config, env: { CNI_CONTAINERID: '%', CNI_IFNAME: 'a/b' } }, 4, badId],
        ['before stdin', { config: '{', env: { CNI_CONTAINERID: '%' } }, 4, badId],
      ]),
      {
        title: 'IDs of any length and of every runtime are taken',
        run: async (t, rig) => {
          for (const id of ['a'.repeat(300), 'A', '0', 'a_b-c.d', 'a.', `k8s.io-${'f'.repeat(64)}`]) {
            await added(t, rig, '1.1.0', { config, env: { CNI_CONTAINERID: id } }, id.slice(0, 20))
            await silent(
              t,
              rig,
              { verb: 'DEL', config, env: { CNI_CONTAINERID: id } },
              `DEL ${id.slice(0, 20)}`,
            )
          }
        },
      },
    ],
  },
  {
    id: 'B3',
    title: 'an interface name that is none',
    cases: [
      refuses('more than 15 bytes, dots, separators, white space', () => [
        ...[`${longest}6`, 'éééééééé', '日本語日本語'].map(
          name =>
            [
              name,
              { config, env: { CNI_IFNAME: name } },
              ...([4, tooLong, /interface name should be less than 16 characters$/] as const),
            ] as const,
        ),
        ...['.', '..'].map(name => [name, { config, env: { CNI_IFNAME: name } }, 4, dots] as const),
        ...['a/b', '/', 'a:b', ...spaces.map(space => `a${space}b`)].map(
          name => [encodeURIComponent(name), { config, env: { CNI_IFNAME: name } }, 4, separator] as const,
        ),
        ['DEL', { verb: 'DEL', config, env: { CNI_IFNAME: '..' } }, 4, dots],
        ['CHECK', { verb: 'CHECK', config, env: { CNI_IFNAME: 'a b' } }, 4, separator],
        ['before what is missing', { config, env: { CNI_IFNAME: '.', CNI_CONTAINERID: '' } }, 4, dots],
      ]),
      {
        title: '15 bytes, %d and other oddities are taken',
        run: async (t, rig) => {
          for (const name of [longest, '%d', '...', 'eth0.100', 'ééééééé', 'a\u200bb', 'a\ufeffb'])
            await added(t, rig, '1.1.0', { config, env: { CNI_IFNAME: name } }, encodeURIComponent(name))
        },
      },
    ],
  },
  {
    id: 'B4',
    title: 'an error about the environment names the variable',
    cases: [
      refuses(
        'in details, since the text of msg is fixed',
        () => [
          ['ID', { config, env: { CNI_CONTAINERID: 'a b' } }, 4, badId, 'CNI_CONTAINERID: a b'],
          ['interface', { config, env: { CNI_IFNAME: 'a:b' } }, 4, separator, 'CNI_IFNAME: a:b'],
          ['dots', { config, env: { CNI_IFNAME: '..' } }, 4, dots, 'CNI_IFNAME: ..'],
          ['length', { config, env: { CNI_IFNAME: `${longest}6` } }, 4, tooLong, /^CNI_IFNAME: /],
        ],
        {
          differs:
            'details begin with the name of the variable, which the specification wants; msg is the same',
        },
      ),
    ],
  },
  {
    id: 'B5',
    title: 'a command that is none',
    cases: [
      refuses('said after stdin was decoded, and not before', () => [
        ...['NOPE', 'add', 'Add', ' ADD', 'ADD ', 'VERSIONS'].map(
          verb => [JSON.stringify(verb), { verb, config }, 4, `unknown CNI_COMMAND: ${verb}`] as const,
        ),
        [
          'with nothing but the command',
          { verb: 'NOPE', config, env: without(required['ADD'] ?? []) },
          4,
          /NOPE$/,
        ],
        ['no stdin', { verb: 'NOPE', config: '' }, 6, /^error unmarshall network config: /],
        ['no name', { verb: 'NOPE', config: {} }, 7, 'missing network name'],
        [
          'a version that is none',
          { verb: 'NOPE', config: network('9.9.9') },
          4,
          'unknown CNI_COMMAND: NOPE',
        ],
      ]),
    ],
  },
  {
    id: 'B6',
    title: 'VERSION is never called unknown',
    cases: [
      {
        title: 'VERSION with whatever environment and stdin',
        changesNothing: true,
        run: async (t, rig) => {
          for (const env of [
            {},
            without(required['ADD'] ?? []),
            { CNI_CONTAINERID: '%', CNI_IFNAME: 'a/b' },
          ]) {
            for (const input of [config, network('9.9.9'), '{', '', 'null', '[]']) {
              const answer = await rig.run({ verb: 'VERSION', env, config: input })
              t.equal(answer.exit, 0)
              t.notMatch(answer.stdout, /unknown/)
              t.notMatch(answer.stderr, /unknown/)
            }
          }
        },
      },
    ],
  },
  {
    id: 'B7',
    title: 'GC, STATUS and VERSION do not look at variables that they do not need',
    cases: [
      {
        title: 'empty, dummies, and values that ADD would refuse',
        changesNothing: true,
        run: async (t, rig) => {
          const empty = { CNI_CONTAINERID: '', CNI_NETNS: '', CNI_IFNAME: '', CNI_ARGS: '' }
          const dummies = { CNI_CONTAINERID: '', CNI_NETNS: 'dummy', CNI_IFNAME: 'dummy', CNI_PATH: 'dummy' }
          const nonsense = { CNI_CONTAINERID: '%', CNI_NETNS: 'x', CNI_IFNAME: 'a/b', CNI_ARGS: 'a=b=c;' }
          for (const env of [empty, dummies, nonsense]) {
            for (const verb of ['GC', 'STATUS']) assertSilent(t, await rig.run({ verb, env, config }), verb)
            t.match(await rig.run({ verb: 'VERSION', env, config }), { exit: 0, stdout: /supportedVersions/ })
          }
        },
      },
    ],
  },
  {
    id: 'B8',
    title: 'CNI_NETNS_OVERRIDE says that the own namespace is meant',
    cases: [
      {
        title: '1 and true, in any case of letters',
        run: async (t, rig) => {
          for (const value of ['1', 'true', 'TRUE']) {
            const env = { ...own, CNI_CONTAINERID: `c-${value}`, CNI_NETNS_OVERRIDE: value }
            await added(t, rig, '1.1.0', { config, env }, value)
          }
        },
      },
      refuses('anything else does not', () =>
        ['', '0', 'false', 'yes'].map(
          value => [value, { config, env: { ...own, CNI_NETNS_OVERRIDE: value } }, 8, sameNetns] as const,
        ),
      ),
    ],
  },
  {
    id: 'B9',
    title: "CNI_NETNS is the plugin's own namespace",
    cases: [
      refuses(
        'ADD is refused before anything is done',
        () => [
          ['by /proc/self', { config, env: own }, 8, sameNetns],
          [
            'by the ID of a process',
            { config, env: { CNI_NETNS: `/proc/${process.pid}/ns/net` } },
            8,
            sameNetns,
          ],
        ],
        {
          differs: 'the reference looks afterwards: it prints a result and an error, and the address is lost',
        },
      ),
      {
        title: 'DEL releases what there is',
        differs: 'the reference releases and then fails, so that the runtime tries for ever',
        run: async (t, rig) => {
          await added(t, rig, '1.1.0', { config })
          await silent(t, rig, { verb: 'DEL', config, env: own }, 'DEL')
          t.strictSame(await rig.bound(), [])
        },
      },
    ],
  },
]
