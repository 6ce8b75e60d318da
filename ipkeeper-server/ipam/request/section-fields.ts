import type { Static, TArray, TObject, TProperties, TSchema, TString } from 'typebox'
import {
  arrayField,
  booleanField,
  field,
  integerField,
  objectArrayField,
  objectField,
  stringArrayField,
  stringField,
  type JsonObject,
} from '../../../shared/json/fold.ts'

type FieldValue<Schema extends TSchema> =
  Schema extends TArray<infer Items>
    ? Items extends TString
      ? readonly string[]
      : Items extends TObject
        ? readonly JsonObject[]
        : readonly unknown[]
    : Schema extends TObject
      ? JsonObject
      : Static<Schema>

/** Keys of a section that are absent, or null, are undefined. */
export type SectionFields<Properties extends TProperties> = {
  readonly [Key in keyof Properties]: FieldValue<Properties[Key]> | undefined
}

type FieldReader = (object: JsonObject, name: string, path: string) => unknown

const readers: Readonly<Record<string, FieldReader>> = {
  string: stringField,
  boolean: booleanField,
  integer: integerField,
  object: objectField,
  array: arrayField,
  'array of string': stringArrayField,
  'array of object': objectArrayField,
}

interface SchemaNode {
  readonly type?: string
  readonly items?: SchemaNode
}

function readerOf({ type = '', items }: SchemaNode): FieldReader {
  return readers[`${type} of ${items?.type ?? ''}`] ?? readers[type] ?? field
}

/**
 * A reader of a section of a netconf by its schema. Each key is looked up as Go's decoder does it, and its type is checked when it
 * is read, so that the order of a caller's checks stays its own.
 */
export function sectionReader<Properties extends TProperties>({
  properties,
}: TObject<Properties>): (object: JsonObject, path: string) => SectionFields<Properties> {
  class Section {
    readonly object: JsonObject
    readonly prefix: string
    constructor(object: JsonObject, path: string) {
      this.object = object
      this.prefix = path === '' ? '' : `${path}.`
    }
  }
  for (const [name, schema] of Object.entries(properties)) {
    const read = readerOf(schema)
    Object.defineProperty(Section.prototype, name, {
      get(this: Section) {
        return read(this.object, name, `${this.prefix}${name}`)
      },
    })
  }
  return (object, path) => new Section(object, path) as unknown as SectionFields<Properties>
}
