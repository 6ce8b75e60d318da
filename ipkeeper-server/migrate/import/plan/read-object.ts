import type { JsonObject } from '../../../../shared/json/fold.ts'
import { objectIn, textIn } from '../../../../shared/json/object-fields.ts'

/** An object of the API, as far as every kind is read. */
export interface ReadObject {
  /** "IPPool kube-system/10.22.0.0-16" */
  readonly origin: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
  /** Milliseconds since the epoch; null where it is not said. */
  readonly createdAt: number | null
  readonly spec: JsonObject
}

export function readObject(whole: JsonObject): ReadObject {
  const metadata = objectIn(whole, 'metadata')
  const [kind, name, namespace] = [
    textIn(whole, 'kind'),
    textIn(metadata, 'name'),
    textIn(metadata, 'namespace'),
  ]
  const created = Date.parse(textIn(metadata, 'creationTimestamp'))
  return {
    origin: `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`,
    ...{ kind, name, namespace },
    createdAt: Number.isNaN(created) ? null : created,
    spec: objectIn(whole, 'spec'),
  }
}
