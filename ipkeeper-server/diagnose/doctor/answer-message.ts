import type { Captures } from './messages/text-group.ts'
import { recognise } from './messages/recognise.ts'
import { shellLine } from '../../../shared/text/shell-word.ts'
import type { NodeView } from './probe-node.ts'
import { whoHolds } from './who-holds.ts'

/** What a known text means on this node. */
export interface MessageAnswer {
  readonly id: string
  readonly said: string
  readonly times: number
  readonly means: string
  readonly why: string
  readonly affects: string
  readonly about: Captures
  /** Who holds what it speaks of; sentences. */
  readonly known: readonly string[]
  readonly mend: readonly { readonly command: string; readonly does: string }[]
  readonly source: string
}

export interface MessageReport {
  readonly answers: readonly MessageAnswer[]
  /** What tells more, where nothing was recognised. */
  readonly otherwise: readonly { readonly command: string; readonly does: string }[]
  /** Characters in the middle that were not looked at. */
  readonly leftOut: number
  /** Further texts that were recognised. */
  readonly more: number
}

/** How to learn more of a text that nobody knows. */
const tellMore = [
  { command: 'ipkeeperctl flights --failed', does: 'shows what ipkeeper was asked, and what it printed' },
  { command: 'ipkeeperctl try', does: 'runs the network once and shows what each plugin says' },
  { command: 'ipkeeperctl lint', does: 'says what is wrong with the network configurations' },
  { command: 'ipkeeperctl doctor', does: 'checks everything that pods of this node need' },
]

/** Finds what is known in a text that somebody pasted, and says who holds what it is about. Never rejects. */
export async function answerMessage(node: NodeView, raw: string): Promise<MessageReport> {
  const { found, leftOut, more } = recognise(raw)
  const answers = await Promise.all(
    found.map(async ({ text, captures, said, times }) => ({
      ...{ id: text.id, said, times, means: text.means, why: text.why, affects: text.affects },
      about: captures,
      known: await whoHolds(node, captures),
      mend: text.mend(captures).map(({ argv, does }) => ({ command: shellLine(argv), does })),
      source: text.source,
    })),
  )
  return { answers, otherwise: answers.length === 0 ? tellMore : [], leftOut, more }
}
