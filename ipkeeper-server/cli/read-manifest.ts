import { isMap, isNode, LineCounter, parseAllDocuments, type Document } from 'yaml'
import { Problem } from '../../shared/problem/problem.ts'

/** A pod that a manifest describes, directly or by its template. */
export interface ManifestPod {
  readonly namespace: string
  readonly name: string
  /** "StatefulSet shop/web", for people. */
  readonly from: string
  readonly annotations: Readonly<Record<string, string>>
  readonly owner?: {
    readonly apiVersion: string
    readonly kind: string
    readonly name: string
    readonly ordinalsStart?: number
  }
  /** What a person should know: a made-up name, an annotation in the wrong place. */
  readonly notes: readonly string[]
}

/** How many pods of one StatefulSet are explained. */
const mostReplicas = 20

type Json = Readonly<Record<string, unknown>>

/** Where the template of each kind is, and what its pods are called. */
const kinds: Readonly<Record<string, { readonly template: readonly string[]; readonly suffix: string }>> = {
  StatefulSet: { template: ['spec', 'template'], suffix: '' },
  Deployment: { template: ['spec', 'template'], suffix: '-6d4cf56db6-x2x5z' },
  ReplicaSet: { template: ['spec', 'template'], suffix: '-x2x5z' },
  DaemonSet: { template: ['spec', 'template'], suffix: '-x2x5z' },
  Job: { template: ['spec', 'template'], suffix: '-x2x5z' },
  CronJob: { template: ['spec', 'jobTemplate', 'spec', 'template'], suffix: '-29410000-x2x5z' },
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((found, key) => (isJson(found) ? found[key] : undefined), value)
}

/** One document of a file, with a way to say where in it something is wrong. */
interface Source {
  readonly file: string
  readonly document: Document
  readonly lines: LineCounter
}

function fault({ file, document, lines }: Source, path: readonly (string | number)[], what: string): Problem {
  // The innermost part of the path that is there.
  const depths = Array.from({ length: path.length + 1 }, (_, less) => path.length - less)
  const nodes = depths.map(depth =>
    depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true),
  )
  const found = nodes.filter(isNode).find(({ range }) => range)
  const position = found?.range && lines.linePos(found.range[0])
  const where = position ? `${file}:${position.line}:${position.col}` : file
  return new Problem('IPK_REQUEST_INVALID', `${where}: ${what}`, { hint: 'correct the manifest' })
}

function annotationsAt(
  source: Source,
  object: unknown,
  path: readonly (string | number)[],
): Record<string, string> {
  const value = at(object, ['metadata', 'annotations'])
  if (value === undefined || value === null) return {}
  const here = [...path, 'metadata', 'annotations']
  if (!isJson(value)) throw fault(source, here, 'annotations are no mapping')
  return Object.fromEntries(
    Object.entries(value).map(([key, text]): [string, string] => {
      if (typeof text !== 'string')
        throw fault(source, [...here, key], `annotation ${key} is no text: put it in quotes`)
      return [key, text]
    }),
  )
}

function textAt(object: unknown, path: readonly string[], standard: string): string {
  const value = at(object, path)
  return typeof value === 'string' ? value : standard
}

function podsOfObject(
  source: Source,
  object: Json,
  path: readonly (string | number)[],
  namespace: string,
): ManifestPod[] {
  const kind = textAt(object, ['kind'], '')
  const name = textAt(object, ['metadata', 'name'], '')
  const where = textAt(object, ['metadata', 'namespace'], namespace)
  if (kind === 'List' || kind === 'PodList') {
    const items = at(object, ['items'])
    return (Array.isArray(items) ? items : []).flatMap((item: unknown, index) =>
      isJson(item) ? podsOfObject(source, item, [...path, 'items', index], namespace) : [],
    )
  }
  const own = annotationsAt(source, object, path)
  const base = { namespace: where, from: `${kind} ${where}/${name}` }
  if (kind === 'Pod') {
    if (name === '') throw fault(source, path, 'a Pod without metadata.name')
    return [{ ...base, name, annotations: own, notes: [] }]
  }
  const row = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  if (!row) return []
  if (name === '') throw fault(source, path, `a ${kind} without metadata.name`)
  const annotations = annotationsAt(source, at(object, row.template), [...path, ...row.template])
  const misplaced = Object.keys(own).filter(key => key.startsWith('ipkeeper.io/') && !(key in annotations))
  const notes = misplaced.map(
    key =>
      `${key} is on the ${kind} itself and has no effect there: move it to ${row.template.join('.')}.metadata.annotations`,
  )
  const owner = { apiVersion: textAt(object, ['apiVersion'], ''), kind, name }
  if (kind !== 'StatefulSet') {
    const made = `${name}${row.suffix}`
    return [
      {
        ...base,
        name: made,
        annotations,
        owner,
        notes: [...notes, `${made} is a name made up for one of its pods`],
      },
    ]
  }
  const start = at(object, ['spec', 'ordinals', 'start'])
  const ordinalsStart = typeof start === 'number' ? start : 0
  const replicas = at(object, ['spec', 'replicas'])
  const count = Math.min(typeof replicas === 'number' ? replicas : 1, mostReplicas)
  return Array.from({ length: count }, (_, index) => ({
    ...base,
    name: `${name}-${ordinalsStart + index}`,
    annotations,
    owner: { ...owner, ordinalsStart },
    notes,
  }))
}

/**
 * The pods of a manifest (YAML or JSON, one or several documents): Pods as they are, and one pod of each workload's
 * template, of a StatefulSet its first twenty. Other kinds are passed over.
 *
 * @throws Problem IPK_REQUEST_INVALID with file, line and column
 */
export function readManifest(text: string, file: string, namespace: string): readonly ManifestPod[] {
  const lines = new LineCounter()
  const pods: ManifestPod[] = []
  for (const document of parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
  })) {
    if (!('contents' in document)) continue
    const source: Source = { file, document, lines }
    const [broken] = document.errors
    if (broken) {
      const { line, col } = lines.linePos(broken.pos[0])
      throw new Problem('IPK_REQUEST_INVALID', `${file}:${line}:${col}: ${broken.message}`, {
        hint: 'correct the manifest',
      })
    }
    if (!isMap(document.contents)) continue
    const object: unknown = document.toJS({ maxAliasCount: 100 })
    if (isJson(object)) pods.push(...podsOfObject(source, object, [], namespace))
  }
  if (pods.length === 0) {
    throw new Problem('IPK_REQUEST_INVALID', `${file}: no Pod and no workload with a pod template`, {
      hint: `kinds that have pods: Pod, ${Object.keys(kinds).join(', ')}`,
    })
  }
  return pods
}
