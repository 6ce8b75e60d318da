import { clipped } from '../../../shared/json/fold.ts'
import type { Edit, SyntaxFault, SyntaxRuleId } from './fault.ts'
import type { JsonKind, JsonMember, JsonNode, Span } from './json-node.ts'
import { LineMap } from './line-map.ts'
import { scanToken, type Token } from './scan-token.ts'

/** What became of a text. */
export interface Parsed {
  /** undefined where there is no value at all. */
  readonly root: JsonNode | undefined
  /** In the order of the text. */
  readonly faults: readonly SyntaxFault[]
  /**
   * Whether the value is as its writer meant it in spite of the faults. Where brackets, colons or whole parts are missing
   * nobody can know, and nothing is to be said of what is in it.
   */
  readonly sound: boolean
}

/** Deeper than any configuration, and no trouble for functions that follow the value. */
const maxDepth = 200
/** So many, and the text is something else. */
const maxFaults = 100

interface Frame {
  readonly kind: '{' | '['
  readonly open: Span
  readonly members: JsonMember[]
  readonly items: JsonNode[]
  key: { readonly key: string; readonly keySpan: Span } | undefined
}

/** What may come next; see shared/json/locate-syntax-error.ts, which says the same of a strict reader. */
type Expectation = 'value' | 'first' | 'key' | 'first-key' | 'colon' | 'after'

const closerOf = { '{': '}', '[': ']' } as const
const words: Readonly<Record<string, readonly [kind: JsonKind, value: true | false | null]>> = {
  true: ['boolean', true],
  false: ['boolean', false],
  null: ['null', null],
}
/** How other languages write the three words. */
const otherWords: Readonly<Record<string, 'true' | 'false' | 'null'>> = {
  ...{ True: 'true', TRUE: 'true', yes: 'true', Yes: 'true', on: 'true', On: 'true' },
  ...{ False: 'false', FALSE: 'false', no: 'false', No: 'false', off: 'false', Off: 'false' },
  ...{ None: 'null', Null: 'null', NULL: 'null', nil: 'null', undefined: 'null' },
}
const notNumbers = /^[-+]?(?:NaN|nan|Inf|Infinity|inf|infinity)$/
/** What usually follows from another mistake of the same line, and is left out there. */
const followUps = new Set<SyntaxRuleId>(['missing-comma', 'unquoted-key', 'unquoted-value', 'invalid-number'])
const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const placeholderWord = /^__[A-Z][A-Z0-9_]*__$/

const quoted = (text: string): string =>
  JSON.stringify(clipped(text)).replaceAll(/[\u007f-\u009f\u2028\u2029]/g, '?')

/** Characters that nobody sees, by name. */
const invisible: Readonly<Record<string, string>> = {
  '\u00a0': 'a no-break space',
  '\u200b': 'a zero-width space',
  '\u2028': 'a line separator',
  '\u3000': 'an ideographic space',
  '\ufeff': 'a byte order mark',
  '\ufffd': 'bytes that are no UTF-8',
}

function nameCharacter(character: string): string {
  const name = invisible[character]
  if (name !== undefined) return name
  if (/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character)) return quoted(character)
  return `the control character U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/**
 * Reads a text that should be one JSON document and goes on after each mistake, so that all are told at once, each once.
 * Never throws, and takes time in proportion to the text.
 */
export function parseTolerantly(text: string): Parsed {
  const faults: SyntaxFault[] = []
  const lines = new LineMap(text)
  const stack: Frame[] = []
  let sound = true
  let root: JsonNode | undefined
  let expected: Expectation = 'value'
  let at = 0
  /** The line whose structure is broken already: what else is wrong with it follows from that. */
  let brokenLine = 0
  /** Ends where a comma is not missing although there is none: the string before it has swallowed it. */
  let commaSwallowed = false
  let comma: Span | undefined
  let lastWordLine = 0

  const place = (offset: number): string => {
    const { line, column } = lines.placeOf(offset)
    return `${line}:${column}`
  }
  const add = (
    rule: SyntaxRuleId,
    span: Span,
    message: string,
    remedy: string,
    edits?: readonly [string, Edit],
  ): void => {
    const { start, end } = span
    if (followUps.has(rule) && lines.placeOf(start).line === brokenLine) return
    faults.push({
      ...{ rule, start, end, message, remedy },
      ...(edits && { fix: { title: edits[0], edits: [edits[1]] } }),
    })
  }
  /** A mistake that leaves brackets, keys or values in doubt: one in a line, as the next ones follow from it. */
  const addBroken = (rule: SyntaxRuleId, span: Span, message: string, remedy: string): void => {
    sound = false
    const { line } = lines.placeOf(span.start)
    if (line === brokenLine) return
    add(rule, span, message, remedy)
    brokenLine = line
  }

  const leaf = (kind: JsonKind, span: Span, value: JsonNode['value'] = null): JsonNode => ({
    ...{ kind, start: span.start, end: span.end, value },
    ...{ members: [], items: [] },
  })

  /** Puts a finished value where it belongs. */
  const put = (node: JsonNode): void => {
    const frame = stack.at(-1)
    if (!frame) root ??= node
    else if (frame.kind === '[') frame.items.push(node)
    else if (frame.key) frame.members.push({ ...frame.key, value: node })
    if (frame) frame.key = undefined
    expected = 'after'
  }

  const close = (end: number): void => {
    const frame = stack.pop()
    if (!frame) return
    const { open, members, items } = frame
    put({
      ...{ kind: frame.kind === '{' ? 'object' : 'array', start: open.start, end, value: null },
      ...{ members, items },
    })
  }

  /** The value of a string whose quotes are right; complains of what is wrong between them. */
  const readString = (token: Token): string => {
    const source = text.slice(token.start, token.end)
    try {
      return JSON.parse(source) as string
    } catch {
      const inner = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|[\u0000-\u001f]|\\u?/g
      for (const { index, 0: found } of source.matchAll(inner)) {
        if (found.length > 1 && found !== '\\u') continue
        const start = token.start + index
        if (found.startsWith('\\')) {
          const length = found === '\\u' ? 6 : 2
          const span = { start, end: Math.min(start + length, token.end) }
          add(
            'invalid-escape',
            span,
            `${quoted(text.slice(span.start, span.end))} is no escape of JSON`,
            String.raw`write "\\" for a backslash`,
          )
        } else {
          const tab = found === '\t'
          const what = tab ? 'a tab' : nameCharacter(found)
          const remedy = tab ? String.raw`write \t, or a space` : 'take it out'
          add('control-character', { start, end: start + 1 }, `${what} inside a string`, remedy)
        }
      }
      return source.slice(1, -1)
    }
  }

  const readQuoted = (token: Token): string => {
    const raw = text.slice(token.start + 1, token.end - 1)
    const closed = token.closed
    if (token.kind === 'string' && closed) return readString(token)
    if (!closed) {
      const content = text.slice(token.start + 1, token.end).trimEnd()
      commaSwallowed = content.endsWith(',')
      addBroken(
        'unclosed-string',
        token,
        `the string that begins here, ${quoted(content.slice(0, 40))}, has no closing quote in its line`,
        'put the closing double quote',
      )
      return content
    }
    if (token.kind === 'typographic') {
      add(
        'typographic-quotes',
        token,
        'typographic quotes around a string',
        `write ${quoted(raw)}, with plain double quotes`,
      )
      return raw
    }
    const mark = text[token.start] === '`' ? 'backquotes' : 'single quotes'
    const body = raw.replaceAll(/\\['`]|"|\\[^]/g, found =>
      found === '"' ? '\\"' : /['`]$/.test(found) ? found.slice(1) : found,
    )
    const replacement = `"${body}"`
    let value: string | undefined
    try {
      value = JSON.parse(replacement) as string
    } catch {
      // A tab or escape in it, which is for a person to decide.
    }
    add(
      'single-quotes',
      token,
      `${mark} around ${quoted(raw)}; strings of JSON have double quotes`,
      `write ${quoted(value ?? raw)}`,
      value === undefined
        ? undefined
        : ['write double quotes', { start: token.start, end: token.end, text: replacement }],
    )
    return value ?? raw
  }

  /** A value that has no quotes: a number, one of three words, or what is none. */
  const readWord = (token: Token): JsonNode => {
    const word = text.slice(token.start, token.end)
    const known = Object.hasOwn(words, word) ? words[word] : undefined
    if (known) return leaf(known[0], token, known[1])
    if (number.test(word)) return leaf('number', token, Number(word))
    lastWordLine = lines.placeOf(token.start).line
    const other = Object.hasOwn(otherWords, word) ? otherWords[word] : undefined
    if (placeholderWord.test(word)) addTemplate(token)
    else if (other !== undefined) {
      add('unquoted-value', token, `${word} is no word of JSON`, `write ${other}`)
    } else if (notNumbers.test(word)) {
      add('unquoted-value', token, `${word} is no number of JSON`, 'write a number, or take the key out')
    } else if (/^[-+.]?[0-9]/.test(word) && !/^[0-9]+(?:\.[0-9]+){2}|[:/]/.test(word)) {
      const why = word.startsWith('+')
        ? 'a number has no plus sign'
        : /^-?0[0-9]/.test(word)
          ? 'a number has no leading zero'
          : /^-?0[xXoObB]/.test(word)
            ? 'only decimal numbers are JSON'
            : 'digits are needed on both sides of a point, and nothing behind them'
      add(
        'invalid-number',
        token,
        `${quoted(word)} is no number of JSON: ${why}`,
        'write the number plainly, or in double quotes if it is a text',
      )
    } else {
      add(
        'unquoted-value',
        token,
        `${quoted(word)} has no quotes; only numbers, true, false and null stand without`,
        `write ${quoted(word)} with its quotes`,
      )
    }
    return leaf('unknown', token)
  }

  const addTemplate = (token: Span): void => {
    const marker = text.slice(token.start, token.end)
    add(
      'template-marker',
      token,
      `${quoted(marker)} was never filled in`,
      'let the installer put a value there, or write it yourself',
    )
  }

  /** The next token that is no comment; comments are complained of on the way. */
  const next = (): Token => {
    for (;;) {
      const token = scanToken(text, at)
      if (token.kind !== 'comment') return token
      at = token.end
      if (!token.closed) {
        addBroken(
          'comment',
          token,
          'the comment that begins here has no end',
          'take it out; JSON has no comments',
        )
        continue
      }
      add('comment', token, 'JSON has no comments', 'take it out', [
        'take the comment out',
        withoutComment(text, token),
      ])
    }
  }

  const isValueStart = ({ kind }: Token): boolean =>
    ['{', '[', 'string', 'single-quoted', 'typographic', 'word', 'template'].includes(kind)

  const openList = (frames: readonly Frame[]): string =>
    frames.map(({ kind, open }) => `"${kind}" of ${place(open.start)}`).join(', ')

  if (text.startsWith('\ufeff')) {
    const span = { start: 0, end: 1 }
    add(
      'byte-order-mark',
      span,
      'the file begins with a byte order mark (BOM), which is no JSON',
      'save it as UTF-8 without BOM',
      ['take the byte order mark out', { ...span, text: '' }],
    )
    at = 1
  }
  if (text.slice(at).trim() === '') {
    const what = text === '' ? 'the file is empty' : 'the file has nothing but white space'
    add('empty-file', { start: at, end: at }, what, 'write the configuration anew, or remove the file')
    return { root: undefined, faults, sound: false }
  }
  if (text.includes('\0')) {
    const start = text.indexOf('\0')
    add(
      'text-encoding',
      { start, end: start + 1 },
      'a NUL byte: the file is damaged, or saved as UTF-16',
      'save it as UTF-8',
    )
    return { root: undefined, faults, sound: false }
  }

  for (;;) {
    if (faults.length >= maxFaults) {
      add(
        'too-many-mistakes',
        { start: at, end: at },
        `more than ${maxFaults} mistakes; the rest is not looked at`,
        'correct these first',
      )
      sound = false
      break
    }
    const token = next()
    const frame = stack.at(-1)
    const { kind } = token

    if (kind === 'end') {
      if (stack.length > 0) {
        const inside = [...stack].reverse()
        const [innermost, ...others] = inside
        const also = others.length === 0 ? '' : `, nor ${openList(others.slice(0, 4))}`
        const closers = inside
          .map(({ kind: open }) => closerOf[open])
          .slice(0, 5)
          .join('')
        if (innermost && !(brokenLine > 0 && brokenLine === lines.placeOf(token.start).line)) {
          const { open } = innermost
          const message = `the text ends here, but "${innermost.kind}" of ${place(open.start)} is not closed${also}`
          addBroken(
            'unclosed-bracket',
            token,
            message,
            `write ${quoted(closers)} at the end, or put back what was cut off`,
          )
        }
        sound = false
        while (stack.length > 0) close(token.end)
      } else if (!root && faults.length === 0) {
        add('missing-value', token, 'there is no value', 'write the configuration')
      }
      break
    }
    if (!frame && root) {
      const second = kind === '{' || kind === '['
      const message = second
        ? 'a second document begins here; the file holds one'
        : kind === '}' || kind === ']'
          ? `one "${kind}" too many: everything is closed already`
          : `text after the end of the document, beginning with ${nameCharacter(String.fromCodePoint(text.codePointAt(token.start) ?? 0))}`
      add('trailing-text', token, message, second ? 'give it a file of its own' : 'take it out')
      break
    }
    if (kind === 'junk') {
      at = token.end
      const character = text.slice(token.start, token.end)
      if (character === '=' && expected === 'colon') {
        add('missing-colon', token, '"=" between key and value', 'write ":"')
        expected = 'value'
        continue
      }
      addBroken(
        'unexpected-character',
        token,
        `${nameCharacter(character)} has no meaning here`,
        character === '\u00a0' ? 'write an ordinary space' : 'take it out',
      )
      continue
    }
    if (kind === 'template' && expected !== 'value' && expected !== 'first') {
      // Between members it stands for some of them, or for none.
      at = token.end
      addTemplate(token)
      sound = false
      comma = undefined
      continue
    }

    if (
      expected === 'after' ||
      expected === 'key' ||
      expected === 'first-key' ||
      expected === 'first' ||
      expected === 'value'
    ) {
      if ((kind === '}' || kind === ']') && frame) {
        if (kind === closerOf[frame.kind]) {
          if (comma && (expected === 'key' || (expected === 'value' && frame.kind === '['))) {
            add('trailing-comma', comma, `a comma before "${kind}"`, 'take the comma out', [
              'take the comma out',
              { ...comma, text: '' },
            ])
          } else if (expected === 'value') {
            addBroken(
              'missing-value',
              token,
              `"${kind}" where the value of ${quoted(frame.key?.key ?? '')} should be`,
              'write the value, or take the key out',
            )
          }
        } else if (stack.some(({ kind: open }) => closerOf[open] === kind)) {
          addBroken(
            'unclosed-bracket',
            token,
            `"${kind}" comes before "${frame.kind}" of ${place(frame.open.start)} is closed`,
            `write "${closerOf[frame.kind]}" before it`,
          )
          while (stack.at(-1) && closerOf[stack.at(-1)?.kind ?? '{'] !== kind) close(token.start)
        } else {
          addBroken(
            'mismatched-bracket',
            token,
            `"${kind}" closes "${frame.kind}" of ${place(frame.open.start)}`,
            `write "${closerOf[frame.kind]}"`,
          )
        }
        comma = undefined
        at = token.end
        close(at)
        continue
      }
    }

    switch (expected) {
      case 'after':
        if (kind === ',') {
          comma = token
          at = token.end
          expected = frame?.kind === '{' ? 'key' : 'value'
        } else if (kind === ':') {
          at = token.end
          addBroken(
            'missing-comma',
            token,
            frame?.kind === '[' ? '":" in an array; only objects have keys' : '":" where a comma belongs',
            'write a comma, or quote the whole value',
          )
        } else if (kind === 'word' && lastWordLine === lines.placeOf(token.start).line) {
          // The rest of a text of several words without quotes.
          at = token.end
        } else {
          if (!commaSwallowed) {
            const shown = quoted(text.slice(token.start, token.end).replaceAll('"', '').slice(0, 40))
            // The values before and behind it are both known: nothing is in doubt.
            add('missing-comma', token, `no comma before ${shown}`, 'write a comma between the two')
          }
          comma = undefined
          expected = frame?.kind === '{' ? 'key' : 'value'
        }
        commaSwallowed = false
        break

      case 'first-key':
      case 'key':
        if (kind === ',') {
          at = token.end
          add('extra-comma', token, 'a comma with nothing before it', 'take the comma out')
        } else if (kind === 'string' || kind === 'single-quoted' || kind === 'typographic') {
          at = token.end
          const key = readQuoted(token)
          if (frame) frame.key = { key, keySpan: { start: token.start, end: token.end } }
          comma = undefined
          expected = 'colon'
        } else if (kind === 'word') {
          at = token.end
          const key = text.slice(token.start, token.end)
          add(
            'unquoted-key',
            token,
            `the key ${key.length > 60 ? `${key.slice(0, 60)}...` : key} has no quotes`,
            `write ${quoted(key)}`,
          )
          if (frame) frame.key = { key, keySpan: { start: token.start, end: token.end } }
          comma = undefined
          expected = 'colon'
        } else if (kind === ':') {
          at = token.end
          addBroken('unquoted-key', token, '":" with no key before it', 'write the key, in double quotes')
          expected = 'value'
        } else {
          addBroken(
            'unquoted-key',
            token,
            `"${kind}" where a key should be`,
            'write a key, in double quotes, and a colon before it',
          )
          expected = 'value'
        }
        break

      case 'colon':
        if (kind === ':') {
          at = token.end
          expected = 'value'
        } else if (kind === ',' || kind === '}' || kind === ']') {
          addBroken(
            'missing-colon',
            token,
            `the key ${quoted(frame?.key?.key ?? '')} has no value`,
            'write a colon and the value, or take the key out',
          )
          if (frame) frame.key = undefined
          expected = 'after'
        } else if (kind === 'word' && frame?.key?.key.includes(':') === true) {
          // The quote that closes the key has opened the value: the rest of the line is quoted the wrong way round.
          const { key, keySpan } = frame.key
          const name = key.slice(0, key.indexOf(':'))
          addBroken(
            'unclosed-string',
            keySpan,
            `the key ${quoted(name)} has no closing quote`,
            `write ${quoted(name)}`,
          )
          const rest = /[^\n\r]*/y
          rest.lastIndex = token.start
          rest.test(text)
          at = rest.lastIndex
          put(leaf('unknown', token))
          commaSwallowed = true
        } else {
          addBroken(
            'missing-colon',
            token,
            `no colon after the key ${quoted(frame?.key?.key ?? '')}`,
            'write ":" between key and value',
          )
          expected = 'value'
        }
        break

      case 'value':
      case 'first':
        if (kind === '{' || kind === '[') {
          at = token.end
          if (stack.length >= maxDepth) {
            add(
              'too-deep',
              token,
              `nests deeper than ${maxDepth} levels`,
              'no plugin needs that: write it anew',
            )
            return { root: undefined, faults, sound: false }
          }
          stack.push({ kind, open: token, members: [], items: [], key: undefined })
          comma = undefined
          expected = kind === '{' ? 'first-key' : 'first'
        } else if (kind === ',') {
          const inArray = frame?.kind === '['
          at = inArray ? token.end : at
          if (inArray) add('extra-comma', token, 'a comma with nothing before it', 'take the comma out')
          else {
            addBroken(
              'missing-value',
              token,
              frame
                ? `a comma where the value of ${quoted(frame.key?.key ?? '')} should be`
                : 'a comma where the configuration should begin',
              'write the value, or take the key out',
            )
            if (frame) frame.key = undefined
            expected = 'after'
          }
          if (!frame) at = token.end
        } else if (kind === ':') {
          at = token.end
          addBroken('missing-value', token, 'a second colon', 'take it out')
        } else if (kind === 'template') {
          at = token.end
          addTemplate(token)
          put(leaf('unknown', token))
        } else if (kind === 'word') {
          at = token.end
          put(readWord(token))
        } else if (isValueStart(token)) {
          at = token.end
          put(leaf('string', token, readQuoted(token)))
        } else {
          // A closing bracket outside of everything.
          at = token.end
          addBroken('mismatched-bracket', token, `"${kind}" closes nothing`, 'take it out')
        }
        break
    }
  }
  if (!root) sound = false
  return { root, faults: faults.toSorted((a, b) => a.start - b.start), sound }
}

/** A comment that has its line for itself goes with the line, any other with the blanks before it. */
function withoutComment(text: string, { start, end }: Span): Edit {
  let from = start
  while (text[from - 1] === ' ' || text[from - 1] === '\t') from--
  const alone = from === 0 || /[\n\r]/.test(text[from - 1] ?? '')
  const rest = /[ \t]*(?:\r\n|\n|\r|$)/y
  rest.lastIndex = end
  const whole = rest.test(text) ? rest.lastIndex : undefined
  if (alone && whole !== undefined) return { start: from, end: whole, text: '' }
  if (alone) return { start, end, text: '' }
  return { start: from, end, text: whole === undefined ? ' ' : '' }
}
