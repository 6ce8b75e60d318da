import fc from 'fast-check'
import { oddText } from './odd-text.ts'

/**
 * A JSON document as it is written, not as it is decoded: keys may come twice, and numbers keep their spelling. An array's
 * members have the key ''.
 */
export type Written =
  | { readonly kind: 'object' | 'array'; readonly members: readonly Member[] }
  | { readonly kind: 'raw'; readonly text: string }

type Member = readonly [key: string, value: Written]

const raw = (text: string): Written => ({ kind: 'raw', text })

export function written(value: unknown): Written {
  if (Array.isArray(value))
    return { kind: 'array', members: value.map((item): Member => ['', written(item)]) }
  if (typeof value !== 'object' || value === null) return raw(JSON.stringify(value))
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]): Member => [key, written(member)])
  return { kind: 'object', members }
}

export function print(document: Written): string {
  if (document.kind === 'raw') return document.text
  const members = document.members.map(([key, value]) =>
    document.kind === 'object' ? `${JSON.stringify(key)}:${print(value)}` : print(value),
  )
  return document.kind === 'object' ? `{${members.join(',')}}` : `[${members.join(',')}]`
}

const nested = (open: string, close: string, depth: number): string =>
  open.repeat(depth) + close.repeat(depth)

/** JSON values that a reader of configurations may not expect where they stand. */
const oddValues = [
  ...['null', 'true', 'false', '""', '{}', '[]', '[null]', '[[]]', '[{}]', '{"a":{}}', '" "'],
  ...['0', '-0', '1', '-1', '1.5', '1e2', '1E+2', '1e400', '-1e400', '1e-400', '12345678901234567890'],
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toString":1}',
  '[{"toString":null,"valueOf":null}]',
  '{"length":3}',
  '"\\u0000"',
  '"\\ud800"',
  nested('[', ']', 100),
  nested('[', ']', 20_000),
  nested('{"a":', '}', 100).replace('}', '1}'),
] as const

/** What is no JSON at all. */
const noValues = [
  ...['01', '+1', '.5', '1.', '0x10', '1e', '--1', '1_000', 'NaN', 'Infinity', '-', '10.1.2.3'],
  ...['undefined', 'True', "'x'", '`x`', '"\t"', '"\\x"', '"\\u12"', '', ',', '/* */1', '"x', '[1,]'],
] as const

export const oddJson: fc.Arbitrary<Written> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...oddValues).map(raw) },
  { weight: 3, arbitrary: oddText.map(text => raw(JSON.stringify(text))) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }).map(raw) },
)

const respell = (key: string, how: 'upper' | 'lower' | 'title' | 'long s' | 'kelvin' | 'space'): string => {
  switch (how) {
    case 'upper':
      return key.toUpperCase()
    case 'lower':
      return key.toLowerCase()
    case 'title':
      return key.slice(0, 1).toUpperCase() + key.slice(1)
    case 'long s':
      return key.replace(/s/i, '\u017f')
    case 'kelvin':
      return key.replace(/k/i, '\u212a')
    case 'space':
      return `${key} `
  }
}

/** What becomes of one member of an object or array. */
type Change = (member: Member) => readonly Member[]

const strangeKeys = [
  '__proto__',
  'constructor',
  'toString',
  '',
  '0',
  'x',
  'prevResult',
  'ipkeeper.io/ip',
] as const

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Change>(() => []) },
  { weight: 5, arbitrary: oddJson.map((value): Change => ([key]) => [[key, value]]) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('upper', 'lower', 'title', 'long s', 'kelvin', 'space')
      .map((how): Change => ([key, value]) => [[respell(key, how), value]]),
  },
  { weight: 1, arbitrary: fc.constant<Change>(member => [member, member]) },
  { weight: 1, arbitrary: oddJson.map((value): Change => member => [[member[0], value], member]) },
  {
    weight: 1,
    arbitrary: oddJson.map((value): Change => member => [member, [respell(member[0], 'upper'), value]]),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Change>(([key, value]) => [[key, { kind: 'array', members: [['', value]] }]]),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Change>(([key, value]) => [[key, { kind: 'object', members: [['a', value]] }]]),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...strangeKeys), oddJson)
      .map(([key, value]): Change => member => [member, [key, value]]),
  },
  { weight: 1, arbitrary: fc.constantFrom(...noValues).map((text): Change => ([key]) => [[key, raw(text)]]) },
)

function countMembers(document: Written): number {
  if (document.kind === 'raw') return 0
  return document.members.reduce((sum, [, value]) => sum + countMembers(value), document.members.length)
}

function changeAt(document: Written, at: number, how: Change): Written {
  let countdown = at % Math.max(1, countMembers(document))
  const visit = (node: Written): Written => {
    if (node.kind === 'raw') return node
    const members = node.members.flatMap((member): readonly Member[] =>
      countdown-- === 0 ? how(member) : [[member[0], visit(member[1])]],
    )
    return { ...node, members }
  }
  return visit(document)
}

/** A document with up to `most` members dropped, doubled, renamed, replaced, wrapped or added. */
export function changed(documents: fc.Arbitrary<Written>, most: number): fc.Arbitrary<Written> {
  const changes = fc.array(fc.tuple(fc.nat(1000), change), { maxLength: most })
  return fc
    .tuple(documents, changes)
    .map(([document, all]) => all.reduce((sum, [at, how]) => changeAt(sum, at, how), document))
}

/** A document in which one member is no JSON. */
export function spoilt(documents: fc.Arbitrary<Written>): fc.Arbitrary<Written> {
  return fc
    .tuple(documents, fc.nat(1000), fc.constantFrom(...noValues))
    .map(([document, at, text]) => changeAt(document, at, ([key]) => [[key, raw(text)]]))
}

/** A document whose member `inner`, an object, has one member more. */
export function extended(
  documents: fc.Arbitrary<Written>,
  inner: string,
  keys: readonly string[],
): fc.Arbitrary<Written> {
  return fc.tuple(documents, fc.constantFrom(...keys), oddJson).map(([document, key, value]): Written => {
    if (document.kind === 'raw') return document
    const members = document.members.map(([name, old]): Member => {
      if (name !== inner || old.kind === 'raw') return [name, old]
      return [name, { ...old, members: [...old.members, [key, value]] }]
    })
    return { ...document, members }
  })
}

/** A text with something done to it that knows nothing of JSON. */
export function damaged(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const place = fc.nat(10_000)
  const at = (text: string, where: number): number => where % (text.length + 1)
  return fc.oneof(
    fc.tuple(texts, place).map(([text, where]) => text.slice(0, at(text, where))),
    fc.tuple(texts, place).map(([text, where]) => text.slice(at(text, where))),
    fc.tuple(texts, place, fc.integer({ min: 0, max: 0xff })).map(([text, where, code]) => {
      const from = at(text, where)
      return text.slice(0, from) + String.fromCharCode(code) + text.slice(from + 1)
    }),
    fc
      .tuple(texts, place, oddText)
      .map(([text, where, odd]) => text.slice(0, at(text, where)) + odd + text.slice(at(text, where))),
    fc
      .tuple(texts, fc.constantFrom('\ufeff', '\0', '{}', ' ', 'x', '\ufffd'))
      .map(([text, before]) => before + text),
    fc
      .tuple(texts, fc.constantFrom('{}', '\n{}', 'x', '\0', ',', '}', '\n', ' '.repeat(70_000), '\u00a0'))
      .map(([text, after]) => text + after),
    fc.constantFrom(
      '',
      ' ',
      'null',
      'true',
      '1',
      '"x"',
      '[]',
      '{}',
      '{',
      '\ufeff{}',
      nested('[', ']', 20_000),
    ),
    fc.constant(nested('{"a":', '}', 20_000)),
  )
}
