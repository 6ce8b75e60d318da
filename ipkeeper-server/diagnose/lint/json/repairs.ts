import type { SyntaxRuleId } from './syntax-fault.ts'
import type { JsonMember, JsonNode, Span } from './json-node.ts'
import type { TokenKind } from './scan-token.ts'

/** An object or array whose closing bracket has not come yet. */
export interface Frame {
  readonly kind: '{' | '['
  readonly open: Span
  readonly members: JsonMember[]
  readonly items: JsonNode[]
  /** The key that waits for its value. */
  key: { readonly key: string; readonly keySpan: Span } | undefined
}

/** What may come next; shared/json/locate-syntax-error.ts says the same of a strict reader. */
export type Expectation = 'value' | 'key' | 'colon' | 'after'

/** What a token means that must not come here, and how reading goes on. */
export interface Repair {
  readonly expected: Expectation
  /** Absent: every other one. */
  readonly tokens?: readonly TokenKind[]
  readonly inside?: Frame['kind'] | 'nothing'
  readonly rule: SyntaxRuleId
  /** TOKEN stands for the token, KEY for the key that waits for its value, quoted. */
  readonly message: string
  readonly remedy: string
  /** Whether brackets, keys or values are in doubt from here on. */
  readonly doubt: boolean
  /** Whether the token is dealt with; else it is looked at once more. */
  readonly skips: boolean
  /** Absent: the same as before. */
  readonly then?: Expectation
  readonly dropsKey?: true
}

const extraComma: Pick<Repair, 'rule' | 'message' | 'remedy' | 'doubt' | 'skips'> = {
  ...{ rule: 'extra-comma', message: 'a comma with nothing before it', remedy: 'remove the comma' },
  ...{ doubt: false, skips: true },
}
const missingValue: Pick<Repair, 'rule' | 'remedy'> = {
  rule: 'missing-value',
  remedy: 'write the value, or remove the key',
}
const colonAfterValue: Pick<Repair, 'rule' | 'remedy' | 'doubt' | 'skips'> = {
  ...{ rule: 'missing-comma', remedy: 'write a comma, or quote the whole value', doubt: true, skips: true },
}

/** The first row that fits counts. */
const repairs: readonly Repair[] = [
  {
    ...{ expected: 'after', tokens: [':'], inside: '[', ...colonAfterValue },
    message: '":" in an array; only objects have keys',
  },
  { expected: 'after', tokens: [':'], ...colonAfterValue, message: '":" where a comma belongs' },

  { expected: 'key', tokens: [','], ...extraComma },
  {
    ...{ expected: 'key', tokens: [':'], rule: 'unquoted-key', doubt: true, skips: true, then: 'value' },
    ...{ message: '":" with no key before it', remedy: 'write the key, in double quotes' },
  },
  {
    ...{ expected: 'key', rule: 'unquoted-key', doubt: true, skips: false, then: 'value' },
    message: '"TOKEN" where a key should be',
    remedy: 'write a key, in double quotes, and a colon before it',
  },

  {
    ...{ expected: 'colon', tokens: [',', '}', ']'], rule: 'missing-colon', doubt: true, skips: false },
    ...{ then: 'after', dropsKey: true },
    message: 'the key KEY has no value',
    remedy: 'write a colon and the value, or remove the key',
  },
  {
    ...{ expected: 'colon', rule: 'missing-colon', doubt: true, skips: false, then: 'value' },
    ...{ message: 'no colon after the key KEY', remedy: 'write ":" between key and value' },
  },

  { expected: 'value', tokens: [','], inside: '[', ...extraComma },
  {
    ...{ expected: 'value', tokens: [','], inside: '{', ...missingValue, doubt: true, skips: false },
    ...{ then: 'after', dropsKey: true, message: 'a comma where the value of KEY should be' },
  },
  {
    ...{ expected: 'value', tokens: [','], rule: 'missing-value', doubt: true, skips: true },
    ...{ message: 'a comma where the configuration should begin', remedy: 'remove the comma' },
  },
  {
    ...{ expected: 'value', tokens: [':'], rule: 'missing-value', doubt: true, skips: true },
    ...{ message: 'a second colon', remedy: 'remove it' },
  },
  {
    ...{ expected: 'value', inside: '{', ...missingValue, doubt: true, skips: true },
    message: '"TOKEN" where the value of KEY should be',
  },
  {
    ...{ expected: 'value', rule: 'mismatched-bracket', doubt: true, skips: true },
    ...{ message: '"TOKEN" closes nothing', remedy: 'remove it' },
  },
]

export function findRepair(
  expected: Expectation,
  token: TokenKind,
  frame: Frame | undefined,
): Repair | undefined {
  const inside = frame?.kind ?? 'nothing'
  return repairs.find(
    row =>
      row.expected === expected &&
      (row.tokens?.includes(token) ?? true) &&
      (row.inside === undefined || row.inside === inside),
  )
}
