import t from 'tap'
import { Type } from 'typebox'
import { sectionReader } from '../../../../ipkeeper-server/ipam/request/section-fields.ts'

const read = sectionReader(
  Type.Object({
    text: Type.String(),
    truth: Type.Boolean(),
    whole: Type.Integer(),
    map: Type.Object({}),
    list: Type.Array(Type.Unknown()),
    texts: Type.Array(Type.String()),
    maps: Type.Array(Type.Object({})),
    any: Type.Unknown(),
  }),
)

t.test('each key is looked up as Go does, and has the type of the schema', t => {
  const object = {
    ...{ Text: 'a', truth: false, whole: 3, map: { a: 1 }, list: [null], texts: ['a'], maps: [{}], any: 'b' },
  }
  const { text, truth, whole, map, list, texts, maps, any } = read(object, '')
  t.strictSame(
    { text, truth, whole, map, list, texts, maps, any },
    { text: 'a', truth: false, whole: 3, map: { a: 1 }, list: [null], texts: ['a'], maps: [{}], any: 'b' },
  )
  t.equal(read({ text: null }, '').text, undefined)
  t.equal(read({}, '').texts, undefined)
  t.end()
})

t.test('another type is refused when it is read, and named by its path', t => {
  const rows = [
    ['text', 1, 'a.text" must be a string'],
    ['truth', 'true', 'a.truth" must be true or false'],
    ['whole', 1.5, 'a.whole" must be an integer'],
    ['map', [], 'a.map" must be an object'],
    ['list', {}, 'a.list" must be an array'],
    ['texts', ['a', 1], 'a.texts[1]" must be a string'],
    ['maps', [1], 'a.maps[0]" must be an object'],
  ] as const
  for (const [key, value, message] of rows) {
    const fields = read({ [key]: value }, 'a')
    t.throws(() => fields[key], { code: 'IPK_CONFIG_INVALID', message: `"${message}` }, key)
  }
  t.end()
})
