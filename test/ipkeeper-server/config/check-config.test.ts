import { join } from 'node:path'
import t from 'tap'
import { checkConfig } from '../../../ipkeeper-server/config/check-config.ts'
import { runProgram, type Finished } from '../../rigs/run-program.ts'
import { listenScripted, replyText } from '../../rigs/scripted-socket.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

const pools = (count: number): string =>
  `pools:\n${Array.from({ length: count }, (_, index) => `- { name: p${index}, subnet: 10.${index}.0.0/16 }\n`).join('')}`

const good: readonly (readonly [name: string, text: string, said: string])[] = [
  ['nothing', 'node: n1', 'ok: 0 pools, node n1\n'],
  ['one pool', `node: n1\n${pools(1)}`, 'ok: 1 pool (p0), node n1\n'],
  [
    'two, and dialects',
    `node: n1\n${pools(2)}annotations: [calico, antrea]\n`,
    'ok: 2 pools (p0, p1), node n1, annotations of calico, antrea\n',
  ],
  ['many', `node: n1\n${pools(12)}`, 'ok: 12 pools (p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, ...), node n1\n'],
]
for (const [name, text, said] of good) {
  t.test(`good: ${name}`, t => {
    const folder = t.testdir({ 'c.yaml': text })
    t.strictSame(checkConfig(join(folder, 'c.yaml'), true), { good: true, text: said, content: text })
    t.end()
  })
}

t.test('every fault is a line, however many there are', t => {
  const keys = Array.from({ length: 30 }, (_, index) => `key${index}: 1\n`)
  const path = join(t.testdir({ 'c.yaml': keys.join('') }), 'c.yaml')
  t.strictSame(checkConfig(path, true), {
    good: false,
    text: keys.map((_, index) => `${path}:${index + 1}:1: unknown key "key${index}"\n`).join(''),
  })
  t.end()
})

t.test('a file that is not there', t => {
  const path = join(t.testdir({}), 'c.yaml')
  t.strictSame(checkConfig(path, true), { good: false, text: `${path}: cannot be read (ENOENT)\n` })
  t.strictSame(checkConfig(path, false), {
    ...{ good: true, content: '' },
    text: `ok: there is no ${path}, so defaults apply\n`,
  })
  t.end()
})

const main = join(import.meta.dirname, '..', '..', '..', 'ipkeeper-server', 'main.ts')
const run = (...words: readonly string[]): Promise<Finished> =>
  runProgram(process.execPath, [main, 'check-config', ...words], {
    env: { IPKEEPER_SOCKET: '/nonexistent/s' },
  })

t.test('as a command', async t => {
  const folder = t.testdir({ 'good.yaml': 'node: n1\n', 'bad.yaml': 'nod: n1\nx: 1\n' })
  const bad = join(folder, 'bad.yaml')
  for (const [words, exit, stdout, stderr] of [
    [[join(folder, 'good.yaml')], 0, /^ok: 0 pools, node n1\nthe daemon was not asked: cannot reach /, /^$/],
    [
      [bad],
      1,
      /^$/,
      /^\S+bad.yaml:1:1: unknown key "nod"; did you mean "node"\?\n\S+:2:1: unknown key "x"\n$/,
    ],
    [['a', 'b'], 2, /^$/, /^error: check-config takes at most one FILE; got b as well \[IPK_USAGE\]\n/],
    [[''], 2, /^$/, /^error: FILE is empty/],
    [['--fast', 'a'], 2, /^$/, /^error: .*--fast/],
    [['--help'], 0, /check-config \[FILE\]/, /^$/],
  ] as const) {
    const finished = await run(...words)
    t.match(finished, { exit, stdout, stderr }, words.join(' '))
  }
})

t.test('what a refusal advises names the socket that was given', async t => {
  const folder = tempFolder(t)
  const socket = folder.file('s')
  const refused = {
    code: 'IPK_POOLS_ORPHAN',
    message: 'no',
    details: '',
    hint: 'ipkeeperctl leases --pool p',
  }
  const reply = { refused, atStart: [], added: [], changed: [], removed: [], notes: [] }
  const server = await listenScripted(socket, connection => {
    connection.end(replyText(200, reply))
  })
  t.teardown(server.close)
  const path = join(t.testdir({ 'good.yaml': 'node: n1\n' }), 'good.yaml')
  t.match(await run(path, '--socket', socket), {
    exit: 1,
    stderr: new RegExp(`\\nhint: ipkeeperctl leases --socket ${socket} --pool p\\n$`),
  })
})
