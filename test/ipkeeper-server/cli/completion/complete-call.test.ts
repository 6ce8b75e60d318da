import t from 'tap'
import { splitLine } from '../../../../ipkeeper-server/cli/completion/complete-call.ts'

for (const [line, words] of [
  ['', ['']],
  ['ipkeeperctl', ['ipkeeperctl']],
  ['ipkeeperctl ', ['ipkeeperctl', '']],
  ['ipkeeperctl  who\t1', ['ipkeeperctl', 'who', '1']],
  ['a --note "licence server" b', ['a', '--note', 'licence server', 'b']],
  ["a 'it is", ['a', 'it is']],
  ['a b\\ c', ['a', 'b c']],
  ["a 'b\\'", ['a', 'b\\']],
  ['a fd00::1', ['a', 'fd00::1']],
  ['a --pool=pr', ['a', '--pool=pr']],
  ['a \\', ['a', '']],
] as const)
  t.strictSame(splitLine(line), words, line)
