import { type Document, isNode, isPair, LineCounter, parseAllDocuments, visit } from 'yaml'
import { readTextFile } from '../framework/read-input.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'

/** Keys and indices from the top of a document to a value. */
export type ManifestPath = readonly (string | number)[]

/** One document of a manifest, and a way to say where in it something is wrong. */
export interface ManifestSource {
  readonly value: unknown
  /** IPK_REQUEST_INVALID with file, line and column of the value at a path, or of what should hold it. */
  readonly fault: (path: ManifestPath, what: string) => Problem
}

/** How much of a document aliases may repeat, as the parser counts it: they can make a small file endless. */
const mostAliases = 100

function problem(where: string, what: string): Problem {
  return new Problem('IPK_REQUEST_INVALID', `${where}: ${what}`, { hint: 'correct the manifest' })
}

/** Where a value stands; of an absent one, what should hold it. */
function positionOf(document: Document, path: ManifestPath): number | undefined {
  for (let depth = path.length; depth >= 0; depth--) {
    const node: unknown = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return undefined
}

/** The first key that is no text, such as a list or `? {}`: objects of the API have none. */
function oddKey(document: Document): number | undefined {
  let found: number | undefined
  visit(document, {
    Pair: (_, pair) => {
      if (isPair(pair) && isNode(pair.key) && !('value' in pair.key)) {
        found = pair.key.range?.[0] ?? 0
        return visit.BREAK
      }
      return undefined
    },
  })
  return found
}

const tooDeep = 'it nests too deep'

/** The parser calls itself for each level, and reports the end of its stack as a fault of the text. */
function isTooDeep({ message }: Error): boolean {
  return message.includes('call stack')
}

/**
 * The documents of a manifest, YAML or JSON, empty ones left out.
 *
 * @param file for messages
 * @throws Problem IPK_REQUEST_INVALID with file, line and column
 */
export function readManifestSources(text: string, file: string): readonly ManifestSource[] {
  const lines = new LineCounter()
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${line}:${col}`
  }
  const documents = [
    ...parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, merge: true }),
  ]
  return documents.flatMap(document => {
    const [broken] = document.errors
    if (broken) throw problem(at(broken.pos[0]), isTooDeep(broken) ? tooDeep : broken.message)
    const odd = oddKey(document)
    if (odd !== undefined) throw problem(at(odd), 'a key that is no text')
    const start = document.range[0]
    let value: unknown
    try {
      value = document.toJS({ maxAliasCount: mostAliases })
    } catch (error) {
      throw problem(at(start), error instanceof Error && !isTooDeep(error) ? error.message : tooDeep)
    }
    if (value === null) return []
    return {
      value,
      fault: (path, what) => problem(at(positionOf(document, path) ?? start), what),
    }
  })
}

/** Bytes of what kubectl writes: an object has about a kilobyte, a pool of allocations some megabytes. */
const most = 256 * 1024 * 1024

/** YAML is parsed with positions, which only what people write is worth. */
function documentsOf(text: string, file: string): readonly unknown[] {
  try {
    return [JSON.parse(text) as unknown]
  } catch {
    return readManifestSources(text, file).map(({ value }) => value)
  }
}

function objectsIn(value: unknown, file: string): readonly JsonObject[] {
  if (!isJsonObject(value)) throw noObjects(file)
  const { items, kind } = value
  return Array.isArray(items) && String(kind).endsWith('List')
    ? items.flatMap(item => objectsIn(item, file))
    : [value]
}

/** Nothing at all is not what kubectl writes: where there are no objects that is a list without items. */
const noObjects = (file: string): Problem =>
  new Problem('IPK_REQUEST_INVALID', `${file}: this is not what kubectl get -o json or -o yaml writes`, {
    hint: 'name another file',
  })

/**
 * Objects of a file as `kubectl get ... -o json` or `-o yaml` writes it: one, a list, or several documents; "-" is standard input.
 *
 * @throws Problem IPK_REQUEST_INVALID
 */
export function readObjectList(file: string): readonly JsonObject[] {
  const documents = documentsOf(readTextFile(file, most), file)
  if (documents.length === 0) throw noObjects(file)
  return documents.flatMap(document => objectsIn(document, file))
}
