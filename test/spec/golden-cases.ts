/**
 * The recorded cases of the reference plugins (test/fixtures/conformance/golden.json), each with what it is to us: it
 * holds as it is, the specification wins over it, or it is about something that ipkeeper does not do.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One run of host-local or static as it was recorded. `stdout` is null for nothing, and for what was not one document. */
export interface Golden {
  readonly id: number
  readonly title: string
  readonly reference: 'host-local' | 'static'
  /** Cases of one sequence share state, in order; every other case starts on empty state. */
  readonly sequence?: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string | null
  /** Bytes that JSON cannot hold. */
  readonly stdin_hex: string | null
  readonly exit: number
  readonly stdout: Readonly<Record<string, unknown>> | null
}

/** Where the specification wins over the recording, or a text of ours says more. What is not named here has to agree. */
export interface Departure {
  /** Row of the catalogue, and the reason. */
  readonly why: string
  readonly exit: number
  /** CNI error code; none when nothing is printed. */
  readonly code?: number
}

const departures: Readonly<Record<number, Departure>> = {
  106: { why: 'B9: refused before anything is done, with one document instead of two', exit: 1, code: 8 },
  107: { why: 'B9: a DEL in the own namespace releases what there is and succeeds', exit: 0 },
}

const ofStatic =
  'static prints the addresses of its own configuration and has no ranges; ipkeeper gives from ranges'

/** Cases of static whose text comes from the library, from CNI_ARGS alone, hold for everybody. */
const isAboutArguments = ({ stdout }: Golden): boolean =>
  /^ARGS: (invalid pair|unknown args)/.test(String(stdout?.['msg']))

export type GoldenCase =
  | { readonly golden: Golden; readonly kind: 'holds' }
  | { readonly golden: Golden; readonly kind: 'differs'; readonly departure: Departure }
  | { readonly golden: Golden; readonly kind: 'not ours'; readonly why: string }

function judge(golden: Golden): GoldenCase {
  const departure = departures[golden.id]
  if (departure) return { golden, kind: 'differs', departure }
  if (golden.reference === 'static' && !isAboutArguments(golden))
    return { golden, kind: 'not ours', why: ofStatic }
  return { golden, kind: 'holds' }
}

const file = join(import.meta.dirname, '..', 'fixtures', 'conformance', 'golden.json')
const { what, cases } = JSON.parse(readFileSync(file, 'utf8')) as { what: string; cases: readonly Golden[] }

/** Which versions were recorded, as the recording itself says. */
export const recordedFrom = /\(([^)]+)\)/.exec(what)?.[1] ?? ''

/** Every recorded case, in their order. */
export const goldenCases: readonly GoldenCase[] = cases.map(judge)
