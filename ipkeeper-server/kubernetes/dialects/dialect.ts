import type { AnnotationReader } from '../annotations/annotation-reader.ts'

/**
 * The annotations by which another project's pods ask for addresses: the whole key, and how its value is read. Keys of that
 * project which are not in the table mean nothing here.
 */
export type Dialect = Readonly<Record<string, AnnotationReader>>
