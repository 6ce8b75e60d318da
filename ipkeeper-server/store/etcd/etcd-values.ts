import { isJsonObject } from '../../../shared/json/fold.ts'

/**
 * How a record is written in etcd: `{"v":1,"by":"k3x9.1f","record":{...}}`. `v` is the version of the whole; one that is not
 * known must not be taken for what it is not. `by` names the commit, so that its writer can tell it after an answer that
 * was lost.
 */

/** Grows with a change that older daemons must not read, in any kind of record. */
export const etcdSchemaVersion = 1

/** @param record JSON text */
export function writeValue(by: string, record: string): string {
  return `{"v":${etcdSchemaVersion},"by":"${by}","record":${record}}`
}

export type ReadValue =
  | { readonly text: string; readonly by: string }
  /** What is wrong with it, as the end of a sentence. */
  | { readonly unreadable: string }

const head = new RegExp(`^\\{"v":${etcdSchemaVersion},"by":"([^"\\\\]*)","record":`)

export function readValue(value: string): ReadValue {
  const [start, by = ''] = head.exec(value) ?? []
  try {
    if (start !== undefined) {
      const text = value.slice(start.length, -1)
      if (value.endsWith('}') && isJsonObject(JSON.parse(text))) return { text, by }
    }
    const whole: unknown = JSON.parse(value)
    const v = isJsonObject(whole) ? whole['v'] : undefined
    if (typeof v === 'number' && v > etcdSchemaVersion)
      return {
        unreadable: `written by a newer ipkeeper (schema ${v}; this one knows ${etcdSchemaVersion}): update this node`,
      }
    // By hand, say, in a form of its own.
    if (v === etcdSchemaVersion && isJsonObject(whole) && isJsonObject(whole['record']))
      return { text: JSON.stringify(whole['record']), by: '' }
  } catch {
    return { unreadable: 'no record of ipkeeper: not JSON' }
  }
  return { unreadable: `no record of ipkeeper: it has no "v" and "record"` }
}
