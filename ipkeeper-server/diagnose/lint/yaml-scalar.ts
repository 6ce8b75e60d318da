import type { Scalar } from 'yaml'
import { TextView } from './text-view.ts'

interface Piece {
  readonly text: string
  readonly at: number
}

/** Lines of a part of a text with their places; each keeps its "\n". */
function* linesOf(text: string, from: number, to: number): Iterable<Piece> {
  for (let at = from; at < to;) {
    const newline = text.indexOf('\n', at)
    const end = newline < 0 || newline >= to ? to : newline + 1
    yield { text: text.slice(at, end), at }
    at = end
  }
}

const indentOf = (line: string): number => line.length - line.replace(/^ +/, '').length
const isBlank = (line: string): boolean => line.trim() === ''

/**
 * The content of a block scalar (`|` or `>`) without its indentation. In a folded one lines that YAML joins are joined
 * by a space here, too, so that a text within quotes may go over several of them.
 */
function blockPieces(source: string, from: number, to: number, folded: boolean): Piece[] {
  const header = source.indexOf('\n', from)
  if (header < 0 || header >= to) return []
  const digit = /[1-9]/.exec(source.slice(from, header).replace(/#.*/, ''))
  const lines = [...linesOf(source, header + 1, to)]
  const first = lines.find(({ text }) => !isBlank(text))
  if (!first) return []
  const parent = indentOf(source.slice(source.lastIndexOf('\n', from) + 1, from))
  const indent = digit ? parent + Number(digit[0]) : indentOf(first.text)
  return lines.map(({ text, at }, index): Piece => {
    const cut = Math.min(indent, indentOf(text))
    const content = text.slice(cut)
    const following = lines[index + 1]?.text.slice(indent) ?? ''
    const joins =
      folded &&
      !isBlank(content) &&
      !isBlank(following) &&
      !/^[ \t]/.test(content) &&
      !/^[ \t]/.test(following)
    return { text: joins ? content.replace(/\r?\n$/, ' ') : content, at: at + cut }
  })
}

const doubleEscapes: Readonly<Record<string, string>> = {
  ...{
    '0': '\0',
    a: '\u0007',
    b: '\b',
    t: '\t',
    '\t': '\t',
    n: '\n',
    v: '\v',
    f: '\f',
    r: '\r',
    e: '\u001b',
  },
  ...{ ' ': ' ', '"': '"', '/': '/', '\\': '\\', N: '\u0085', _: '\u00a0', L: '\u2028', P: '\u2029' },
}

/** The content of a quoted or plain scalar. White space around line breaks is folded to one space, blank lines to breaks. */
function* flowPieces(source: string, from: number, to: number, style: '"' | "'" | ''): Iterable<Piece> {
  const token =
    /([ \t]*\r?\n)+[ \t]*|''|\\\r?\n[ \t]*|\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^])/g
  let at = from
  token.lastIndex = from
  for (let found = token.exec(source); found && found.index < to; found = token.exec(source)) {
    const [match] = found
    let text: string | undefined
    if (match === "''") text = style === "'" ? "'" : undefined
    else if (match.startsWith('\\')) {
      if (style !== '"') text = undefined
      else if (/^\\\r?\n/.test(match)) text = ''
      else if (/^\\[xuU]./.test(match))
        text = String.fromCodePoint(Number.parseInt(match.slice(2), 16) % 0x110000)
      else text = doubleEscapes[match[1] ?? ''] ?? match
    } else {
      const breaks = match.split('\n').length - 1
      text = breaks === 1 ? ' ' : '\n'.repeat(breaks - 1)
    }
    if (text === undefined) continue
    if (found.index > at) yield { text: source.slice(at, found.index), at }
    yield { text, at: found.index }
    at = found.index + match.length
  }
  if (at < to) yield { text: source.slice(at, to), at }
}

/** The text of a YAML scalar, with where it stands in its file. `source` is the whole file. */
export function viewOfScalar(source: string, { type, range, value }: Scalar): TextView {
  const text = typeof value === 'string' ? value : ''
  if (!range) return TextView.somewhere(text, 0)
  const [from, to] = range
  if (type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED')
    return TextView.of(blockPieces(source, from, to, type === 'BLOCK_FOLDED'))
  const style = type === 'QUOTE_DOUBLE' ? '"' : type === 'QUOTE_SINGLE' ? "'" : ''
  const view = TextView.of(flowPieces(source, from + style.length, to - style.length, style))
  return view.text === text ? view : TextView.somewhere(text, from)
}
