import t from 'tap'
import {
  isSameKey,
  arrayField,
  booleanField,
  field,
  hasField,
  integerField,
  isJsonObject,
  jsonTypeName,
  numberField,
  objectArrayField,
  objectField,
  showJson,
  stringArrayField,
  stringField,
  withField,
} from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'

t.test('withField replaces every spelling of a key', t => {
  const object = { IPAM: 1, ipam: 2, name: 'x' }
  t.strictSame(withField(object, 'ipam', 3), { name: 'x', ipam: 3 })
  t.strictSame(object, { IPAM: 1, ipam: 2, name: 'x' }, 'in a copy')
  t.end()
})

t.test('field: as a Go plugin sees it', t => {
  const cases: readonly [text: string, name: string, value: unknown][] = [
    ['{"subnet":"a"}', 'subnet', 'a'],
    ['{"Subnet":"a"}', 'subnet', 'a'],
    ['{"PORTMAPPINGS":[1]}', 'portMappings', [1]],
    ['{"subnet":"a","Subnet":"b"}', 'subnet', 'b'],
    ['{"Subnet":"b","subnet":"a"}', 'subnet', 'a'],
    ['{"subnet":"a","Subnet":null}', 'subnet', 'a'],
    ['{"subnet":null}', 'subnet', undefined],
    ['{"sub":"a"}', 'subnet', undefined],
    ['{}', 'subnet', undefined],
    ['{"subnet":0,"SUBNET":false}', 'subnet', false],
    ['{"\u017fubnet":"long s"}', 'subnet', 'long s'],
    ['{"\u212aey":"Kelvin sign"}', 'key', 'Kelvin sign'],
    ['{"__proto__":{"subnet":"a"}}', 'subnet', undefined],
    ['{"toString":"own"}', 'tostring', 'own'],
    ['{}', 'toString', undefined],
  ]
  for (const [text, name, value] of cases) {
    t.same(field(JSON.parse(text) as Record<string, unknown>, name), value, text)
  }
  t.end()
})

t.test('hasField: a key that is null is there', t => {
  for (const [object, there] of [
    [{ subnet: null }, true],
    [{ SUBNET: null }, true],
    [{ sub: 1 }, false],
    [{}, false],
  ] as const) {
    t.equal(hasField(object, 'subnet'), there, JSON.stringify(object))
  }
  t.equal(hasField({}, 'toString'), false)
  t.end()
})

t.test('typed readers', t => {
  const config = {
    text: 'a',
    count: 3,
    half: 1.5,
    flag: false,
    inner: { a: 1 },
    list: [1, null],
    names: ['a', 'b'],
    objects: [{ a: 1 }],
    nothing: null,
  }
  t.equal(stringField(config, 'Text'), 'a')
  t.equal(numberField(config, 'half'), 1.5)
  t.equal(integerField(config, 'count'), 3)
  t.equal(booleanField(config, 'flag'), false)
  t.same(objectField(config, 'inner'), { a: 1 })
  t.same(arrayField(config, 'list'), [1, null])
  t.same(stringArrayField(config, 'names'), ['a', 'b'])
  t.same(objectArrayField(config, 'objects'), [{ a: 1 }])
  const readers = [
    stringField,
    numberField,
    integerField,
    booleanField,
    objectField,
    arrayField,
    stringArrayField,
    objectArrayField,
  ]
  for (const read of readers) {
    t.equal(read(config, 'nothing'), undefined, `${read.name}: null is absent`)
    t.equal(read(config, 'missing'), undefined, `${read.name}: absent`)
  }

  const wrong: readonly [read: () => unknown, message: string][] = [
    [() => stringField(config, 'count', 'ipam.count'), '"ipam.count" must be a string, not a number'],
    [() => stringField(config, 'list'), '"list" must be a string, not an array'],
    [() => numberField(config, 'text'), '"text" must be a number, not a string'],
    [() => integerField(config, 'half'), '"half" must be an integer, not 1.5'],
    [() => booleanField(config, 'text'), '"text" must be true or false, not a string'],
    [() => objectField(config, 'list'), '"list" must be an object, not an array'],
    [() => arrayField(config, 'inner'), '"inner" must be an array, not an object'],
    [() => stringArrayField(config, 'list', 'a.list'), '"a.list[0]" must be a string, not a number'],
    [() => stringArrayField({ list: ['a', null] }, 'list'), '"list[1]" must be a string, not null'],
    [() => objectArrayField(config, 'names'), '"names[0]" must be an object, not a string'],
  ]
  for (const [read, message] of wrong) {
    t.throws(read, { code: 'IPK_CONFIG_INVALID', message }, message)
    t.throws(read, Problem)
  }
  t.end()
})

t.test('foreign values in messages', t => {
  const cases: readonly [text: string, shown: string][] = [
    ['"a\\"b"', '"a\\"b"'],
    ['1.5', '1.5'],
    ['null', 'null'],
    ['[1]', 'an array'],
    ['{"toString":1}', 'an object'],
    [`${'['.repeat(20_000)}${']'.repeat(20_000)}`, 'an array'],
  ]
  for (const [text, shown] of cases) t.equal(showJson(JSON.parse(text)), shown)
  t.equal(showJson('two\nlines'), '"two\\nlines"', 'one line')
  t.equal(showJson('x'.repeat(100_000)), `"${'x'.repeat(200)}..."`, 'as much as a person reads')
  t.end()
})

t.test('types of JSON', t => {
  t.same([{}, [], null, 'a', 1, true].map(isJsonObject), [true, false, false, false, false, false])
  const names = ['an object', 'an array', 'null', 'a string', 'a number', 'a boolean']
  t.same([{}, [], null, 'a', 1, true].map(jsonTypeName), names)
  t.end()
})

t.test('keys that Go takes for one', t => {
  for (const [one, other, same] of [
    ['ipam', 'IPAM', true],
    ['ranges', 'range\u017f', true],
    ['kind', '\u212aind', true],
    ['ip', 'ips', false],
  ] as const)
    t.equal(isSameKey(one, other), same, `${one} ${other}`)
  t.end()
})
