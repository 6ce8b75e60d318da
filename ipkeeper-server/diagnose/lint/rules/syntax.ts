import type { SyntaxRuleId } from '../json/syntax-fault.ts'
import type { Diagnostic, LintRule } from '../lint-rule.ts'
import { spotOf, type Site } from '../site.ts'

/** The mistakes that the parser found, as diagnostics; fixes only where the file is the text itself. */
export function* syntaxDiagnostics(site: Site, rule: SyntaxRuleId): Iterable<Diagnostic> {
  for (const file of site.files) {
    for (const document of file.documents) {
      for (const fault of document.faults) {
        if (fault.rule !== rule) continue
        const { message, remedy, fix } = fault
        const fixable = fix && document.standing === 'runtime'
        yield { at: spotOf(document, fault), message, remedy, ...(fixable && { fix }) }
      }
    }
  }
}

const summaries: Readonly<Record<Exclude<SyntaxRuleId, 'template-marker'>, string>> = {
  'empty-file': 'The file is empty, as after a power cut or a full disk. The runtime fails at it.',
  'byte-order-mark': 'The text begins with a byte order mark, which editors on Windows write; Go refuses it.',
  'text-encoding': 'The text is not UTF-8, or is damaged.',
  comment: 'A comment: `//`, `/* */` or `#`. JSON has none.',
  'trailing-comma': 'A comma before a closing bracket.',
  'extra-comma': 'A comma with nothing before it.',
  'missing-comma': 'No comma between two members or elements.',
  'missing-colon': 'No colon between a key and its value.',
  'missing-value': 'A key without a value, or no configuration at all.',
  'single-quotes': 'Single quotes or backquotes around a string.',
  'typographic-quotes': 'Typographic quotes, as text processors and web pages write them.',
  'unquoted-key': 'A key without quotes, or none where one belongs.',
  'unquoted-value': 'A value without quotes: `True`, `None`, `NaN`, an address, a word.',
  'invalid-number': 'A number that JSON does not have: `01`, `+1`, `.5`, `0x10`.',
  'invalid-escape': 'A backslash before something that is not an escape.',
  'control-character': 'A tab or another control character inside a string.',
  'unexpected-character': 'A character that JSON does not allow, such as a no-break space.',
  'unclosed-string': 'A string without its closing quote.',
  'unclosed-bracket':
    'A bracket that is not closed, as where a file was cut off. The message says where it was opened.',
  'mismatched-bracket': 'A closing bracket of the wrong kind.',
  'trailing-text': 'Something after the end of the document, such as a second one.',
  'too-deep': 'Brackets nested too deep.',
  'too-many-mistakes': 'More mistakes than are worth reading at once.',
}

export const syntaxRules: readonly LintRule[] = (Object.keys(summaries) as (keyof typeof summaries)[]).map(
  id => ({
    id,
    severity: 'error',
    summary: summaries[id],
    check: site => syntaxDiagnostics(site, id),
  }),
)
