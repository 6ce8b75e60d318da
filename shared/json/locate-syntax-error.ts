/** The first fault of a text that is not one JSON document; `offset` counts UTF-16 units from 0. */
export interface SyntaxFault {
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

const whitespace = /[ \t\n\r]*/y
const plainText = /[^"\\\u0000-\u001f]*/y
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const numberLike = /[-+.]?[0-9][0-9a-zA-Z.+_-]*/y
const word = /[\p{L}_$][\p{L}\p{N}_$-]*/uy

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

/** Says what is wrong first with a text that JSON.parse refused; undefined when nothing is. */
export function locateSyntaxError(text: string): SyntaxFault | undefined {
  const open: Bracket[] = []
  let expected: Expectation = 'value'
  let at = 0
  let comma = -1
  let next: Expectation = 'after'

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  const fault = (what: string, offset = at): SyntaxFault => ({ what, offset })
  const show = (): string => nameCharacter(text.codePointAt(at) ?? 0)

  /** A number or one of the three words, or what is wrong with it. */
  const scalar = (): SyntaxFault | undefined => {
    const like = match(numberLike)
    if (like !== undefined) {
      const valid = match(number)
      if (valid !== like) return fault(`invalid number ${clip(like)}${explainNumber(like)}`)
      at += like.length
      return undefined
    }
    const name = match(word)
    if (name === undefined)
      return fault(mistaken[text[at] ?? ''] ?? `unexpected ${show()} where a value is expected`)
    if (name !== 'true' && name !== 'false' && name !== 'null') {
      return fault(`unknown word ${clip(name)}; only true, false and null stand without quotes`)
    }
    at += name.length
    return undefined
  }

  for (;;) {
    at += match(whitespace)?.length ?? 0
    const character = text[at]
    const inside = open.at(-1)
    if (character === undefined) {
      if (expected === 'after' && inside === undefined) return undefined
      return fault(inside === undefined ? end : `${end}, the ${kindOf[inside]} is not closed`)
    }

    switch (expected) {
      case 'after':
        if (inside === undefined) {
          return fault(`text after the end of the document, beginning with ${show()}`)
        }
        if (character === closerOf[inside]) {
          open.pop()
        } else if (character === ',') {
          comma = at
          expected = inside === '{' ? 'key' : 'value'
        } else if (character === '}' || character === ']') {
          return fault(`"${character}" where the ${kindOf[inside]} needs "${closerOf[inside]}"`)
        } else if (character === ':' && inside === '[') {
          return fault('":" in an array; only objects have keys')
        } else {
          const likely = mistaken[character]
          return fault(likely ?? `missing comma or "${closerOf[inside]}" before ${show()}`)
        }
        at++
        continue

      case 'colon':
        if (character !== ':') return fault(`missing colon after the key, found ${show()}`)
        at++
        expected = 'value'
        continue

      case 'key':
      case 'first-key':
        if (character === '}') {
          if (expected === 'key') return fault('trailing comma before "}"', comma)
          open.pop()
          at++
          expected = 'after'
          continue
        }
        if (character !== '"') {
          const name = match(word)
          if (name !== undefined) return fault(`key ${clip(name)} without double quotes`)
          if (character === ',') return fault('a comma with nothing before it')
          return fault(mistaken[character] ?? `unexpected ${show()} where a key is expected`)
        }
        next = 'colon'
        break

      case 'value':
      case 'first':
        if (character === ']' && inside === '[') {
          if (expected === 'value') return fault('trailing comma before "]"', comma)
          open.pop()
          at++
          expected = 'after'
          continue
        }
        if (character === '{' || character === '[') {
          open.push(character)
          at++
          expected = character === '{' ? 'first-key' : 'first'
          continue
        }
        if (character === ',' || character === '}' || character === ']') {
          return fault(`"${character}" where a value is expected`)
        }
        next = 'after'
        break
    }

    const problem = character === '"' ? scanString() : scalar()
    if (problem) return problem
    expected = next
  }

  /** Moves past a string that begins here, or says what is wrong in it. */
  function scanString(): SyntaxFault | undefined {
    at++
    for (;;) {
      at += match(plainText)?.length ?? 0
      const character = text[at]
      if (character === undefined) return fault(`${end}, a string is not closed`)
      if (character === '"') {
        at++
        return undefined
      }
      if (character !== '\\') {
        const name = nameCharacter(character.charCodeAt(0))
        const isBreak = character === '\n' || character === '\r'
        return fault(
          isBreak ? 'line break inside a string; is the closing quote missing?' : `${name} inside a string`,
        )
      }
      const escaped = match(escape)
      if (escaped === undefined) {
        if (at + 1 >= text.length) return fault(`${end} inside a string`, text.length)
        return fault(
          `invalid escape ${clip(text.slice(at, at + (text[at + 1] === 'u' ? 6 : 2)))} in a string`,
        )
      }
      at += escaped.length
    }
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
