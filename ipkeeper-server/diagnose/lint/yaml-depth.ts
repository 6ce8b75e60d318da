import { Lexer } from 'yaml'

/** Brackets within brackets, or list marks in one line. Files of ours need a dozen; the parser takes seconds for thousands. */
export const maxYamlDepth = 64

/** Tokens of the lexer that stand for no text: beginning of a document, end of a broken flow, scalar. */
const synthetic = new Set(['\u0002', '\u0018', '\u001f'])

/** The first place where a text nests deeper than anything of ours, before the YAML parser follows it there. */
export function tooDeepYamlAt(text: string): number | undefined {
  let offset = 0
  let brackets = 0
  let marks = 0
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') brackets++
    else if (token === ']' || token === '}') brackets--
    else if (token === '-' || token === '?') marks++
    else if (token === '\n' || token === '\r\n') marks = 0
    if (brackets > maxYamlDepth || marks > maxYamlDepth) return offset
    if (!synthetic.has(token)) offset += token.length
  }
  return undefined
}
