import t from 'tap'
import { listIn, objectIn, textIn } from '../../../shared/json/object-fields.ts'

const object = { text: 'a', number: 7, list: [1], object: { a: 1 }, nothing: null }

t.test('what is there, or else something empty of its kind', t => {
  for (const [key, text, inside, list] of [
    ['text', 'a', {}, []],
    ['number', '', {}, []],
    ['list', '', {}, [1]],
    ['object', '', { a: 1 }, []],
    ['nothing', '', {}, []],
    ['absent', '', {}, []],
  ] as const) {
    t.equal(textIn(object, key), text, key)
    t.strictSame(objectIn(object, key), inside, key)
    t.strictSame(listIn(object, key), list, key)
  }
  t.end()
})
