/** The form that the objects of this version have. One with a greater number is neither read nor changed. */
export const objectSchema = 1

/** Why an object of this form cannot be read; undefined when it can. */
export function unreadableSchema(schema: unknown): string | undefined {
  if (schema === undefined || schema === objectSchema) return undefined
  return typeof schema === 'number' && schema > objectSchema
    ? `written by a newer ipkeeper (schema ${schema}; this one knows ${objectSchema}): update this node`
    : 'its schema makes no sense'
}
