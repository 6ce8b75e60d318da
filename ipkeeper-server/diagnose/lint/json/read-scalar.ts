import type { SyntaxRuleId } from './syntax-fault.ts'
import { nameCharacter, quoted, type SyntaxFaults } from './found-faults.ts'
import { leafNode, type JsonNode, type Span } from './json-node.ts'
import type { Token } from './scan-token.ts'

const words: Readonly<Record<string, true | false | null>> = { true: true, false: false, null: null }
const number = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/** What a text without quotes is that is not JSON, and what was meant. The first row that matches counts. */
interface WordFault {
  readonly pattern: RegExp
  readonly rule: SyntaxRuleId
  readonly message: (word: string) => string
  readonly remedy: (word: string) => string
}

const otherWord = (pattern: RegExp, json: string): WordFault => ({
  ...{ pattern, rule: 'unquoted-value' },
  message: word => `${word} is not valid JSON`,
  remedy: () => `write ${json}`,
})
/** Begins like a number, and is neither a dotted address nor a prefix. */
const numeric = String.raw`^(?![0-9]+(?:\.[0-9]+){2})(?!.*[:/])`
const badNumber = (pattern: string, why: string): WordFault => ({
  ...{ pattern: new RegExp(`${numeric}${pattern}`), rule: 'invalid-number' },
  message: word => `${quoted(word)} is not a JSON number: ${why}`,
  remedy: () => 'write a plain number, or put it in double quotes if it is text',
})

const wordFaults: readonly WordFault[] = [
  {
    ...{ pattern: /^__[A-Z][A-Z0-9_]*__$/, rule: 'template-marker' },
    message: word => `${quoted(word)} was never filled in`,
    remedy: () => fillIn,
  },
  otherWord(/^(?:True|TRUE|yes|Yes|on|On)$/, 'true'),
  otherWord(/^(?:False|FALSE|no|No|off|Off)$/, 'false'),
  otherWord(/^(?:None|Null|NULL|nil|undefined)$/, 'null'),
  {
    ...{ pattern: /^[-+]?(?:NaN|nan|Inf|Infinity|inf|infinity)$/, rule: 'unquoted-value' },
    message: word => `${word} is not a JSON number`,
    remedy: () => 'write a number, or remove the key',
  },
  badNumber(String.raw`\+\.?[0-9]`, 'a number has no plus sign'),
  badNumber('-?0[0-9]', 'a number has no leading zero'),
  badNumber('-?0[xXoObB]', 'only decimal numbers are JSON'),
  badNumber('[-.]?[0-9]', 'a point needs digits on both sides, and nothing may follow them'),
  {
    ...{ pattern: /^/, rule: 'unquoted-value' },
    message: word => `${quoted(word)} has no quotes; only numbers, true, false and null may go without`,
    remedy: word => `write ${quoted(word)}, in double quotes`,
  },
]

/** The remedy for a template marker that reached a node. */
export const fillIn = 'let the installer fill it in, or write the value yourself'

/** A value that has no quotes: a number, one of three words, or what is none of these. */
export function readWord(text: string, token: Token, faults: SyntaxFaults): JsonNode {
  const word = text.slice(token.start, token.end)
  const value = Object.hasOwn(words, word) ? words[word] : undefined
  if (value === null) return leafNode('null', token)
  if (value !== undefined) return leafNode('boolean', token, value)
  if (number.test(word)) return leafNode('number', token, Number(word))
  const fault = wordFaults.find(({ pattern }) => pattern.test(word))
  if (fault) faults.add(fault.rule, token, fault.message(word), fault.remedy(word))
  return leafNode('unknown', token)
}

/** The content of a string, whatever its quotes are. */
export function readString(text: string, token: Token, faults: SyntaxFaults): string {
  if (!token.closed) return readUnclosed(text, token, faults)
  if (token.kind === 'string') return readDoubleQuoted(text, token, faults)
  const raw = text.slice(token.start + 1, token.end - 1)
  if (token.kind === 'single-quoted') return readSingleQuoted(text, token, raw, faults)
  const remedy = `write ${quoted(raw)}, with plain double quotes`
  faults.add('typographic-quotes', token, 'typographic quotes around a string', remedy)
  return raw
}

function readUnclosed(text: string, token: Token, faults: SyntaxFaults): string {
  const content = text.slice(token.start + 1, token.end).trimEnd()
  const message = `the string that begins here, ${quoted(content.slice(0, 40))}, has no closing quote on its line`
  faults.addDoubt('unclosed-string', token, message, 'add the closing double quote')
  return content
}

function readDoubleQuoted(text: string, token: Token, faults: SyntaxFaults): string {
  const source = text.slice(token.start, token.end)
  try {
    return JSON.parse(source) as string
  } catch {
    complainOfContent(source, token, faults)
    return source.slice(1, -1)
  }
}

function complainOfContent(source: string, token: Span, faults: SyntaxFaults): void {
  const inner = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|[\u0000-\u001f]|\\u?/g
  for (const { index, 0: found } of source.matchAll(inner)) {
    if (found.length > 1 && found !== '\\u') continue
    const start = token.start + index
    if (found.startsWith('\\')) {
      const escape = source.slice(index, index + (found === '\\u' ? 6 : 2))
      const span = { start, end: start + escape.length }
      const remedy = String.raw`write "\\" for a backslash`
      faults.add('invalid-escape', span, `${quoted(escape)} is not a JSON escape`, remedy)
    } else {
      const [what, remedy] =
        found === '\t' ? ['a tab', String.raw`write \t, or a space`] : [nameCharacter(found), 'remove it']
      faults.add('control-character', { start, end: start + 1 }, `${what} inside a string`, remedy)
    }
  }
}

function readSingleQuoted(text: string, token: Token, raw: string, faults: SyntaxFaults): string {
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
  const message = `${mark} around ${quoted(raw)}; JSON strings take double quotes`
  const edits = [{ start: token.start, end: token.end, text: replacement }]
  const fix = value === undefined ? undefined : { title: 'write double quotes', edits }
  faults.add('single-quotes', token, message, `write ${quoted(value ?? raw)}`, fix)
  return value ?? raw
}
