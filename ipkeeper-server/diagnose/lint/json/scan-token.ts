import type { Span } from './json-node.ts'

/**
 * What a text is made of, mistakes included. `word` is a run of letters and digits without quotes, addresses included;
 * `end` the end of the text; `junk` one character that stands for nothing.
 */
export type TokenKind =
  | '{'
  | '}'
  | '['
  | ']'
  | ':'
  | ','
  | 'string'
  | 'single-quoted'
  | 'typographic'
  | 'word'
  | 'template'
  | 'comment'
  | 'junk'
  | 'end'

export interface Token extends Span {
  readonly kind: TokenKind
  /** Whether a string or comment has its end. */
  readonly closed: boolean
}

const patterns: readonly (readonly [TokenKind, RegExp])[] = [
  // Before brackets and words. None of these can be a part of JSON.
  [
    'template',
    /\{\{[^\n\r]{0,200}?\}\}|\{%[^\n\r]{0,200}?%\}|\$\{[^\n\r{}]*\}|<[A-Za-z_][\w. -]*>|@[A-Z_][A-Z0-9_]*@/y,
  ],
  ['comment', /\/\/[^\n\r]*|#[^\n\r]*/y],
  ['string', /"[^"\\\n\r]*(?:\\[^\n\r][^"\\\n\r]*)*"/y],
  ['single-quoted', /'[^'\\\n\r]*(?:\\[^\n\r][^'\\\n\r]*)*'|`[^`\\\n\r]*(?:\\[^\n\r][^`\\\n\r]*)*`/y],
  ['typographic', /[\u201c\u201d\u201e][^\u201c\u201d\n\r"]*[\u201c\u201d"]/y],
  // Addresses of IPv6 before words, as they have colons: at least two groups end with one.
  ['word', /[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:\/[0-9]{1,3})?(?![\w.])/y],
  ['word', /[-+.]?[0-9][\w.+-]*(?:\/[0-9]+)?|[\p{L}_$-][\p{L}\p{N}_$.-]*/uy],
]

const blank = /[ \t\n\r]*/y
const openString = /["'`\u201c\u201d][^\n\r]*/y

function matchAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** The next token from a place on, white space being skipped. Every token but `end` has at least one character. */
export function scanToken(text: string, from: number): Token {
  const start = matchAt(blank, text, from)
  const first = text[start]
  if (first === undefined) return { kind: 'end', start, end: start, closed: true }
  if (text.startsWith('/*', start)) {
    const close = text.indexOf('*/', start + 2)
    return { kind: 'comment', start, end: close < 0 ? text.length : close + 2, closed: close >= 0 }
  }
  for (const [kind, pattern] of patterns) {
    const end = matchAt(pattern, text, start)
    if (end > start) return { kind, start, end, closed: true }
  }
  if ('{}[]:,'.includes(first)) return { kind: first as TokenKind, start, end: start + 1, closed: true }
  const open = matchAt(openString, text, start)
  if (open > start) {
    const kind = first === '"' ? 'string' : first === "'" || first === '`' ? 'single-quoted' : 'typographic'
    return { kind, start, end: open, closed: false }
  }
  const pair = /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(start, start + 2))
  return { kind: 'junk', start, end: start + (pair ? 2 : 1), closed: true }
}
