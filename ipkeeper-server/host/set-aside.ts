import { shellWord } from '../../shared/text/shell-word.ts'

/** What to type to have something out of the way: unlike rm it works for whatever stands there, and loses nothing. */
export const asideCommand = (path: string): string => `mv ${shellWord(path)} ${shellWord(`${path}.aside`)}`
