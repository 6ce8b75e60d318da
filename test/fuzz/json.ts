/** Reading JSON, and looking keys up in it as a Go plugin would. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { field, isJsonObject, jsonTypeName } from '../../shared/json/fold.ts'
import { locateSyntaxError } from '../../shared/json/locate-syntax-error.ts'
import { JsonSyntaxError, parseJson } from '../../shared/json/parse-json.ts'
import { netconfDocument } from './arbitraries/netconf.ts'
import { changed, damaged, oddJson, print, spoilt, written } from './arbitraries/json-text.ts'
import { oddText } from './arbitraries/odd-text.ts'
import { property } from './property.ts'

const text = fc.oneof(
  { weight: 2, arbitrary: netconfDocument.map(print) },
  { weight: 2, arbitrary: changed(netconfDocument, 3).map(print) },
  { weight: 3, arbitrary: damaged(netconfDocument.map(print)) },
  { weight: 2, arbitrary: spoilt(netconfDocument).map(print) },
  { weight: 1, arbitrary: oddJson.map(print) },
  { weight: 1, arbitrary: oddText },
)

function attempt(parse: () => unknown): { readonly value: unknown } | { readonly error: unknown } {
  try {
    return { value: parse() }
  } catch (error) {
    return { error }
  }
}

/** Values that came of the same text are equal where they are too deep to be compared. */
function same(one: unknown, other: unknown): boolean {
  try {
    return isDeepStrictEqual(one, other)
  } catch (error) {
    if (error instanceof RangeError) return true
    throw error
  }
}

/** The place is one where a reader can put a finger: a line of the text, and at most one past its last character. */
function checkPlace(given: string, { line, column, what, message }: JsonSyntaxError): void {
  const lines = given.split(/\r\n|\n|\r/)
  const there = lines[line - 1]
  if (there === undefined || line < 1 || column < 1 || column > Array.from(there).length + 1) {
    throw new Error(`line ${line} column ${column} of ${lines.length} lines: ${message}`)
  }
  if (what === '' || /[\n\r]/.test(message)) throw new Error(`not one line: ${JSON.stringify(message)}`)
}

export const jsonTexts = property({
  name: 'JSON texts',
  runs: 1200,
  cases: text,
  check: given => {
    const reference = attempt(() => JSON.parse(given))
    const ours = attempt(() => parseJson(given))
    const fault = locateSyntaxError(given)
    if ('value' in reference) {
      if (!('value' in ours) || !same(ours.value, reference.value)) throw new Error('JSON.parse accepts it')
      if (fault) throw new Error(`there is nothing wrong with it, but ${fault.what}`)
      return 'accepted'
    }
    if (!('error' in ours) || !(ours.error instanceof JsonSyntaxError))
      throw new Error('JSON.parse refuses it')
    if (!fault) throw new Error('what is wrong with it is not found')
    checkPlace(given, ours.error)
    return 'refused'
  },
  shares: { accepted: 25, refused: 25 },
})

export const jsonBytes = property({
  name: 'JSON bytes',
  runs: 400,
  cases: fc.oneof(
    fc.tuple(text, fc.nat(5000), fc.uint8Array({ maxLength: 3 })).map(([given, place, bytes]) => {
      const whole = Buffer.from(given)
      const at = place % (whole.length + 1)
      return Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at)])
    }),
    text.map(given => Buffer.from(given)),
    fc.constantFrom(
      Buffer.from('{}', 'utf16le'),
      Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
      Buffer.from([0xff, 0xfe]),
    ),
  ),
  check: given => {
    const decoded = given.toString('utf8')
    const reference = attempt(() => JSON.parse(decoded))
    const ours = attempt(() => parseJson(given))
    if ('error' in ours && !(ours.error instanceof JsonSyntaxError)) throw ours.error
    if ('value' in reference !== 'value' in ours) throw new Error('bytes and their text are not taken alike')
    if ('value' in reference && 'value' in ours && !same(reference.value, ours.value))
      throw new Error('another value')
    return 'value' in ours ? 'accepted' : 'refused'
  },
  shares: { accepted: 20, refused: 20 },
})

const keys = ['cniVersion', 'name', 'ipam', 'ranges', 'runtimeConfig', 'socket', 'ips', 'kernelKey'] as const
const spelling = fc
  .tuple(
    fc.constantFrom(...keys),
    fc.array(fc.constantFrom('same', 'upper', 'lower', 'other'), { minLength: 1, maxLength: 14 }),
  )
  .map(([key, how]) => {
    const other: Readonly<Record<string, string>> = {
      s: '\u017f',
      k: '\u212a',
      i: '\u0131',
      S: '\u017f',
      K: '\u212a',
    }
    return Array.from(key, (letter, index) => {
      const way = how[index % how.length]
      if (way === 'upper') return letter.toUpperCase()
      if (way === 'lower') return letter.toLowerCase()
      return way === 'other' ? (other[letter] ?? letter) : letter
    }).join('')
  })
const key = fc.oneof({ weight: 5, arbitrary: spelling }, { weight: 1, arbitrary: oddText })
const value = fc.constantFrom<unknown>(null, null, 0, '', 'x', false, {}, [], 1)

export const foldedKeys = property({
  name: 'keys in any case',
  runs: 500,
  cases: fc.record({
    members: fc.array(fc.tuple(key, value), { maxLength: 6 }),
    wanted: fc.constantFrom(...keys),
  }),
  check: ({ members, wanted }) => {
    // As a document: what JSON.parse makes of the keys __proto__ and 0 belongs to it.
    const object = JSON.parse(
      print({ kind: 'object', members: members.map(([name, member]) => [name, written(member)]) }),
    ) as Record<string, unknown>
    // Unicode's simple case folding, which is Go's EqualFold.
    const pattern = new RegExp(`^${wanted}$`, 'iu')
    const found = Object.entries(object).findLast(([name, member]) => pattern.test(name) && member !== null)
    const got = field(object, wanted)
    if (got !== found?.[1]) throw new Error(`${JSON.stringify(got)} instead of ${JSON.stringify(found)}`)
    if (!isJsonObject(object) || jsonTypeName(object) !== 'an object') throw new Error('it is an object')
    return found === undefined ? 'absent' : found[0] === wanted ? 'exact' : 'in another case'
  },
  shares: { absent: 20, exact: 0.4, 'in another case': 10 },
})
