/** Records that are walked past between two turns of the event loop: about a millisecond. */
const step = 500

/** Resolves when others had their turn of the event loop. */
export type Turn = () => Promise<unknown>

/**
 * The records that fit. It gives the event loop back on its way, so that an ADD does not wait for a listing; also when it comes past
 * nothing that fits.
 */
export async function* inTurns<T>(
  records: Iterable<T>,
  fits: (record: T) => boolean,
  turn: Turn,
): AsyncGenerator<T> {
  let walked = 0
  for (const record of records) {
    if (fits(record)) yield record
    if (++walked % step === 0) await turn()
  }
}
