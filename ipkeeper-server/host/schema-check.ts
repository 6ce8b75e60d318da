import { Ajv, type ErrorObject } from 'ajv'

/**
 * Terms for compiling schemas of ours. That they are valid is tested (test/house/schemas.test.ts) and need not be found out by
 * each start; what ajv's optimizer saves in a check it costs many times over in compiling.
 */
export const ownSchemas = { validateSchema: false, code: { optimize: false } } as const

export interface SchemaCheck<T> {
  /** Whether a value is as its schema wants it; compiled with the first call. */
  readonly holds: (value: unknown) => value is T
  /** What was wrong with the last value. */
  readonly errors: () => readonly ErrorObject[]
}

/** `keywords` are those of the schema that say something to people only. `allErrors`: not only the first one. */
export function schemaCheck<T>(
  schema: object,
  { keywords = [], allErrors = false }: { readonly keywords?: string[]; readonly allErrors?: boolean } = {},
): SchemaCheck<T> {
  let check: ReturnType<typeof compile> | undefined
  const compile = () =>
    new Ajv({ ...ownSchemas, strict: true, allErrors }).addVocabulary(keywords).compile<T>(schema)
  return {
    holds: (value): value is T => (check ??= compile())(value),
    errors: () => check?.errors ?? [],
  }
}
