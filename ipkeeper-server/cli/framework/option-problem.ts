import { Problem } from '../../../shared/problem/problem.ts'

/** What is wrong with one option of a command line: the hint says what that option takes, and not how the command is called. */
export class OptionProblem extends Problem {
  /** As it is called: "--limit", "-o"; of one that is not known, the one that was meant. */
  readonly option: string

  constructor(option: string, message: string) {
    super('IPK_USAGE', message)
    this.option = option
  }
}
