import t from 'tap'
import { serverProgram } from '../../../ipkeeper-server/cli/ipkeeper-server.ts'
import { toolProgram } from '../../../ipkeeper-server/cli/ipkeeperctl.ts'
import type { CommandRow } from '../../../ipkeeper-server/cli/framework/command.ts'

interface Words {
  readonly name: string
  readonly rows: readonly CommandRow[]
  readonly otherWords: Readonly<Record<string, readonly string[]>>
}

for (const { name, rows, otherWords } of [toolProgram, serverProgram] satisfies readonly Words[])
  t.test(`words of other tools: ${name}`, t => {
    const commands = rows.map(row => row.name)
    const words = Object.values(otherWords).flat()
    for (const command of Object.keys(otherWords)) t.ok(commands.includes(command), `${command} is a command`)
    t.strictSame(
      words.filter(word => commands.some(command => command.split(' ')[0] === word)),
      [],
      'none of them is a command',
    )
    t.equal(new Set(words).size, words.length, 'each means one command')
    t.end()
  })
