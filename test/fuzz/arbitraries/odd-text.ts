import fc from 'fast-check'

/** Every code point that Unicode calls white space, and some that only look like it. */
const spaces = Array.from(
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2007\u200a\u2028\u2029\u202f\u205f\u3000\u200b\u2060\ufeff',
)

/** Texts that somebody did not expect: what breaks paths, terminals, parsers, comparisons and limits. */
const surprises = [
  '',
  '.',
  '..',
  '/',
  '../..',
  '../x',
  '/etc/passwd',
  'a/b',
  'a:b',
  'a b',
  'a\nb',
  '\0',
  'a\0b',
  '%00',
  '%s%n',
  '$(id)',
  '`id`',
  ';',
  '=',
  'a=b;c',
  '"',
  "'",
  '\\',
  '{}',
  'null',
  'not found',
  'no such file or directory',
  'NOT FOUND',
  'No Such File Or Directory',
  'not not foundfound',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '\u0130',
  '\u017f',
  '\u212a',
  '\u0661\u0660.22.0.5',
  '\uff11\uff10.0.0.1',
  '\ud800',
  '\udfffx',
  '\u{1f4a9}',
  '\ufeffx',
  'e\u0301',
  '\u001b[31m',
  'x'.repeat(15),
  'x'.repeat(16),
  '\u00e9'.repeat(8),
  'x'.repeat(300),
] as const

/** One of them, or an arbitrary one. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...surprises) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...spaces), fc.string({ maxLength: 4 }), fc.constantFrom('', ...spaces))
      .map(parts => parts.join('')),
  },
)

/** The same, and sometimes one that is longer than anything has a right to be. */
export const oddOrHugeText: fc.Arbitrary<string> = fc.oneof(
  { weight: 40, arbitrary: oddText },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('x', '1.2.3.4,', '/', ' ', '\u00e9')
      .map(text => text.repeat(100_000 / text.length)),
  },
)
