import type { FastifyError } from 'fastify'

type Validation = NonNullable<FastifyError['validation']>[number]

/** What each keyword of a schema complains of, after the name of the key; others say what the validator says. */
const complaints: Readonly<Record<string, (params: Validation['params']) => string>> = {
  type: ({ type }) => `has to be of type ${String(type)}`,
  enum: ({ allowedValues }) => `has to be one of ${(allowedValues as readonly unknown[]).join(', ')}`,
  pattern: ({ pattern }) => `does not match ${String(pattern)}`,
  maxLength: ({ limit }) => `is longer than ${String(limit)} characters`,
  minLength: ({ limit }) => (limit === 1 ? 'is empty' : `is shorter than ${String(limit)} characters`),
  maximum: ({ limit }) => `is more than ${String(limit)}`,
  minimum: ({ limit }) => `is less than ${String(limit)}`,
  maxItems: ({ limit }) => `has more than ${String(limit)} entries`,
  minItems: ({ limit }) => `has fewer than ${String(limit)} entries`,
}

const parts: Readonly<Record<string, string>> = {
  ...{ body: 'the body', querystring: 'the query', params: 'the path', headers: 'the header' },
}

/** What is wrong with a request that does not have the shape of its schema, for people: "note is longer than 500 characters". */
export function requestFault({ message, validation, validationContext = 'body' }: FastifyError): string {
  const [fault] = validation ?? []
  if (!fault) return message
  const { instancePath, keyword, params } = fault
  const whole = parts[validationContext] ?? validationContext
  const at = instancePath.split('/').slice(1).join('.')
  if (keyword === 'required')
    return `${[at, String(params['missingProperty'])].filter(Boolean).join('.')} is missing in ${whole}`
  if (keyword === 'additionalProperties')
    return `${at || whole} has an unknown key "${String(params['additionalProperty'])}"`
  return `${at || whole} ${complaints[keyword]?.(params) ?? fault.message ?? 'does not have the form of its schema'}`
}
