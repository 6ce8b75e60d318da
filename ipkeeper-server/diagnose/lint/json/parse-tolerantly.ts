import { LineMap } from '../line-map.ts'
import type { Edit, SyntaxFault } from './syntax-fault.ts'
import { SyntaxFaults, nameCharacter, quoted } from './found-faults.ts'
import { leafNode, type JsonNode, type Span } from './json-node.ts'
import { fillIn, readString, readWord } from './read-scalar.ts'
import { findRepair, type Expectation, type Frame, type Repair } from './repairs.ts'
import { scanToken, type Token } from './scan-token.ts'

/** What became of a text. */
export interface Parsed {
  /** undefined where there is no value at all. */
  readonly root: JsonNode | undefined
  /** In the order of the text. */
  readonly faults: readonly SyntaxFault[]
  /**
   * Whether the value is as its writer meant it in spite of the faults. Where brackets, colons or whole parts are missing
   * that is not known, and the linter says nothing of what is in it.
   */
  readonly sound: boolean
}

/** Deeper than any configuration, and no trouble for functions that follow the value. */
const maxDepth = 200
/** With so many the text is something else. */
const maxFaults = 100

const closerOf = { '{': '}', '[': ']' } as const

/**
 * Reads a text that should be one JSON document and goes on after each mistake, so that all are reported, each once.
 * Never throws, and takes time in proportion to the text.
 */
export function parseTolerantly(text: string): Parsed {
  return new TolerantParser(text).parse()
}

class TolerantParser {
  readonly #text: string
  readonly #lines: LineMap
  readonly #list: SyntaxFaults
  readonly #stack: Frame[] = []
  #root: JsonNode | undefined
  #expected: Expectation = 'value'
  /** Where the next token is looked for. */
  #at = 0
  /** The comma before this place, if nothing has followed it yet. */
  #comma: Span | undefined
  /** Whether the string before this place has swallowed a comma, so that none is missing. */
  #commaSwallowed = false
  /** The line of the last text without quotes, which may have further words. */
  #lastWordLine = 0

  constructor(text: string) {
    this.#text = text
    this.#lines = new LineMap(text)
    this.#list = new SyntaxFaults(this.#lines)
  }

  parse(): Parsed {
    if (!this.#begin()) return this.#parsed(undefined)
    for (;;) {
      if (this.#list.faults.length >= maxFaults) {
        const message = `more than ${maxFaults} mistakes; the rest was not checked`
        this.#list.add(
          'too-many-mistakes',
          { start: this.#at, end: this.#at },
          message,
          'correct these first',
        )
        this.#list.sound = false
        break
      }
      const token = this.#next()
      if (token.kind === 'end') {
        this.#end(token)
        break
      }
      if (this.#stack.length === 0 && this.#root) {
        this.#refuseRest(token)
        break
      }
      if (!this.#read(token)) return this.#parsed(undefined)
    }
    return this.#parsed(this.#root)
  }

  #parsed(root: JsonNode | undefined): Parsed {
    const { faults, sound } = this.#list
    return { root, faults: faults.toSorted((a, b) => a.start - b.start), sound: sound && root !== undefined }
  }

  /** Whether there is anything to read. */
  #begin(): boolean {
    const text = this.#text
    if (text.startsWith('\ufeff')) {
      const span = { start: 0, end: 1 }
      const message = 'the file begins with a byte order mark (BOM), which JSON does not allow'
      const fix = { title: 'remove the byte order mark', edits: [{ ...span, text: '' }] }
      this.#list.add('byte-order-mark', span, message, 'save it as UTF-8 without BOM', fix)
      this.#at = 1
    }
    const nul = text.indexOf('\0')
    if (text.slice(this.#at).trim() === '') {
      const message = text === '' ? 'the file is empty' : 'the file has nothing but white space'
      const span = { start: this.#at, end: this.#at }
      this.#list.add('empty-file', span, message, 'write the configuration again, or remove the file')
      return false
    }
    if (nul < 0) return true
    const message = 'a NUL byte: the file is damaged, or saved as UTF-16'
    this.#list.add('text-encoding', { start: nul, end: nul + 1 }, message, 'save it as UTF-8')
    return false
  }

  /** The next token that is not a comment; comments are reported on the way. */
  #next(): Token {
    for (;;) {
      const token = scanToken(this.#text, this.#at)
      if (token.kind !== 'comment') return token
      this.#at = token.end
      if (token.closed) {
        const fix = { title: 'remove the comment', edits: [withoutComment(this.#text, token)] }
        this.#list.add('comment', token, 'JSON has no comments', 'remove it', fix)
      } else {
        const message = 'the comment that begins here has no end'
        this.#list.addDoubt('comment', token, message, 'remove it; JSON has no comments')
      }
    }
  }

  /** Deals with a token. False where it nests too deep to go on. */
  #read(token: Token): boolean {
    const { kind } = token
    const frame = this.#stack.at(-1)
    if (kind === 'junk') this.#skipJunk(token)
    else if (kind === 'template' && this.#expected !== 'value') this.#skipTemplate(token)
    else if ((kind === '}' || kind === ']') && frame && this.#expected !== 'colon')
      this.#closeBracket(token, kind, frame)
    else if (this.#expected === 'after') this.#readAfter(token)
    else if (this.#expected === 'key') this.#readKey(token)
    else if (this.#expected === 'colon') this.#readColon(token)
    else return this.#readValue(token)
    return true
  }

  #readAfter(token: Token): void {
    const { kind } = token
    if (kind === ',') {
      this.#comma = token
      this.#at = token.end
      this.#expectMember()
    } else if (kind === ':') this.#repair(token)
    else if (kind === 'word' && this.#lastWordLine === this.#lines.placeOf(token.start).line) {
      // The rest of a text of several words without quotes.
      this.#at = token.end
    } else {
      if (!this.#commaSwallowed) {
        const shown = quoted(this.#sourceOf(token).replaceAll('"', '').slice(0, 40))
        // The values on both sides are known: nothing is in doubt.
        this.#list.add('missing-comma', token, `no comma before ${shown}`, 'write a comma between the two')
      }
      this.#comma = undefined
      this.#expectMember()
    }
    this.#commaSwallowed = false
  }

  #readKey(token: Token): void {
    const { kind } = token
    if (kind !== 'word' && !isString(token)) {
      this.#repair(token)
      return
    }
    this.#at = token.end
    const key = kind === 'word' ? this.#sourceOf(token) : this.#readString(token)
    if (kind === 'word') {
      const shown = key.length > 60 ? `${key.slice(0, 60)}...` : key
      this.#list.add('unquoted-key', token, `the key ${shown} has no quotes`, `write ${quoted(key)}`)
    }
    const frame = this.#stack.at(-1)
    if (frame) frame.key = { key, keySpan: { start: token.start, end: token.end } }
    this.#comma = undefined
    this.#expected = 'colon'
  }

  #readColon(token: Token): void {
    const key = this.#stack.at(-1)?.key
    if (token.kind === ':') {
      this.#at = token.end
      this.#expected = 'value'
    } else if (token.kind === 'word' && key?.key.includes(':') === true) {
      // The quote that closes the key has opened the value: the rest of the line is quoted the wrong way round.
      const name = quoted(key.key.slice(0, key.key.indexOf(':')))
      this.#list.addDoubt(
        'unclosed-string',
        key.keySpan,
        `the key ${name} has no closing quote`,
        `write ${name}`,
      )
      const rest = /[^\n\r]*/y
      rest.lastIndex = token.start
      rest.test(this.#text)
      this.#at = rest.lastIndex
      this.#put(leafNode('unknown', token))
      this.#commaSwallowed = true
    } else this.#repair(token)
  }

  /** False where it nests too deep to go on. */
  #readValue(token: Token): boolean {
    const { kind } = token
    if (kind === '{' || kind === '[') return this.#openBracket(token, kind)
    if (kind === 'word') {
      this.#at = token.end
      const node = readWord(this.#text, token, this.#list)
      if (node.kind === 'unknown') this.#lastWordLine = this.#lines.placeOf(token.start).line
      this.#put(node)
    } else if (isString(token)) {
      this.#at = token.end
      this.#put(leafNode('string', token, this.#readString(token)))
    } else if (kind === 'template') {
      this.#at = token.end
      this.#addTemplate(token)
      this.#put(leafNode('unknown', token))
    } else this.#repair(token)
    return true
  }

  #openBracket(token: Token, kind: '{' | '['): boolean {
    this.#at = token.end
    if (this.#stack.length >= maxDepth) {
      const message = `nests deeper than ${maxDepth} levels`
      this.#list.add('too-deep', token, message, 'no plugin needs that: write the configuration again')
      return false
    }
    this.#stack.push({ kind, open: token, members: [], items: [], key: undefined })
    this.#comma = undefined
    this.#expectMember()
    return true
  }

  #closeBracket(token: Token, kind: '}' | ']', frame: Frame): void {
    const { kind: open } = frame
    const opened = `"${open}" opened at ${this.#placeOf(frame.open)}`
    if (kind === closerOf[open]) {
      if (this.#expected === 'value' && open === '{') this.#repair(token)
      else if (this.#comma && this.#expected !== 'after') {
        const fix = { title: 'remove the comma', edits: [{ ...spanOf(this.#comma), text: '' }] }
        this.#list.add('trailing-comma', this.#comma, `a comma before "${kind}"`, 'remove the comma', fix)
      }
    } else if (this.#stack.some(outer => closerOf[outer.kind] === kind)) {
      const message = `"${kind}" comes before ${opened} is closed`
      this.#list.addDoubt('unclosed-bracket', token, message, `write "${closerOf[open]}" before it`)
      while (this.#stack.at(-1)?.kind === open) this.#close(token.start)
    } else {
      this.#list.addDoubt(
        'mismatched-bracket',
        token,
        `"${kind}" closes ${opened}`,
        `write "${closerOf[open]}"`,
      )
    }
    this.#comma = undefined
    this.#at = token.end
    this.#close(token.end)
  }

  /** Makes a value of what the innermost bracket holds. */
  #close(end: number): void {
    const frame = this.#stack.pop()
    if (!frame) return
    const { kind, open, members, items } = frame
    const start = open.start
    this.#put({ kind: kind === '{' ? 'object' : 'array', start, end, value: null, members, items })
  }

  /** Puts a finished value where it belongs. */
  #put(node: JsonNode): void {
    const frame = this.#stack.at(-1)
    if (!frame) this.#root ??= node
    else if (frame.kind === '[') frame.items.push(node)
    else if (frame.key) frame.members.push({ ...frame.key, value: node })
    if (frame) frame.key = undefined
    this.#expected = 'after'
  }

  #expectMember(): void {
    this.#expected = this.#stack.at(-1)?.kind === '{' ? 'key' : 'value'
  }

  /** Reports a token that must not come here, and goes on as the table says. */
  #repair(token: Token): void {
    const frame = this.#stack.at(-1)
    const repair: Repair | undefined = findRepair(this.#expected, token.kind, frame)
    if (!repair) return
    const message = repair.message
      .replace('TOKEN', token.kind)
      .replace('KEY', () => quoted(frame?.key?.key ?? ''))
    if (repair.doubt) this.#list.addDoubt(repair.rule, token, message, repair.remedy)
    else this.#list.add(repair.rule, token, message, repair.remedy)
    if (repair.skips) this.#at = token.end
    if (repair.dropsKey && frame) frame.key = undefined
    this.#expected = repair.then ?? this.#expected
  }

  #skipJunk(token: Token): void {
    this.#at = token.end
    const character = this.#sourceOf(token)
    if (character === '=' && this.#expected === 'colon') {
      this.#list.add('missing-colon', token, '"=" between key and value', 'write ":"')
      this.#expected = 'value'
      return
    }
    const remedy = character === '\u00a0' ? 'write an ordinary space' : 'remove it'
    this.#list.addDoubt(
      'unexpected-character',
      token,
      `${nameCharacter(character)} is not allowed here`,
      remedy,
    )
  }

  /** Between members a marker stands for some of them, or for none. */
  #skipTemplate(token: Token): void {
    this.#at = token.end
    this.#addTemplate(token)
    this.#list.sound = false
    this.#comma = undefined
  }

  #addTemplate(token: Token): void {
    this.#list.add('template-marker', token, `${quoted(this.#sourceOf(token))} was never filled in`, fillIn)
  }

  #readString(token: Token): string {
    const value = readString(this.#text, token, this.#list)
    if (!token.closed) this.#commaSwallowed = value.endsWith(',')
    return value
  }

  #end(token: Token): void {
    const inside = this.#stack.toReversed()
    const [innermost, ...others] = inside
    if (!innermost) {
      if (!this.#root && this.#list.faults.length === 0)
        this.#list.add('missing-value', token, 'there is no value', 'write the configuration')
      return
    }
    const opened = ({ kind, open }: Frame): string => `"${kind}" opened at ${this.#placeOf(open)}`
    const also = others.slice(0, 4).map(opened).join(', ')
    const message = `the text ends here, but ${opened(innermost)} is not closed${also === '' ? '' : `, nor is ${also}`}`
    const closers = inside.slice(0, 5).map(({ kind }) => closerOf[kind])
    const remedy = `write ${quoted(closers.join(''))} at the end, or restore what was cut off`
    this.#list.addDoubt('unclosed-bracket', token, message, remedy)
    while (this.#stack.length > 0) this.#close(token.end)
  }

  /** Reports what follows the end of the document. */
  #refuseRest(token: Token): void {
    const { kind, start } = token
    const first = String.fromCodePoint(this.#text.codePointAt(start) ?? 0)
    const [message, remedy] =
      kind === '{' || kind === '['
        ? ['a second document begins here; the file holds one', 'move it to a file of its own']
        : kind === '}' || kind === ']'
          ? [`one "${kind}" too many: everything is closed already`, 'remove it']
          : [`text after the end of the document, beginning with ${nameCharacter(first)}`, 'remove it']
    this.#list.add('trailing-text', token, message, remedy)
  }

  #sourceOf({ start, end }: Span): string {
    return this.#text.slice(start, end)
  }

  #placeOf({ start }: Span): string {
    const { line, column } = this.#lines.placeOf(start)
    return `${line}:${column}`
  }
}

const spanOf = ({ start, end }: Span): Span => ({ start, end })

const isString = ({ kind }: Token): boolean =>
  kind === 'string' || kind === 'single-quoted' || kind === 'typographic'

/** A comment on a line of its own goes with the line, any other with the blanks before it. */
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
