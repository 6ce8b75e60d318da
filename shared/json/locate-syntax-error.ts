/** The first fault of a text that is not one JSON document; `offset` counts UTF-16 units from 0. */
export interface FirstSyntaxFault {
  readonly what: string
  readonly offset: number
}

/** What is open around the current place, outermost first. Kept as a list: a hostile text may nest a million deep. */
type Bracket = '{' | '['

/**
 * What may come next:
 *   value      a value must come            first      a value, or the end of the array just opened
 *   key        a key must come              first-key  a key, or the end of the object just opened
 *   colon      ":" after a key              after      "," or a closing bracket, or the end of the document
 */
type Expectation = 'value' | 'first' | 'key' | 'first-key' | 'colon' | 'after'

const plainText = /[^"\\\u0000-\u001f]*/y
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const numberLike = /[-+.]?[0-9][0-9a-zA-Z.+_-]*/y
/** Made when it is needed: reading its classes takes 0.3 ms, and a text without a fault needs none of them. */
const word = (): RegExp => /[\p{L}_$][\p{L}\p{N}_$-]*/uy

const end = 'unexpected end of JSON input'
const closerOf: Record<Bracket, string> = { '{': '}', '[': ']' }
const kindOf: Record<Bracket, string> = { '{': 'object', '[': 'array' }

/** Characters that people paste or type by mistake, and what to say about each. */
const mistaken: Record<string, string> = {
  "'": 'single quote; strings need double quotes',
  '`': 'backquote; strings need double quotes',
  '\u201c': 'typographic quote \u201c; strings need plain double quotes',
  '\u201d': 'typographic quote \u201d; strings need plain double quotes',
  '/': 'comment or stray "/"; JSON has no comments',
  '#': 'comment or stray "#"; JSON has no comments',
  '\ufeff': 'byte order mark (BOM); save the file as UTF-8 without BOM',
  '\u00a0': 'no-break space; use an ordinary space',
}

/**
 * Says what is wrong first with a text that JSON.parse refused; undefined when nothing is.
 *
 * @param most characters that are searched; a fault behind them is called that
 */
export function locateSyntaxError(text: string, most = Infinity): FirstSyntaxFault | undefined {
  return new Scan(text).firstFault(most)
}

/** One way through a text, up to its end or its first fault. */
class Scan {
  readonly #text: string
  readonly #open: Bracket[] = []
  #expected: Expectation = 'value'
  #at = 0
  /** Where the last comma stands. */
  #comma = -1

  constructor(text: string) {
    this.#text = text
  }

  firstFault(most: number): FirstSyntaxFault | undefined {
    for (;;) {
      if (this.#at > most) return this.#fault(`a fault behind the first ${most} characters`)
      const character = this.#skipWhitespace()
      const inside = this.#open.at(-1)
      if (character === undefined) {
        if (this.#expected === 'after' && inside === undefined) return undefined
        return this.#fault(inside === undefined ? end : `${end}, the ${kindOf[inside]} is not closed`)
      }
      const fault = this.#step(character, inside)
      if (fault) return fault
    }
  }

  #step(character: string, inside: Bracket | undefined): FirstSyntaxFault | undefined {
    switch (this.#expected) {
      case 'after':
        return this.#afterValue(character, inside)
      case 'colon':
        if (character !== ':') return this.#fault(`missing colon after the key, found ${this.#show()}`)
        return this.#pass('value')
      case 'key':
      case 'first-key':
        return this.#key(character)
      case 'value':
      case 'first':
        return this.#value(character, inside)
    }
  }

  #afterValue(character: string, inside: Bracket | undefined): FirstSyntaxFault | undefined {
    if (inside === undefined)
      return this.#fault(`text after the end of the document, beginning with ${this.#show()}`)
    if (character === closerOf[inside]) return this.#close()
    if (character === ',') {
      this.#comma = this.#at
      return this.#pass(inside === '{' ? 'key' : 'value')
    }
    if (character === '}' || character === ']')
      return this.#fault(`"${character}" where the ${kindOf[inside]} needs "${closerOf[inside]}"`)
    if (character === ':' && inside === '[') return this.#fault('":" in an array; only objects have keys')
    const likely = mistaken[character]
    return this.#fault(likely ?? `missing comma or "${closerOf[inside]}" before ${this.#show()}`)
  }

  #key(character: string): FirstSyntaxFault | undefined {
    if (character === '}')
      return this.#expected === 'key' ? this.#fault('trailing comma before "}"', this.#comma) : this.#close()
    if (character === '"') return this.#string('colon')
    const name = this.#match(word())
    if (name !== undefined) return this.#fault(`key ${clip(name)} without double quotes`)
    if (character === ',') return this.#fault('a comma with nothing before it')
    return this.#fault(mistaken[character] ?? `unexpected ${this.#show()} where a key is expected`)
  }

  #value(character: string, inside: Bracket | undefined): FirstSyntaxFault | undefined {
    if (character === ']' && inside === '[')
      return this.#expected === 'value'
        ? this.#fault('trailing comma before "]"', this.#comma)
        : this.#close()
    if (character === '{' || character === '[') {
      this.#open.push(character)
      return this.#pass(character === '{' ? 'first-key' : 'first')
    }
    if (character === ',' || character === '}' || character === ']')
      return this.#fault(`"${character}" where a value is expected`)
    return character === '"' ? this.#string('after') : this.#scalar()
  }

  /** A number or one of the three words, or what is wrong with it. */
  #scalar(): FirstSyntaxFault | undefined {
    const like = this.#match(numberLike)
    if (like !== undefined) {
      if (this.#match(number) !== like)
        return this.#fault(`invalid number ${clip(like)}${explainNumber(like)}`)
      return this.#pass('after', like.length)
    }
    const name = this.#match(word())
    if (name === undefined) {
      const likely = mistaken[this.#text[this.#at] ?? '']
      return this.#fault(likely ?? `unexpected ${this.#show()} where a value is expected`)
    }
    if (name !== 'true' && name !== 'false' && name !== 'null')
      return this.#fault(`unknown word ${clip(name)}; only true, false and null stand without quotes`)
    return this.#pass('after', name.length)
  }

  /** Moves past a string that begins here, or says what is wrong in it. */
  #string(next: Expectation): FirstSyntaxFault | undefined {
    this.#at++
    for (;;) {
      this.#at += this.#match(plainText)?.length ?? 0
      const character = this.#text[this.#at]
      if (character === undefined) return this.#fault(`${end}, a string is not closed`)
      if (character === '"') return this.#pass(next)
      if (character !== '\\') {
        const isBreak = character === '\n' || character === '\r'
        return this.#fault(
          isBreak
            ? 'line break inside a string; is the closing quote missing?'
            : `${nameCharacter(character.charCodeAt(0))} inside a string`,
        )
      }
      const escaped = this.#match(escape)
      if (escaped === undefined) return this.#badEscape()
      this.#at += escaped.length
    }
  }

  #badEscape(): FirstSyntaxFault {
    const [text, at] = [this.#text, this.#at]
    if (at + 1 >= text.length) return this.#fault(`${end} inside a string`, text.length)
    const shown = text.slice(at, at + (text[at + 1] === 'u' ? 6 : 2))
    return this.#fault(`invalid escape ${clip(shown)} in a string`)
  }

  #close(): FirstSyntaxFault | undefined {
    this.#open.pop()
    return this.#pass('after')
  }

  /** Moves past what is right; that is no fault. */
  #pass(next: Expectation, length = 1): FirstSyntaxFault | undefined {
    this.#at += length
    this.#expected = next
    return undefined
  }

  /** What comes behind it. Without an expression, since this comes before each sign of a text. */
  #skipWhitespace(): string | undefined {
    for (;;) {
      const character = this.#text[this.#at]
      if (character !== ' ' && character !== '\n' && character !== '\t' && character !== '\r')
        return character
      this.#at++
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)?.[0]
  }

  #fault(what: string, offset = this.#at): FirstSyntaxFault {
    return { what, offset }
  }

  #show(): string {
    return nameCharacter(this.#text.codePointAt(this.#at) ?? 0)
  }
}

/** A character as a reader can recognise it: itself in quotes when it can be seen, else its name. */
function nameCharacter(codePoint: number): string {
  const shown = String.fromCodePoint(codePoint)
  if (codePoint === 0) return 'a NUL byte'
  if (codePoint === 0xfffd) return 'bytes that are no UTF-8'
  if (/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(shown)) return shown === '"' ? 'a double quote' : `"${shown}"`
  return `the control character U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`
}

function explainNumber(text: string): string {
  if (text.startsWith('+')) return '; a number has no plus sign'
  if (text.startsWith('.') || /^-?[0-9]+\.(?![0-9])/.test(text))
    return '; digits are needed on both sides of the point'
  if (/^-?0[xXoObB]/.test(text)) return '; only decimal numbers are JSON'
  if (/^-?0[0-9]/.test(text)) return '; a number has no leading zero'
  return /^[0-9]+(?:\.[0-9]+){2,}/.test(text) ? '; an address is a string and needs double quotes' : ''
}

/** At most 40 characters of foreign text, quoted, on one line. */
function clip(text: string): string {
  const short = text.length > 40 ? `${text.slice(0, 40)}\u2026` : text
  return `"${short.replace(/[\u0000-\u001f\u007f]/g, '\ufffd')}"`
}
