import t from 'tap'
import type { CommandRow } from '../../../../ipkeeper-server/cli/framework/command.ts'
import {
  completeWords,
  type CompletedProgram,
} from '../../../../ipkeeper-server/cli/completion/complete-words.ts'

const examples = [{ line: 'x', does: 'y' }] as const
const rows: readonly CommandRow[] = [
  {
    ...{ name: 'who', summary: 'tell', examples },
    arguments: [{ name: 'ADDRESS', text: '', offers: 'any address' }],
    options: {
      segment: { value: 'NAME', text: 'of it', offers: 'segment' },
      verb: { value: 'VERB', text: '', offers: ['ADD', 'DEL'] },
      free: { value: 'TEXT', text: '' },
      failed: { text: 'only those' },
    },
  },
  {
    ...{ name: 'cache scan', summary: 'look', examples },
    arguments: [{ name: 'FILE', text: '', optional: true, repeated: true, offers: 'file' }],
    options: { dir: { value: 'DIR', text: '', joined: true, offers: 'folder' } },
  },
  { name: 'cache mend', summary: 'mend', examples, arguments: [], options: {} },
]
const common = {
  socket: { value: 'PATH', text: '', offers: 'file' },
  output: { value: 'json|table', letter: 'o', text: '', offers: ['json', 'table'] },
  help: { letter: 'h', text: 'this' },
} as const
const tool: CompletedProgram = { rows, common: () => common, leading: common }
const server: CompletedProgram = {
  rows: [{ name: 'serve', summary: 'run', examples, arguments: [], options: { help: { text: '' } } }],
  common: () => ({}),
  leading: {},
  passesOn: { ctl: tool },
}

t.test('what fits at the end of a line', t => {
  for (const [line, values, more] of [
    ['', ['who', 'cache', 'help', 'version']],
    ['wh', ['who', 'cache', 'help', 'version']],
    ['--', ['--socket', '--output', '--help']],
    ['-o ', ['json', 'table']],
    ['--socket ', [], 'file'],
    ['--socket x ', ['who', 'cache', 'help', 'version']],
    ['-o json who ', [], 'any address'],
    ['who ', [], 'any address'],
    ['who 10.0.0.1 ', []],
    ['who --segment ', [], 'segment'],
    ['who --segment=l', [], 'segment'],
    ['who --segment lab ', [], 'any address'],
    ['who --segment=lab ', [], 'any address'],
    ['who --failed ', [], 'any address'],
    ['who --verb ', ['ADD', 'DEL']],
    ['who --verb=A', ['--verb=ADD', '--verb=DEL']],
    ['who --free ', []],
    ['who --failed -', ['--segment', '--verb', '--free', '--socket', '--output', '--help']],
    ['who -o json --', ['--segment', '--verb', '--free', '--failed', '--socket', '--help']],
    ['who --unknown ', [], 'any address'],
    ['cache ', ['scan', 'mend']],
    ['cache sc', ['scan', 'mend']],
    ['cache scan ', [], 'file'],
    ['cache scan a b ', [], 'file'],
    ['cache scan --dir ', [], 'folder'],
    ['cache scan --dir x --d', ['--dir', '--socket', '--output', '--help']],
    ['cache mend ', []],
    ['help ', ['who', 'cache']],
    ['help cache ', ['scan', 'mend']],
    ['frobnicate ', []],
    ['frobnicate x ', []],
  ] as const) {
    const words = line.split(' ')
    const { candidates, more: asked } = completeWords(tool, words.slice(0, -1), words.at(-1) ?? '')
    t.strictSame({ values: candidates.map(({ value }) => value), more: asked }, { values, more }, line)
  }
  t.end()
})

t.test('texts, and what stands before a value', t => {
  t.strictSame(completeWords(tool, [], '').candidates.slice(0, 2), [
    { value: 'who', text: 'tell' },
    { value: 'cache', text: 'scan, mend' },
  ])
  t.equal(completeWords(tool, ['who'], '--segment=l').prefix, '--segment=')
  t.end()
})

t.test('a command whose words are those of another program', t => {
  for (const [line, values] of [
    ['', ['serve', 'help', 'version']],
    ['serve --', ['--help']],
    ['ctl ', ['who', 'cache', 'help', 'version']],
    ['ctl cache ', ['scan', 'mend']],
  ] as const) {
    const words = line.split(' ')
    const { candidates } = completeWords(server, words.slice(0, -1), words.at(-1) ?? '')
    t.strictSame(
      candidates.map(({ value }) => value),
      values,
      line,
    )
  }
  t.end()
})
