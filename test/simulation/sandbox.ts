import type { Given, Wish } from './judge.ts'
import type { Machine } from './machine.ts'

/** asked: its ADD is under way. refused: it failed. ending: its DEL was asked for. gone: nothing of it is left but, perhaps, records. */
export type State = 'asked' | 'running' | 'refused' | 'ending' | 'gone'

export interface Sandbox {
  readonly container: string
  readonly wish: Wish
  readonly uid: string
  readonly machine: Machine
  readonly bootId: string
  state: State
  /** The daemon has said something, which the runtime may not know yet. */
  isAnswered?: boolean
  /** Nobody relies on what it has. */
  isDisowned?: boolean
  /** It has lost its links. */
  isCutOff?: boolean
  /** Its address may be kept for nobody: an operator took it away, or it was recorded again without what its pod had asked for. */
  isKeptForNobody?: boolean
  /** Its daemon has said that it cannot record what it has. */
  isUnrecorded?: boolean
  given?: Given
}

/** Whether its machine still runs as it did when the sandbox was made. */
export const isThere = ({ machine, bootId }: Sandbox): boolean => machine.isOn && machine.bootId === bootId
