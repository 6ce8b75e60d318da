import { parse } from 'yaml'
import { readPodRequest } from '../../../../ipkeeper-server/kubernetes/annotations/read-pod-request.ts'
import type { DialectName } from '../../../../ipkeeper-server/kubernetes/dialects/dialects.ts'
import type { PodRequest } from '../../../../ipkeeper-server/ipam/request/request.ts'
import { isJsonObject } from '../../../../shared/json/fold.ts'

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((so, key) => (isJsonObject(so) ? so[key] : undefined), value)
}

/** The annotations of the pod that a manifest makes: those of a template where there is one. */
export function podAnnotationsOf(manifest: string): Record<string, string> {
  const object: unknown = parse(manifest)
  const template = at(object, 'spec', 'template')
  const annotations = at(template ?? object, 'metadata', 'annotations')
  if (!isJsonObject(annotations)) throw new Error('a manifest without annotations')
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]): [string, string] => {
      if (typeof value !== 'string') throw new Error(`${key} is no text`)
      return [key, value]
    }),
  )
}

/** What a pod of the manifest asks for on its first interface with one dialect switched on. */
export function requestOf(manifest: string, dialect: DialectName): PodRequest {
  return requestBy(podAnnotationsOf(manifest), dialect)
}

export function requestBy(
  podAnnotations: Readonly<Record<string, string>>,
  dialect: DialectName,
  ifname = 'eth0',
): PodRequest {
  return readPodRequest({ podAnnotations, namespace: undefined, ifname, dialects: new Set([dialect]) })
}
