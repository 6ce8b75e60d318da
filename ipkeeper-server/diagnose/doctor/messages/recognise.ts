import { catalogue } from '../../../../shared/problem/catalogue.ts'
import { captureNames, type CaptureName, type Captures, type KnownText } from './text-group.ts'
import { knownTexts } from './known-texts.ts'
import { compileTemplate } from './template.ts'
import { joint, unwrap, type Unwrapped } from './unwrap.ts'

/** A known text that was found, once for each thing that it speaks of. */
export interface Recognised {
  readonly text: KnownText
  readonly captures: Captures
  /** The statement that it stood in, shortened. */
  readonly said: string
  /** How often it was said of the same things. */
  readonly times: number
}

export interface Recognition {
  readonly found: readonly Recognised[]
  /** Characters that were not looked at. */
  readonly leftOut: number
  /** Further texts that were found and are not listed. */
  readonly more: number
}

interface Match {
  readonly text: KnownText
  readonly start: number
  readonly end: number
  readonly captures: Captures
}

const mostMatches = 20_000
const mostFound = 50
const longestSaid = 400
/** How many names around a text, and how far off, may be those of what it is about. */
const mostAround = 16
const farthest = 4000

const patterns = knownTexts.flatMap(text =>
  text.templates.map(template => ({ text, pattern: compileTemplate(template) })),
)

const codes = new Set<string>(Object.keys(catalogue))

/** What stands around a text and says whom it is about; of squeezed text. */
const surroundings: readonly RegExp[] = [
  // The 64 digits of a sandbox; a digest of an image looks the same behind "sha256:".
  /(?<!sha256:|[0-9a-f])(?<containerId>[0-9a-f]{64})(?![0-9a-f])/dg,
  /plugintype="(?<plugin>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})"(?:name="(?<network>[A-Za-z0-9][A-Za-z0-9_.-]{0,252})")?failed\(/dg,
  /pod="(?<pod>[a-z0-9][a-z0-9.-]{0,252}\/[a-z0-9][a-z0-9.-]{0,252})"/dg,
  /PodSandboxMetadata\{Name:(?<podName>[a-z0-9][a-z0-9.-]{0,252}),Uid:[^,\n]{0,64},Namespace:(?<podNamespace>[a-z0-9][a-z0-9-]{0,62}),/dg,
  /K8S_POD_NAMESPACE=(?<podNamespace>[a-z0-9][a-z0-9-]{0,62});[^\n]{0,80}?K8S_POD_NAME=(?<podName>[a-z0-9][a-z0-9.-]{0,252})/dg,
  /pod"(?<podName>[a-z0-9][a-z0-9.-]{0,252})_(?<podNamespace>[a-z0-9][a-z0-9-]{0,62})"network/dg,
  /(?:on|at)(?<socket>\/[A-Za-z0-9_./@%+~-]{1,100}\.sock)/dg,
  /(?:asksfor|requestedIPaddress|\.io\/ip\()(?<address>[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-f]{1,4}:[0-9a-f:]{1,38})/dg,
  /(?<address>[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-f]{1,4}:[0-9a-f:]{1,38})is(?:stillheldby|answeredfor)/dg,
]

/** Behind which a plugin's own words begin. */
const openers = /failed\((?:add|delete|check|gc|status)\):|desc=|error:|err="|error="|msg="/g

/**
 * What a match names. Squeezed text runs the next word into a name at the end of a pattern, and the last one into a name
 * at its beginning; the spaces of the text say where a name ends.
 */
function namedIn(match: RegExpExecArray, { text, places }: Unwrapped): Captures {
  const value = (name: string): string | undefined => {
    const [start, end] = match.indices?.groups?.[name] ?? []
    if (start === undefined || end === undefined) return undefined
    const words = text
      .slice(places[start], (places[end - 1] ?? 0) + 1)
      .replaceAll(joint, '')
      .split(/\s+/)
    return start === match.index ? words.at(-1) : words[0]
  }
  const captures: Partial<Record<CaptureName, string>> = {}
  for (const name of captureNames) {
    const named = value(name)
    if (named !== undefined) captures[name] = named
  }
  const podName = value('podName')
  const podNamespace = value('podNamespace')
  if (podName !== undefined && podNamespace !== undefined) captures.pod = `${podNamespace}/${podName}`
  return captures
}

function allMatches(unwrapped: Unwrapped): Match[] {
  const { squeezed } = unwrapped
  const matches: Match[] = []
  for (const { text, pattern } of patterns) {
    for (const match of squeezed.matchAll(pattern)) {
      const [said] = match
      if (codes.has(text.id) && said === text.id && longerCode(squeezed, match.index, text.id)) continue
      matches.push({
        text,
        start: match.index,
        end: match.index + said.length,
        captures: namedIn(match, unwrapped),
      })
      if (matches.length >= mostMatches) return matches
    }
  }
  return matches
}

/** Whether another code, of which this one is the beginning, stands there. */
function longerCode(squeezed: string, at: number, code: string): boolean {
  const word = squeezed.slice(at, at + 40)
  return [...codes].some(other => other.length > code.length && word.startsWith(other))
}

/** Of matches that overlap the longest stays; of equal ones that of the later row, which is ipkeeper's own. */
function mostSpecific(matches: readonly Match[]): Match[] {
  const byLength = [...matches].sort((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start)
  const kept: Match[] = []
  // Sorted by their start; what is kept never overlaps, so that a neighbour tells.
  const starts: Match[] = []
  for (const match of byLength) {
    let low = 0
    let high = starts.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((starts[middle]?.start ?? 0) < match.end) low = middle + 1
      else high = middle
    }
    const before = starts[low - 1]
    if (before && before.end > match.start) continue
    starts.splice(low, 0, match)
    kept.push(match)
  }
  return kept.sort((a, b) => a.start - b.start)
}

/** The statement that a place is in: where it begins and ends. */
function statementAround(squeezed: string, at: number): readonly [start: number, end: number] {
  const end = squeezed.indexOf('\n', at)
  return [squeezed.lastIndexOf('\n', at - 1) + 1, end < 0 ? squeezed.length : end]
}

/**
 * Where ipkeeper's code stands, it says more than the words before it, which are the reference library's as a rule; and
 * where anything is known, what was wrapped around it is not.
 */
function withoutLessTelling(matches: readonly Match[], squeezed: string): Match[] {
  const opened = Array.from(squeezed.matchAll(openers), match => match.index)
  const silenced = new Set<Match>()
  let lastCode: Match | undefined
  let sinceCode: Match[] = []
  let opener = 0
  let statement: readonly [number, number] = [-1, -1]
  let inStatement: Match[] = []
  const endStatement = (): void => {
    if (inStatement.some(match => match.text.wrapping !== true && !silenced.has(match)))
      for (const match of inStatement) if (match.text.wrapping === true) silenced.add(match)
    const said = inStatement.filter(match => !silenced.has(match))
    // Wrapped twice: the innermost wrapping, which comes last, tells most.
    for (const match of said.slice(0, -1)) if (match.text.wrapping === true) silenced.add(match)
  }
  for (const match of matches) {
    if (match.start >= statement[1]) {
      endStatement()
      statement = statementAround(squeezed, match.start)
      inStatement = []
      sinceCode = []
      lastCode = undefined
    }
    inStatement.push(match)
    if (!codes.has(match.text.id)) {
      sinceCode.push(match)
      continue
    }
    while (opener + 1 < opened.length && (opened[opener + 1] ?? 0) < match.start) opener++
    const opens = opened[opener] ?? 0
    const from = Math.max(opens < match.start ? opens : 0, statement[0], lastCode?.end ?? 0)
    for (const other of sinceCode)
      if (other.start >= from && other.text.wrapping !== true) silenced.add(other)
    // The words of an error that has a code are those of one with a fixed text now and then.
    if (lastCode && lastCode.start >= opens && !lastCode.text.templates.includes(`[${lastCode.text.id}]`))
      silenced.add(lastCode)
    lastCode = match
    sinceCode = []
  }
  endStatement()
  return matches.filter(match => !silenced.has(match))
}

interface Surrounding {
  readonly at: number
  readonly captures: Captures
}

function surroundingsOf(unwrapped: Unwrapped): Surrounding[] {
  return surroundings
    .flatMap(pattern =>
      Array.from(unwrapped.squeezed.matchAll(pattern), match => ({
        at: match.index,
        captures: namedIn(match, unwrapped),
      })),
    )
    .sort((a, b) => a.at - b.at)
}

/** Of each name the nearest before the match in its statement, else the first behind it. */
function withSurroundings(match: Match, squeezed: string, all: readonly Surrounding[]): Captures {
  const first = firstFrom(all, match.end)
  let captures = match.captures
  const add = (surrounding: Surrounding | undefined, from: number, to: number): boolean => {
    if (!surrounding || squeezed.slice(from, to).includes('\n')) return false
    captures = { ...surrounding.captures, ...captures }
    return true
  }
  for (let index = first - 1; index >= first - mostAround; index--) {
    const at = all[index]?.at ?? 0
    if (match.start - at > farthest || !add(all[index], at, match.start)) break
  }
  for (let index = first; index < first + mostAround; index++) {
    const at = all[index]?.at ?? 0
    if (at - match.end > farthest || !add(all[index], match.end, at)) break
  }
  return captures
}

function firstFrom(all: readonly Surrounding[], at: number): number {
  let low = 0
  let high = all.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((all[middle]?.at ?? 0) < at) low = middle + 1
    else high = middle
  }
  return low
}

const readable = (text: string): string => text.replaceAll(joint, ' ')

function saidAt({ text, places }: Unwrapped, { start, end }: Match): string {
  const at = places[start] ?? 0
  const until = places[end - 1] ?? at
  const from = text.lastIndexOf('\n', at - 1) + 1
  const newline = text.indexOf('\n', until)
  const to = newline < 0 ? text.length : newline
  if (to - from <= longestSaid) return readable(text.slice(from, to))
  const first = Math.max(from, at - longestSaid / 4)
  const last = Math.min(to, first + longestSaid)
  return readable(`${first > from ? '…' : ''}${text.slice(first, last)}${last < to ? '…' : ''}`)
}

/**
 * Finds the known texts in whatever was pasted, in its order. Of what overlaps the most specific counts; what is said
 * again of the same things is counted. Takes any text of any length.
 */
export function recognise(raw: string): Recognition {
  const unwrapped = unwrap(raw)
  const { squeezed, leftOut } = unwrapped
  const telling = withoutLessTelling(mostSpecific(allMatches(unwrapped)), squeezed)
  const names = surroundingsOf(unwrapped)
  const found: Found[] = []
  let more = 0
  for (const match of telling) {
    const around = withSurroundings(match, squeezed, names)
    const known = found.find(
      other =>
        other.text === match.text &&
        (apart(squeezed, other, match) ? agree(other.captures, around) : agree(other.own, match.captures)),
    )
    if (known) {
      if (apart(squeezed, known, match)) known.times++
      known.own = { ...match.captures, ...known.own }
      known.captures = { ...around, ...known.captures, ...known.own }
      known.end = match.end
    } else if (found.length < mostFound) {
      const said = saidAt(unwrapped, match)
      found.push({ text: match.text, own: match.captures, captures: around, said, times: 1, end: match.end })
    } else more++
  }
  return {
    found: found.map(({ text, captures, said, times }) => ({ text, captures, said, times })),
    leftOut,
    more,
  }
}

interface Found {
  readonly text: KnownText
  /** What the text itself names. */
  own: Captures
  captures: Captures
  readonly said: string
  times: number
  /** Of its last match. */
  end: number
}

/** Whether two matches are of different statements; in one statement, two texts of one row are one complaint. */
function apart(squeezed: string, { end }: Pick<Found, 'end'>, { start }: Match): boolean {
  return squeezed.slice(end, start).includes('\n')
}

/** Whether both may speak of the same things: of none do they name different ones. */
function agree(some: Captures, others: Captures): boolean {
  return captureNames.every(
    name => some[name] === undefined || others[name] === undefined || some[name] === others[name],
  )
}
