import { isJsonObject, type JsonObject } from '../../shared/json/fold.ts'
import type { StringMap } from '../ipam/records/pod-facts.ts'
import { forerunnerPrefix } from './dialects/owner-keys.ts'

/** What names an owner (meta/v1 OwnerReference). */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}

/** The part of meta/v1 ObjectMeta that ipkeeper looks at. */
export interface ObjectMeta {
  readonly namespace: string | undefined
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly annotations: StringMap
  readonly labels: StringMap
  /** The owner with `controller: true`. */
  readonly controller: OwnerReference | undefined
  readonly deleting: boolean
}

/** The strings of a map; `wanted` says which keys are kept, so that what nobody reads costs no memory. */
export function stringMap(value: unknown, wanted: (key: string) => boolean = () => true): StringMap {
  if (!isJsonObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && wanted(entry[0]),
    ),
  )
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

function readController(references: unknown): OwnerReference | undefined {
  if (!Array.isArray(references)) return undefined
  const controller = references.filter(isJsonObject).find(reference => reference['controller'] === true)
  if (!controller) return undefined
  const { apiVersion, kind, name, uid } = controller
  if (!isText(apiVersion) || !isText(kind) || !isText(name) || !isText(uid)) return undefined
  return { apiVersion, kind, name, uid }
}

/** The metadata of an object; undefined when it is no object of the API. */
export function readMeta(
  object: JsonObject,
  wantedAnnotations?: (key: string) => boolean,
): ObjectMeta | undefined {
  const meta = object['metadata']
  if (!isJsonObject(meta)) return undefined
  const { namespace, name, uid, resourceVersion } = meta
  if (!isText(name) || !isText(uid) || !isText(resourceVersion)) return undefined
  return {
    namespace: isText(namespace) ? namespace : undefined,
    name,
    uid,
    resourceVersion,
    annotations: stringMap(meta['annotations'], wantedAnnotations),
    labels: stringMap(meta['labels']),
    controller: readController(meta['ownerReferences']),
    deleting: isText(meta['deletionTimestamp']),
  }
}

/** A part of an object by its path; undefined where there is none. */
export function at(object: JsonObject, ...path: readonly string[]): unknown {
  let value: unknown = object
  for (const key of path) {
    if (!isJsonObject(value)) return undefined
    value = value[key]
  }
  return value
}

/** What is kept of the objects of the API: a pod of 10 KiB becomes some hundred bytes. */

export interface PodEntry {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly annotations: StringMap
  readonly labels: StringMap
  readonly controller: OwnerReference | undefined
  readonly deleting: boolean
}

export interface NamespaceEntry {
  readonly annotations: StringMap
  readonly labels: StringMap
}

export interface NodeEntry {
  /** Of this node only; nobody asks for those of others. */
  readonly labels: StringMap | undefined
  readonly outOfService: boolean
  /** By which other nodes reach it: those of type InternalIP. */
  readonly addresses: readonly string[]
}

/** Annotations that a reader of ours knows, and those by which a static pod is recognised. */
const keptPrefixes: readonly string[] = [
  'ipkeeper.io/',
  forerunnerPrefix,
  'cni.projectcalico.org/',
  'ovn.kubernetes.io/',
  'networking.alibaba.com/',
  'ipam.antrea.io/',
  'kubernetes.io/config.',
]
const networksOfMultus = 'k8s.v1.cni.cncf.io/networks'

/** Whether somebody may read this annotation. */
function isKept(key: string): boolean {
  return key === networksOfMultus || keptPrefixes.some(prefix => key.startsWith(prefix))
}

/** kubernetes.io, "Well-Known Labels, Annotations and Taints": set by hand once a node is known to be down. */
const outOfServiceTaint = 'node.kubernetes.io/out-of-service'

export function projectPod(object: JsonObject): PodEntry | undefined {
  const meta = readMeta(object, isKept)
  if (meta?.namespace === undefined) return undefined
  const { namespace, name, uid, annotations, labels, controller, deleting } = meta
  // kubelet makes the Node the controller of the mirror of a static pod; that is no workload.
  const isMirror = controller?.kind === 'Node' && controller.apiVersion === 'v1'
  return {
    namespace,
    name,
    uid,
    annotations,
    labels,
    controller: isMirror ? undefined : controller,
    deleting,
  }
}

export function projectNamespace(object: JsonObject): NamespaceEntry | undefined {
  const meta = readMeta(object, isKept)
  return meta && { annotations: meta.annotations, labels: meta.labels }
}

/** @param own name of the node this daemon runs on */
export function projectNode(object: JsonObject, own: string): NodeEntry | undefined {
  const meta = readMeta(object, () => false)
  if (!meta) return undefined
  const taints = at(object, 'spec', 'taints')
  const addresses = at(object, 'status', 'addresses')
  return {
    labels: meta.name === own ? meta.labels : undefined,
    addresses: (Array.isArray(addresses) ? addresses : []).flatMap(entry =>
      isJsonObject(entry) && entry['type'] === 'InternalIP' && typeof entry['address'] === 'string'
        ? [entry['address']]
        : [],
    ),
    outOfService:
      Array.isArray(taints) &&
      taints.some(taint => isJsonObject(taint) && taint['key'] === outOfServiceTaint),
  }
}
