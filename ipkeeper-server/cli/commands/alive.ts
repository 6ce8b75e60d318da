import type { ErrorReply } from '../../../shared/api/cni.schema.ts'
import type { ProblemCode } from '../../../shared/problem/catalogue.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { command } from '../framework/command.ts'

/** Nobody answered, or nothing that is worth an answer: a new start may help. */
const noAnswers: readonly ProblemCode[] = [
  'IPK_DAEMON_UNREACHABLE',
  'IPK_DAEMON_TIMEOUT',
  'IPK_DAEMON_REPLY_INVALID',
  'IPK_INTERNAL',
]

interface Alive {
  /** Why nothing is served; null: it is. */
  readonly refuses: Pick<ErrorReply, 'code' | 'message' | 'hint'> | null
}

export const aliveCommand = command({
  name: 'alive',
  arguments: [],
  summary: 'show whether the daemon answers at all, be it that it serves nothing',
  about: [
    'For liveness probes. A daemon that is refused its name, or whose ledger is lost, says so to everybody and goes on by itself once that is mended: to end it would hide the reason. Whether it serves is what "ipkeeperctl status" is for.',
  ],
  exits: {
    0: 'it answers, also where it says why it serves nothing',
    1: 'nobody answers, or not as a daemon does',
  },
  options: {},
  examples: [{ line: 'ipkeeperctl alive', does: 'tells a daemon that refuses from one that is gone' }],
  run: async (daemon): Promise<Alive> => {
    try {
      await daemon.ask('GET', '/v1/health')
      return { refuses: null }
    } catch (error) {
      if (!(error instanceof Problem) || noAnswers.includes(error.code)) throw error
      const { code, message, hint } = error
      return { refuses: { code, message, hint } }
    }
  },
  print: ({ refuses }) =>
    refuses === null
      ? 'the daemon answers\n'
      : `the daemon answers, and serves nothing: ${refuses.message} [${refuses.code}]\nhint: ${refuses.hint}\n`,
})
