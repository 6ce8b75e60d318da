/** A text without what terminals, loggers and encoders put around and into it. */
export interface Unwrapped {
  /** One statement a line. Where lines were joined, which may be within a word, stands `joint`. */
  readonly text: string
  /** All white space taken out; a line break stands between two statements. Patterns are compared with this. */
  readonly squeezed: string
  /** Index in `text` of each character of `squeezed`. */
  readonly places: Uint32Array
  /** Characters that were left out because there are more than anybody reads. */
  readonly leftOut: number
}

/** White space to whoever asks, and in no text that people write. */
export const joint = '\u2028'

/** Characters that are looked at: half of them from the beginning, half from the end. */
const most = 1024 * 1024

/** How a statement of a log or of a listing of events begins. */
const beginnings = [
  // klog
  /^[IWEF][0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}/,
  // logfmt of containerd and CRI-O
  /^time="/,
  // journald, syslog
  /^[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}/,
  // anything that dates its lines; a date within a message is followed by a comma or the like
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9:]{4,5})?[\t ]/,
  // lines of JSON
  /^\{"/,
  // events of kubectl
  /^ {0,8}(?:[0-9]{1,6}[smhd][0-9a-z() ]{0,40})?(?:Warning|Normal) {1,12}[A-Z]/,
] as const

/** What JSON, Go and journald write for characters that cannot stand there; looked for one level at a time. */
const namedCharacters: readonly (readonly [RegExp, string])[] = [
  [/\\{1,16}u001b|#033|\\{1,16}x1b/gi, '\u001b'],
  [/\\{1,16}u003c|&lt;/gi, '<'],
  [/\\{1,16}u003e|&gt;/gi, '>'],
  [/\\{1,16}u0026|&amp;/gi, '&'],
  [/\\{1,16}u0027|&#39;|&apos;/gi, "'"],
  [/\\{1,16}u0022|&quot;|&#34;|[\u201c\u201d]/gi, '"'],
  [/\\{1,16}"/g, '"'],
  [/\\{1,16}'/g, "'"],
  [/\\{1,16}[nrt]/g, ' '],
]

/** Colours, cursor movements, titles of windows. */
const terminalCodes =
  /\u001b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\u0007\u001b\n]{0,512}(?:\u0007|\u001b\\)?|[@-Z\\^_])/g

function shorten(text: string): { kept: string; leftOut: number } {
  if (text.length <= most) return { kept: text, leftOut: 0 }
  const half = most / 2
  return { kept: `${text.slice(0, half)}\n\n${text.slice(-half)}`, leftOut: text.length - most }
}

/** Joins lines that were one, and puts a line break between statements only. */
function statements(text: string): string[] {
  const found: string[] = []
  let open = false
  for (const line of text.split('\n')) {
    const trimmed = line.trim()
    const begins = trimmed === '' || beginnings.some(pattern => pattern.test(line))
    if (open && !begins) found.push(`${found.pop() ?? ''}${joint}${trimmed}`)
    else if (trimmed !== '') found.push(trimmed)
    open = trimmed !== ''
  }
  return found
}

/**
 * Takes the wrapping off: colours, escaped quotes of any depth, escapes of JSON and HTML, CRLF, line breaks of terminals.
 * What is a statement of its own stays one. Time and space grow with the length of the text.
 */
export function unwrap(raw: string): Unwrapped {
  const { kept, leftOut } = shorten(raw)
  let plain = kept.replaceAll(/\r\n?/g, '\n')
  for (const [pattern, character] of namedCharacters) plain = plain.replaceAll(pattern, character)
  plain = plain.replaceAll(terminalCodes, '').replaceAll(/[^\P{C}\n]|[\u2028\u2029]/gu, ' ')
  // A line may end between a backslash and what it stands before.
  const text = statements(plain)
    .join('\n')
    .replaceAll(/\\{1,16}\u2028(["'])/g, '$1')
  const places = new Uint32Array(text.length)
  const squeezed: string[] = []
  let length = 0
  for (let place = 0; place < text.length; place++) {
    const character = text.charAt(place)
    if (character !== '\n' && character.trim() === '') continue
    squeezed.push(character)
    places[length++] = place
  }
  return { text, squeezed: squeezed.join(''), places: places.subarray(0, length), leftOut }
}
