/**
 * Whether what was answered about one address, or one pod, can be put in an order in which it has one owner at a time: each
 * operation at one moment between when it was asked for and when it was answered; one without an answer at any time later, or
 * never. The search is Wing and Gong's, for histories of a few sandboxes.
 */

/** What is seen of a sandbox from outside. */
export type Seen = 'ADD' | 'ADD answered' | 'DEL' | 'DEL answered'

export interface Event {
  readonly sandbox: number
  readonly seen: Seen
}

interface Operation {
  readonly sandbox: number
  readonly acquires: boolean
  readonly asked: number
  /** Infinity: never. */
  readonly answered: number
}

export function isLinearizable(events: readonly Event[]): boolean {
  return canFollow(operationsOf(events), undefined)
}

function operationsOf(events: readonly Event[]): readonly Operation[] {
  return events.flatMap(({ sandbox, seen }, asked) => {
    if (seen !== 'ADD' && seen !== 'DEL') return []
    const answer = `${seen} answered`
    const answered = events.findIndex(other => other.sandbox === sandbox && other.seen === answer)
    return [{ sandbox, acquires: seen === 'ADD', asked, answered: answered < 0 ? Infinity : answered }]
  })
}

/** Whether the operations that are left can follow where this sandbox is the owner, or none is. */
function canFollow(left: readonly Operation[], owner: number | undefined): boolean {
  const firstAnswer = Math.min(...left.map(({ answered }) => answered))
  if (firstAnswer === Infinity) return true
  return left.some(operation => {
    const { sandbox, acquires, asked } = operation
    if (asked > firstAnswer || (acquires && owner !== undefined)) return false
    const next = acquires ? sandbox : owner === sandbox ? undefined : owner
    return canFollow(
      left.filter(other => other !== operation),
      next,
    )
  })
}
