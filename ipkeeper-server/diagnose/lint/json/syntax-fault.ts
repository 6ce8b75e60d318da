import type { Span } from './json-node.ts'

/** A part of a text and what comes in its place. */
export interface Edit extends Span {
  readonly text: string
}

/** A change that cannot make a sound configuration mean something else. */
export interface Fix {
  readonly title: string
  readonly edits: readonly Edit[]
}

/** Mistakes of form. Each is a row of lint/rules/syntax.ts, which has its severity and what it means. */
export const syntaxRuleIds = [
  'empty-file',
  'byte-order-mark',
  'text-encoding',
  'comment',
  'trailing-comma',
  'extra-comma',
  'missing-comma',
  'missing-colon',
  'missing-value',
  'single-quotes',
  'typographic-quotes',
  'unquoted-key',
  'unquoted-value',
  'invalid-number',
  'invalid-escape',
  'control-character',
  'unexpected-character',
  'unclosed-string',
  'unclosed-bracket',
  'mismatched-bracket',
  'trailing-text',
  'too-deep',
  'too-many-mistakes',
] as const

export type SyntaxRuleId = (typeof syntaxRuleIds)[number] | 'template-marker'

/** A mistake that keeps a text from being JSON. */
export interface SyntaxFault extends Span {
  readonly rule: SyntaxRuleId
  readonly message: string
  readonly remedy: string
  readonly fix?: Fix
}
