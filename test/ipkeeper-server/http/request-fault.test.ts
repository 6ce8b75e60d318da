import fastify, { type FastifyError } from 'fastify'
import t from 'tap'
import { requestFault } from '../../../ipkeeper-server/http/request-fault.ts'

const short = { type: 'string', minLength: 1, maxLength: 5 }

t.test('what is wrong with a request, in plain words', async t => {
  const app = fastify()
  app.setErrorHandler((error: FastifyError, _, reply) => reply.code(400).send({ says: requestFault(error) }))
  app.post(
    '/',
    {
      schema: {
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: { limit: { type: 'integer', minimum: 1, maximum: 9 } },
        },
        body: {
          type: 'object',
          required: ['address'],
          properties: {
            address: { ...short, minLength: 2 },
            note: short,
            state: { enum: ['bound', 'held'] },
            name: { type: 'string', pattern: '^[a-z]+$' },
            owner: { type: 'object', required: ['kind'], properties: { kind: short } },
            list: { type: 'array', items: short, minItems: 1, maxItems: 2 },
            odd: { type: 'integer', multipleOf: 2 },
          },
        },
      },
    },
    () => ({}),
  )
  const rows: readonly (readonly [body: object, says: string, query?: string])[] = [
    [{}, 'address is missing in the body'],
    [{ address: 'a' }, 'address is shorter than 2 characters'],
    [{ address: 'ab', note: '' }, 'note is empty'],
    [{ address: 'ab', note: 'abcdef' }, 'note is longer than 5 characters'],
    [{ address: 'ab', state: 'x' }, 'state has to be one of bound, held'],
    [{ address: 'ab', name: 'A' }, 'name does not match ^[a-z]+$'],
    [{ address: 'ab', owner: {} }, 'owner.kind is missing in the body'],
    [{ address: 'ab', owner: { kind: 'abcdef' } }, 'owner.kind is longer than 5 characters'],
    [{ address: 'ab', owner: 'x' }, 'owner has to be of type object'],
    [{ address: 'ab', list: [] }, 'list has fewer than 1 entries'],
    [{ address: 'ab', list: ['a', 'b', 'c'] }, 'list has more than 2 entries'],
    [{ address: 'ab', list: ['a', 'abcdef'] }, 'list.1 is longer than 5 characters'],
    [{ address: 'ab', odd: 3 }, 'odd must be multiple of 2'],
    [[], 'the body has to be of type object'],
    [{ address: 'ab' }, 'limit is more than 9', '?limit=10'],
    [{ address: 'ab' }, 'limit is less than 1', '?limit=0'],
  ]
  for (const [payload, says, query = ''] of rows) {
    const reply = await app.inject({ method: 'POST', url: `/${query}`, payload })
    t.strictSame(reply.json(), { says }, says)
  }
  const broken = await app.inject({
    ...{ method: 'POST', url: '/', payload: '{', headers: { 'content-type': 'application/json' } },
  })
  t.match(broken.json<{ says: string }>().says, /JSON/, 'what is no JSON at all, by the words of the parser')
  await app.close()
})

t.test('a key that is not known', async t => {
  const app = fastify({ ajv: { customOptions: { removeAdditional: false } } })
  app.setErrorHandler((error: FastifyError, _, reply) => reply.code(400).send({ says: requestFault(error) }))
  const body = {
    type: 'object',
    additionalProperties: false,
    properties: { a: { type: 'object', additionalProperties: false } },
  }
  app.post('/', { schema: { body } }, () => ({}))
  for (const [payload, says] of [
    [{ b: 1 }, 'the body has an unknown key "b"'],
    [{ a: { c: 1 } }, 'a has an unknown key "c"'],
  ] as const)
    t.strictSame((await app.inject({ method: 'POST', url: '/', payload })).json(), { says })
  await app.close()
})
