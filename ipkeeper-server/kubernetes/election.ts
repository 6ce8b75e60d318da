/**
 * Which of the daemons that share a store does what one has to do for all: owners of kept addresses, what nodes that are
 * gone have left, figures of pools. Nothing on the way of an ADD depends on it, and nothing breaks when for a moment two
 * take themselves for elected, or nobody does: each change is conditional, whoever makes it.
 */
export interface Election {
  /** Whether this daemon is it, at this very moment. Asked before each single thing that is done. */
  isElected(): boolean
}

/** Where a daemon has its store to itself. */
export const alone: Election = { isElected: () => true }
