/** Through which a run that was interrupted gives up what it is asking for. */
export interface Abandonment {
  readonly abandoned: () => boolean
  /** What ends the wait that is going on; takes the place of what was said before. */
  readonly whenAbandoned: (end: () => void) => void
  readonly abandon: () => void
}

export function createAbandonment(): Abandonment {
  let abandoned = false
  let endWait: (() => void) | undefined
  return {
    abandoned: () => abandoned,
    whenAbandoned: end => {
      endWait = end
      if (abandoned) end()
    },
    abandon: () => {
      abandoned = true
      endWait?.()
    },
  }
}
