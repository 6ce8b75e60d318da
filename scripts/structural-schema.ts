/** Schemas as the API server wants those of custom resources (Kubernetes documentation, "Specifying a structural schema"). */

export interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly [keyword: string]: unknown
}

interface Rules {
  readonly path: readonly string[]
  readonly maxLength?: number
  readonly rules: readonly object[]
}

const map = (
  properties: Readonly<Record<string, Schema>>,
  make: (schema: Schema) => Schema,
): Readonly<Record<string, Schema>> =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, make(schema)]))

/** A regular expression as Go has them: they look neither ahead nor behind, write characters as \x{..}, and count to 1,000. */
export const goPattern = (pattern: string): string =>
  pattern
    .replaceAll(/\(\?=[^)]*\)/g, '')
    .replaceAll(/\\u([0-9a-f]{4})/g, '\\x{$1}')
    .replaceAll(/\{0,\d{4,}\}/g, '*')

/** Keywords that are for us, are said otherwise below, or are not allowed. */
const dropped = ['doc', 'additionalProperties', 'propertyNames', 'patternProperties', 'uniqueItems', 'const']

/**
 * The same schema without what is for us or not allowed there. Fields that nobody knows are dropped by the server, or
 * refused where the client asks for that, which kubectl does.
 */
export function structural(schema: object): Schema {
  // TypeBox marks its schemas with symbols, which are none of the server's business.
  const given = JSON.parse(JSON.stringify(schema)) as Schema
  const { properties, items, pattern, const: only, enum: words, patternProperties, uniqueItems } = given
  const [values] = Object.values((patternProperties ?? {}) as Record<string, Schema>)
  return {
    ...Object.fromEntries(Object.entries(given).filter(([keyword]) => !dropped.includes(keyword))),
    ...(Array.isArray(words) && { type: 'string' }),
    ...(only !== undefined && { type: typeof only, enum: [only] }),
    ...(typeof pattern === 'string' && { pattern: goPattern(pattern) }),
    ...(properties && { properties: map(properties, structural) }),
    ...(items && { items: structural(items) }),
    ...(values && { additionalProperties: structural(values) }),
    ...(uniqueItems === true && { 'x-kubernetes-list-type': 'set' }),
  }
}

function at(schema: Schema, path: readonly string[], change: (schema: Schema) => Schema): Schema {
  const [step, ...rest] = path
  if (step === undefined) return change(schema)
  if (step === '[]') return { ...schema, items: at(schema.items ?? {}, rest, change) }
  const inner = schema.properties?.[step]
  if (!inner) throw new Error(`no ${step} in the schema`)
  return { ...schema, properties: { ...schema.properties, [step]: at(inner, rest, change) } }
}

/** The schema with rules for the API server added at their places. */
export function withRules(schema: Schema, rules: readonly Rules[]): Schema {
  return rules.reduce<Schema>(
    (changed, { path, maxLength, rules: added }) =>
      at(changed, path, inner => ({
        ...inner,
        ...(maxLength !== undefined && { maxLength }),
        'x-kubernetes-validations': [...((inner['x-kubernetes-validations'] ?? []) as object[]), ...added],
      })),
    schema,
  )
}
