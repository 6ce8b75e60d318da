import type { CtlCommand, CommandRow, Exits, Option } from './command.ts'
import { OptionProblem } from './option-problem.ts'
import { colorWords } from './terminal-text.ts'
import { defaultPaths } from '../../../shared/paths.ts'
import { nearestWord } from '../../../shared/text/nearest-word.ts'
import { shellWord } from '../../../shared/text/shell-word.ts'

/** What the exit codes mean where a command does not say otherwise; 2 is the same everywhere. */
export const usualExits: Exits = { 0: 'done', 1: 'refused or failed' }
export const usageExit = 'usage error'

/** A row that several commands have. */
export const segmentOption: Option = {
  value: 'NAME',
  text: 'segment of the address (default: default)',
  offers: 'segment',
}

/** Where things are on this node, for what looks at all of them. */
export const folderOptions = {
  'conf-dir': {
    value: 'DIR',
    text: `the runtime's folder of network configurations (default: the daemon's, else ${defaultPaths.confDir})`,
    offers: 'folder',
  },
  'bin-dir': {
    value: 'DIR',
    text: "the runtime's plugin folder (default: the daemon's, else those of its configuration)",
    offers: 'folder',
  },
  'state-dir': {
    value: 'DIR',
    text: `state folder of the plugin (default: $IPKEEPER_STATE_DIR, else ${defaultPaths.stateDir})`,
    offers: 'folder',
  },
} as const satisfies Readonly<Record<string, Option>>

const socketOption: Option = {
  value: 'PATH',
  text: `the daemon's socket (default: $IPKEEPER_SOCKET, else ${defaultPaths.socket})`,
  offers: 'file',
}

export const helpOption: Option = { letter: 'h', text: 'show this help, or that of a command' }

/** What `-o` takes of every command. */
const usualFormats = ['json', 'yaml', 'table'] as const

/** Formats that `-o` takes, those of every command first. */
export const formatsOf = ({ formats = {} }: Pick<CtlCommand, 'formats'>): readonly string[] => [
  ...usualFormats,
  ...Object.keys(formats),
]

/** One word of several that an option takes. Throws IPK_USAGE, which lists them and says which one was meant. */
export function chooseWord<T extends string>(option: string, given: string, known: readonly T[]): T {
  const found = known.find(word => word === given)
  if (found !== undefined) return found
  const meant = nearestWord(given, known)
  const question = meant === undefined ? '' : `; did you mean ${meant}?`
  throw new OptionProblem(option, `${option} ${shellWord(given)} is none of ${known.join(', ')}${question}`)
}

/** What a reference lists below a command: its own options, and what it takes beyond the options of all commands. */
export function ownOptions(
  row: Pick<CommandRow, 'options'> & Partial<Pick<CtlCommand, 'formats' | 'watch'>>,
): Readonly<Record<string, Option>> {
  const usual = commonOptions()
  const beyond = Object.entries(commonOptions(row)).filter(([name, { text }]) => usual[name]?.text !== text)
  return { ...row.options, ...Object.fromEntries(beyond) }
}

/** The options that a command has beside its own. */
export function commonOptions(
  command: Pick<CtlCommand, 'formats' | 'watch'> = {},
): Readonly<Record<string, Option>> {
  const formats = formatsOf(command)
  const more = formats.slice(usualFormats.length)
  return {
    socket: socketOption,
    output: {
      letter: 'o',
      value: usualFormats.join('|'),
      text: `output format${more.length === 0 ? '' : `; also ${more.join(', ')}`} (default: table)`,
      offers: formats,
    },
    color: {
      value: 'WHEN',
      text: 'auto (on a terminal, unless NO_COLOR is set), always or never (default: auto)',
      offers: colorWords,
    },
    ...(command.watch && {
      watch: {
        letter: 'w',
        text: 'refresh until Ctrl-C; when not on a terminal, print only changes, with -o json one line each',
      },
      interval: { value: 'S', text: 'with --watch: seconds between refreshes (default: 2)' },
    }),
    help: helpOption,
  }
}

/** More rows than anything here has. */
const mostRows = 1_000_000_000

/** The value of --limit. Throws IPK_USAGE. */
export const readLimit = (text: string, most = mostRows): number => readCount('--limit', text, most)

/** How many of something an option asks for. Throws IPK_USAGE. */
export function readCount(option: string, text: string, most: number): number {
  if (!/^[1-9][0-9]*$/.test(text))
    throw new OptionProblem(option, `${option} "${text}" is not a whole number above 0`)
  const value = Number(text)
  if (value > most) throw new OptionProblem(option, `${option} ${text} is more than ${most}`)
  return value
}
