/** What a colour says. It never says anything alone: the word that it is on says the same. */
export type Tone = 'good' | 'warn' | 'bad' | 'faint' | 'strong'

/** Puts a colour on a text, or leaves it as it is. */
export type Paint = (tone: Tone, text: string) => string

const codes: Readonly<Record<Tone, number>> = { good: 32, warn: 33, bad: 31, faint: 2, strong: 1 }

export const noPaint: Paint = (_tone, text) => text

/** SGR sequences, as every terminal knows them. */
export const ansiPaint: Paint = (tone, text) => (text === '' ? '' : `\u001b[${codes[tone]}m${text}\u001b[0m`)

/** What --color takes. */
export const colorWords = ['auto', 'always', 'never'] as const
export type ColorWord = (typeof colorWords)[number]

/**
 * Whether colours are wanted: where a terminal is that can show them, unless NO_COLOR is set to anything
 * (no-color.org); --color has the last word.
 */
export function choosePaint(
  word: ColorWord,
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  if (word !== 'auto') return word === 'always' ? ansiPaint : noPaint
  return isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb' ? ansiPaint : noPaint
}
