import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { readManifestSources } from './manifest-source.ts'
import { readTextFile } from '../framework/read-text-file.ts'

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

function objectsIn(value: unknown): readonly JsonObject[] {
  if (!isJsonObject(value)) return []
  const { items, kind } = value
  return Array.isArray(items) && String(kind).endsWith('List') ? items.flatMap(objectsIn) : [value]
}

/**
 * Objects of a file as `kubectl get ... -o json` or `-o yaml` writes it: one, a list, or several documents; "-" is standard input.
 *
 * @throws Problem IPK_REQUEST_INVALID
 */
export function readObjectList(file: string): readonly JsonObject[] {
  return documentsOf(readTextFile(file, most), file).flatMap(objectsIn)
}
