import { styleText } from 'node:util'

/** Prints the story, and counts what did not go as told. Colour only on a terminal (and never with NO_COLOR). */
export interface Narrator {
  title(text: string): void
  /** Begins a numbered step. */
  step(text: string): void
  /** One labelled line of a step; further lines of the text are indented under it. */
  line(label: string, text: string): void
  /** A command and what it printed. */
  output(command: string, text: string): void
  /** States what should hold: a tick, or a cross and one more mistake. */
  expect(holds: boolean, text: string): void
  mistakes(): number
}

type Style = Parameters<typeof styleText>[0]

const width = 110
const labelWidth = 12

/** Breaks a text between words, so that a long error is readable; what has no space stays whole. */
function wrap(text: string, room: number): readonly string[] {
  return text.split('\n').flatMap(paragraph => {
    const lines: string[] = []
    let line = ''
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + 1 + word.length > room) {
        lines.push(line)
        line = word
      } else {
        line = line === '' ? word : `${line} ${word}`
      }
    }
    return [...lines, line]
  })
}

export function startNarrator(stream: NodeJS.WriteStream): Narrator {
  const style = (format: Style, text: string): string => styleText(format, text, { stream })
  const print = (text = ''): void => {
    stream.write(`${text}\n`)
  }
  let steps = 0
  let mistakes = 0
  return {
    title: text => {
      print(style('bold', text))
    },
    step: text => {
      print()
      print(style('bold', `${++steps}. ${text}`))
    },
    line: (label, text) => {
      wrap(text, width - labelWidth).forEach((line, index) => {
        print(`   ${style('dim', (index === 0 ? label : '').padEnd(labelWidth - 3))}${line}`)
      })
    },
    output: (command, text) => {
      print(`   ${style('dim', `$ ${command}`)}`)
      for (const line of text.trimEnd().split('\n')) print(`     ${line}`)
    },
    expect: (holds, text) => {
      if (!holds) mistakes++
      print(`   ${holds ? style('green', '✓') : style('red', '✗ not so:')} ${text}`)
    },
    mistakes: () => mistakes,
  }
}
