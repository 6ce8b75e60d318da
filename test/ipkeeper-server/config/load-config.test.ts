import { hostname } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig, parseConfig } from '../../../ipkeeper-server/config/load-config.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

const defaults = {
  node: hostname(),
  retention: 'release',
  cooldown: 60_000,
  preferFor: 600_000,
  logLevel: 'info',
}

const accepted: readonly (readonly [name: string, text: string, differs: object])[] = [
  ['nothing', '', {}],
  ['comments alone', '# node: worker-1\n', {}],
  ['an empty mapping', '{}', {}],
  ['null', 'null', {}],
  ['node', 'node: worker-1.example.com\n', { node: 'worker-1.example.com' }],
  ['a node of digits, as text', 'node: "007"\n', { node: '007' }],
  ['retention by word', 'retention: while-owner-exists', { retention: 'while-owner-exists' }],
  ['retention for ever', 'retention: forever', { retention: 'forever' }],
  ['retention by duration', 'retention: 30m', { retention: { milliseconds: 1_800_000 } }],
  ['cool-down', 'cooldown: 90s', { cooldown: 90_000 }],
  ['preferFor', 'preferFor: 2h', { preferFor: 7_200_000 }],
  ['log level', 'logLevel: debug', { logLevel: 'debug' }],
  [
    'several, as JSON',
    '{ "node": "n1", "cooldown": "1d", "logLevel": "warn" }',
    { node: 'n1', cooldown: 86_400_000, logLevel: 'warn' },
  ],
  [
    'an anchor and its alias',
    'cooldown: &long 12h\npreferFor: *long',
    { cooldown: 43_200_000, preferFor: 43_200_000 },
  ],
  ['a byte order mark and CRLF', '\ufeffnode: n1\r\ncooldown: 5s\r\n', { node: 'n1', cooldown: 5000 }],
]
for (const [name, text, differs] of accepted) {
  t.test(`accepted: ${name}`, t => {
    t.strictSame(parseConfig(text, 'c.yaml'), { ...defaults, ...differs })
    t.end()
  })
}

const duration = 'is not a duration of at least 1s, such as 90s, 30m, 12h or 7d'
const refused: readonly (readonly [name: string, text: string, message: string | RegExp])[] = [
  ['cut off', 'node: "n1', /^c\.yaml:1:10: Missing closing "quote$/],
  ['a tab', 'node: n1\n\tcooldown: 5s\n', /^c\.yaml:2:\d+: /],
  ['cut JSON', '{ "node": "n1",', /^c\.yaml:1:16: /],
  ['the same key twice', 'node: a\ncooldown: 5s\nnode: b\n', 'c.yaml:3:1: Map keys must be unique'],
  ['two documents', 'node: a\n---\nnode: b\n', /^c\.yaml:2:1: .*documents/],
  ['a list', '- node: a\n', 'c.yaml: not a mapping of keys to values'],
  ['a text', 'worker-1\n', 'c.yaml: not a mapping of keys to values'],
  [
    'a misspelt key',
    'node: a\ncooldwon: 5s\n',
    'c.yaml:2:1: unknown key "cooldwon"; did you mean "cooldown"?',
  ],
  ['a key of another case', 'loglevel: info', 'c.yaml:1:1: unknown key "loglevel"; did you mean "logLevel"?'],
  ['a key like no other', '# hello\n\n  frobnicate:\n    - 1\n', 'c.yaml:3:3: unknown key "frobnicate"'],
  ['a key that is a number', '1: x', 'c.yaml:1:1: unknown key "1"'],
  ['a misspelt key in JSON', '{ "nod": "a" }', 'c.yaml:1:3: unknown key "nod"; did you mean "node"?'],
  ['an empty node', 'node: ""', 'c.yaml:1:7: node: "" is not a name of letters, digits, "_", "." and "-"'],
  [
    'a node with a slash',
    'node: a/b',
    'c.yaml:1:7: node: "a/b" is not a name of letters, digits, "_", "." and "-"',
  ],
  ['a node of digits', 'node: 7', 'c.yaml:1:7: node: 7 is not a name of letters, digits, "_", "." and "-"'],
  ['no value', 'cooldown: 5s\nnode:\n', /^c\.yaml:2:\d: node: null is not a name/],
  [
    'retention',
    'node: a\nretention: keep\n',
    'c.yaml:2:12: retention: "keep" is not release, while-owner-exists, forever, or a duration of at least 1s, such as 90s, 30m, 12h or 7d',
  ],
  ['a number for a duration', 'cooldown: 60', `c.yaml:1:11: cooldown: 60 ${duration}`],
  ['no unit', 'cooldown: "60"', `c.yaml:1:11: cooldown: "60" ${duration}`],
  ['an unknown unit', 'preferFor: 5w', `c.yaml:1:12: preferFor: "5w" ${duration}`],
  ['nothing', 'preferFor: 0s', `c.yaml:1:12: preferFor: "0s" ${duration}`],
  ['longer than a life', 'cooldown: 99999999d', `c.yaml:1:11: cooldown: "99999999d" ${duration}`],
  ['a list for a value', 'cooldown: [5s]', `c.yaml:1:1: cooldown: ["5s"] ${duration}`],
  [
    'log level',
    'node: a\nlogLevel: loud',
    'c.yaml:2:11: logLevel: "loud" is not one of trace, debug, info, warn, error, fatal',
  ],
]
for (const [name, text, message] of refused) {
  t.test(`refused: ${name}`, async t => {
    const problem = await thrownProblem(() => parseConfig(text, 'c.yaml'))
    t.equal(problem.code, 'IPK_DAEMON_CONFIG')
    if (typeof message === 'string') t.equal(problem.message, message)
    else t.match(problem.message, message)
    t.notMatch(problem.message, '\n')
  })
}

t.test('files', async t => {
  const folder = t.testdir({ 'good.yaml': 'node: n1\n', 'bad.yaml': 'node: n1\ncolldown: 5s\n', folder: {} })
  t.equal(loadConfig(join(folder, 'good.yaml'), true).node, 'n1')
  t.strictSame(loadConfig(join(folder, 'none.yaml'), false), defaults, 'absent: defaults')
  for (const [name, mustExist, message] of [
    ['bad.yaml', true, 'bad.yaml:2:1: unknown key "colldown"; did you mean "cooldown"?'],
    ['none.yaml', true, 'none.yaml: cannot be read (ENOENT)'],
    ['folder', false, 'folder: cannot be read (EISDIR)'],
    ['good.yaml/x', false, 'good.yaml/x: cannot be read (ENOTDIR)'],
  ] as const) {
    const problem = await thrownProblem(() => loadConfig(join(folder, name), mustExist))
    const hint = name === 'none.yaml' ? /^with --config the file has to exist/ : /^correct the file/
    t.match(problem, { code: 'IPK_DAEMON_CONFIG', message: join(folder, message), hint })
  }
})
