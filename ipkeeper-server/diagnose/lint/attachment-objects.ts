import { isAlias, isMap, isScalar, isSeq, type Document, type Node, type Scalar, type YAMLMap } from 'yaml'
import { ownerKind } from '../../kubernetes/owner-kinds.ts'
import type { Span } from './json/json-node.ts'
import type { TextView } from './text-view.ts'
import { viewOfScalar } from './yaml-scalar.ts'

/** A NetworkAttachmentDefinition of a manifest. */
export interface NetworkDefinition {
  /** '' where it names none: then whoever applies it says which. */
  readonly namespace: string
  readonly name: string
  /** Where it is called so. */
  readonly at: Span
  /** `spec.config` as a text; undefined where there is none, and Multus looks for a file. */
  readonly config: Scalar<string> | undefined
}

/** One annotation of a pod, or of a pod template. */
export interface PodAnnotation {
  readonly key: string
  readonly keyAt: Span
  readonly view: TextView
}

/** The pods of a Pod or workload, as far as they choose networks. */
export interface SelectingPods {
  /** "Pod web", "StatefulSet web". */
  readonly what: string
  /** '' where it names none. */
  readonly namespace: string
  readonly annotations: readonly PodAnnotation[]
}

export interface AttachmentObjects {
  readonly attachments: readonly NetworkDefinition[]
  readonly pods: readonly SelectingPods[]
  /** `spec.config` that is written as YAML, where the API takes a text alone. */
  readonly plainConfigs: readonly Span[]
}

/** "shop/macvlan"; only the name where the namespace is not said. */
export const attachmentName = ({ namespace, name }: Pick<NetworkDefinition, 'namespace' | 'name'>): string =>
  namespace === '' ? name : `${namespace}/${name}`

/** Lists within lists, and objects of one file, are bounded by the parser; these are steps of a path. */
type Path = readonly string[]

const podMetadata: Path = ['metadata', 'annotations']

function spanOf({ range }: Node): Span {
  return { start: range?.[0] ?? 0, end: range?.[1] ?? 0 }
}

/** Looks values up in one document, following its aliases. */
class Reader {
  readonly #document: Document
  readonly #text: string

  constructor(document: Document, text: string) {
    this.#document = document
    this.#text = text
  }

  at(from: unknown, path: Path): unknown {
    let node = this.#resolved(from)
    for (const key of path) node = isMap(node) ? this.#resolved(node.get(key, true)) : undefined
    return node
  }

  textAt(from: unknown, path: Path): Scalar<string> | undefined {
    const node = this.at(from, path)
    return isScalar(node) && typeof node.value === 'string' ? (node as Scalar<string>) : undefined
  }

  word(from: unknown, path: Path): string {
    return this.textAt(from, path)?.value ?? ''
  }

  /** The objects of a document: itself, or those of a list. */
  objects(): readonly YAMLMap[] {
    const root = this.at(this.#document.contents, [])
    const items = this.word(root, ['kind']).endsWith('List') ? this.at(root, ['items']) : undefined
    const found = isSeq(items) ? items.items.map(item => this.#resolved(item)) : [root]
    return found.filter(isMap)
  }

  annotations(object: YAMLMap, path: Path): PodAnnotation[] {
    const map = this.at(object, path)
    return (isMap(map) ? map.items : []).flatMap(({ key, value }) => {
      const node = this.#resolved(value)
      if (!isScalar(key) || typeof key.value !== 'string' || !isScalar(node)) return []
      if (typeof node.value !== 'string') return []
      return [{ key: key.value, keyAt: spanOf(key), view: viewOfScalar(this.#text, node) }]
    })
  }

  #resolved(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node
  }
}

function attachmentOf(reader: Reader, object: YAMLMap): NetworkDefinition {
  const named = reader.textAt(object, ['metadata', 'name'])
  const config = reader.textAt(object, ['spec', 'config'])
  return {
    namespace: reader.word(object, ['metadata', 'namespace']),
    name: named?.value ?? '',
    at: named ? spanOf(named) : { start: spanOf(object).start, end: spanOf(object).start },
    config: config?.value === '' ? undefined : config,
  }
}

/** What a document has of Multus: its definitions, and pods that choose them. */
export function readAttachmentObjects(document: Document, text: string): AttachmentObjects {
  const reader = new Reader(document, text)
  const attachments: NetworkDefinition[] = []
  const pods: SelectingPods[] = []
  const plainConfigs: Span[] = []
  for (const object of reader.objects()) {
    const [kind, apiVersion] = [reader.word(object, ['kind']), reader.word(object, ['apiVersion'])]
    if (kind === 'NetworkAttachmentDefinition') {
      attachments.push(attachmentOf(reader, object))
      const config = reader.at(object, ['spec', 'config'])
      if (isMap(config) || isSeq(config)) plainConfigs.push(spanOf(config))
    }
    const row = ownerKind({ apiVersion, kind })
    if (!row || (kind !== 'Pod' && !row.template)) continue
    pods.push({
      what: `${kind} ${reader.word(object, ['metadata', 'name'])}`.trim(),
      namespace: reader.word(object, ['metadata', 'namespace']),
      annotations: reader.annotations(object, row.template ?? podMetadata),
    })
  }
  return { attachments, pods, plainConfigs }
}
