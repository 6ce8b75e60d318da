/** A history as it is told to a person. Pure. */
import type { Violation } from './judge.ts'
import { describeStep, type History } from './steps.ts'
import type { Outcome } from './play-history.ts'
import { wrong } from './world.ts'

/** So many lines may be one that comes again and again, as of a store that is away and ready in turn. */
const mostRepeated = 6
/** So often at least, to be worth a word. */
const fewestTimes = 3

/** Each line with its second, the first wrong moment marked. */
export function tellStory({ moments }: History, { story, violations }: Outcome): readonly string[] {
  const lines = story.length > 0 ? story : moments.map(({ at, step }) => lineOf(at, describeStep(step)))
  const told = story.length > 0 ? lines : [...lines, ...violations.map(lineOfViolation)]
  const first = told.findIndex(line => textOf(line).startsWith(wrong))
  return shorten(told.map((line, place) => `${place === first ? '>>' : '  '} ${aligned(line)}`))
}

export const lineOf = (at: number, text: string): string => `${(at / 1000).toFixed(3)} ${text}`

const lineOfViolation = ({ at, invariant, says }: Violation): string =>
  lineOf(at, `${wrong}${invariant}: ${says}`)

const textOf = (line: string): string => line.slice(line.indexOf(' ') + 1)

const aligned = (line: string): string => `${line.slice(0, line.indexOf(' ')).padStart(9)} ${textOf(line)}`

/** Lines that come again and again are told once, with their number. */
function shorten(lines: readonly string[]): readonly string[] {
  const texts = lines.map(line => line.replace(/^(..) +\S+/, '$1'))
  const told: string[] = []
  for (let place = 0; place < lines.length;) {
    const { length, times } = repeatedAt(texts, place)
    told.push(...lines.slice(place, place + length))
    place += length * times
    if (times === 1) continue
    const until = lines[place - 1]?.slice(2).trim().split(' ')[0] ?? ''
    told.push(
      `   ${' '.repeat(9)} (${length === 1 ? 'this' : `these ${length} lines`} ${times - 1} times more, until ${until})`,
    )
  }
  return told
}

/** How many of the lines from here on come how often, one time after the other; the fewest that come often enough. */
function repeatedAt(
  texts: readonly string[],
  from: number,
): { readonly length: number; readonly times: number } {
  for (let length = 1; length <= mostRepeated; length++) {
    let to = from + length
    while (to < texts.length && texts[to] === texts[to - length]) to++
    const times = Math.floor((to - from) / length)
    if (times >= fewestTimes) return { length, times }
  }
  return { length: 1, times: 1 }
}
