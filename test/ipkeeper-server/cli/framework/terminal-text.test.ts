import t from 'tap'
import {
  ansiPaint,
  choosePaint,
  formatTable,
  noPaint,
} from '../../../../ipkeeper-server/cli/framework/terminal-text.ts'

for (const [word, isTerminal, env, paint] of [
  ['auto', true, { TERM: 'xterm' }, ansiPaint],
  ['auto', true, {}, ansiPaint],
  ['auto', false, { TERM: 'xterm' }, noPaint],
  ['auto', true, { NO_COLOR: '1' }, noPaint],
  ['auto', true, { NO_COLOR: '' }, ansiPaint],
  ['auto', true, { TERM: 'dumb' }, noPaint],
  ['always', false, { NO_COLOR: '1', TERM: 'dumb' }, ansiPaint],
  ['never', true, {}, noPaint],
] as const)
  t.equal(
    choosePaint(word, isTerminal, env),
    paint,
    `--color ${word}, ${JSON.stringify({ isTerminal, env })}`,
  )

t.equal(ansiPaint('bad', ''), '')

// A colour moves no column, and says nothing that the text does not say.
const rows = [[{ text: 'held', tone: 'warn' }, 'x'], ['bound', { text: 'y', tone: 'good' }], ['z']] as const
const plain = formatTable(['STATE', 'B'], rows, '')
t.equal(plain, 'STATE  B\nheld   x\nbound  y\nz\n')
const painted = formatTable(['STATE', 'B'], rows, '', ansiPaint)
t.match(painted, '\u001b[33mheld\u001b[0m   x\n')
t.equal(painted.replaceAll(/\u001b\[\d+m/g, ''), plain)
