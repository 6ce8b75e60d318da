import { Problem } from '../../../shared/problem/problem.ts'
import {
  abandonedTables,
  guardScript,
  guardTable,
  readHeard,
  type GuardedProbe,
} from '../plan/answer-rules.ts'
import { findTool, type RunTool } from '../run-tool.ts'

interface AnswerGuardOptions {
  readonly run: RunTool
  /** Milliseconds of CLOCK_MONOTONIC. */
  readonly monotonic: () => number
  /** Pods could not be kept from answering: their answers are believed. */
  readonly onProblem: (error: unknown) => void
}

/**
 * Keeps pods of this node from answering while it is asked on their bridge whether anybody has an address. A pod that
 * answers for whatever is asked for would else leave the node without addresses.
 */
export class AnswerGuard {
  readonly #options: AnswerGuardOptions

  constructor(options: AnswerGuardOptions) {
    this.#options = options
  }

  /**
   * Does the work, an ADD's asking, behind the guard; where there is no nft, or it refuses, without it.
   *
   * @returns what the work resolves to, and at which ports somebody answered who was not to be heard
   */
  async during<T>(
    asked: Omit<GuardedProbe, 'at'>,
    work: () => Promise<T>,
  ): Promise<{ readonly result: T; readonly heard: readonly string[] }> {
    const probe = { ...asked, at: this.#options.monotonic() }
    if (probe.others.length === 0 || !(await this.#putUp(probe))) return { result: await work(), heard: [] }
    try {
      const result = await work()
      return { result, heard: await this.#heard(probe) }
    } finally {
      await this.#takeDown(guardTable(probe))
      await this.#tidy().catch(this.#options.onProblem)
    }
  }

  async #putUp(probe: GuardedProbe): Promise<boolean> {
    if (findTool('nft') === undefined) return false
    try {
      await this.#nft(['-f', '-'], guardScript(probe))
      return true
    } catch (error) {
      this.#options.onProblem(error)
      return false
    }
  }

  async #heard(probe: GuardedProbe): Promise<readonly string[]> {
    try {
      const shown = await this.#nft(['-j', 'list', 'set', ...guardTable(probe).split(' '), 'heard'])
      return readHeard(JSON.parse(shown) as object)
    } catch (error) {
      this.#options.onProblem(error)
      return []
    }
  }

  async #takeDown(table: string): Promise<void> {
    await this.#nft(['delete', 'table', ...table.split(' ')]).catch(this.#options.onProblem)
  }

  /** Takes down what daemons have left that were killed. */
  async #tidy(): Promise<void> {
    const shown = await this.#nft(['-j', 'list', 'tables', 'bridge'])
    const abandoned = abandonedTables(JSON.parse(shown) as object, this.#options.monotonic())
    for (const table of abandoned) await this.#takeDown(table)
  }

  async #nft(args: readonly string[], input = ''): Promise<string> {
    const { exit, stdout, stderr } = await this.#options.run({ tool: 'nft', args, input })
    if (exit === 0) return stdout
    throw new Problem('IPK_WIRING_FAILED', `nft ${args.join(' ')}: ${stderr.trim().split('\n')[0] ?? ''}`)
  }
}
