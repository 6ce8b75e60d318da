import { defaultPaths } from '../../../shared/paths.ts'
import type { CommandRow } from '../framework/command.ts'

/** What both programs call it; the daemon's loads nothing else of it. */
export const checkConfigRow = {
  name: 'check-config',
  arguments: [
    {
      ...{ name: 'FILE', optional: true, offers: 'file' },
      text: `the configuration file (default: ${defaultPaths.config})`,
    },
  ],
  summary: 'Check a configuration file, and whether the daemon would accept it',
  about: [
    'The daemon knows which addresses are in use: a file that would leave one of them outside its pool is refused. Without a daemon, the text alone is checked, and the output says so.',
  ],
  options: {},
  exits: { 0: 'the file is valid, and the daemon, if it was asked, would put it in force', 1: 'it is not' },
} as const satisfies Omit<CommandRow, 'examples'>
