import { playHistory } from './play-history.ts'
import type { History } from './steps.ts'

/** How a history fails; undefined when it does not. */
async function failureOf(history: History): Promise<string | undefined> {
  try {
    await playHistory(history, new Map())
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Tells the shortest story that is found by leaving out what the failure does not need: the search leaves some of it. */
export async function shortestStory(history: History): Promise<string> {
  let shortest = history
  let story = await failureOf(history)
  for (let index = shortest.length - 1; index >= 0; index--) {
    const shorter = shortest.filter((_, position) => position !== index)
    const failure = await failureOf(shorter)
    if (failure === undefined) continue
    shortest = shorter
    story = failure
    // What was needed for the step that is gone may now be needed no more.
    index = shortest.length
  }
  return story ?? 'it fails only now and then'
}
