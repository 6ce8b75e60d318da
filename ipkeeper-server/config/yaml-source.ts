import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Alias,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml'
import { maxYamlDepth, tooDeepYamlAt } from '../diagnose/lint/yaml-configs.ts'
import type { Fault } from './setting-faults.ts'

/** A place in a text, both from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** What keeps a text from being a document at all. */
export interface TextFault {
  readonly position: Position
  readonly text: string
}

/** How often anchors may be used, aliases of aliases multiplied: what they stand for would grow without bound. */
const maxAliasCount = 1000

/** Where the parser speaks to programmers. */
const wording: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here; the file holds one',
  TAB_AS_INDENT: 'a tab; YAML is indented with spaces',
  RESOURCE_EXHAUSTION: 'nests too deeply',
}

/** A message is one line of a log or terminal. */
const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ')

/** A YAML document, hence also JSON, that knows where each of its values stands. */
export class YamlSource {
  readonly #document: Document
  readonly #lines = new LineCounter()
  readonly #targets = new WeakMap<Alias, Node>()
  /** Entries by key, so that many faults in one large mapping are placed quickly. */
  readonly #entries = new WeakMap<YAMLMap, Map<string, Pair>>()
  /** Why the text is no document; then there is no value. */
  readonly faults: readonly TextFault[]
  /** Decoded; null when the document is empty. */
  readonly value: unknown

  constructor(text: string) {
    const deep = tooDeepYamlAt(text)
    this.#document = parseDocument(deep === undefined ? text : text.slice(0, deep), {
      lineCounter: this.#lines,
      // Checked below: the parser compares every key with every other.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'error',
    })
    const faults =
      deep === undefined
        ? [...this.#syntaxFaults()]
        : [{ position: this.#position(deep), text: `nests deeper than ${maxYamlDepth} levels` }]
    if (faults.length === 0) faults.push(...this.#structureFaults())
    let value: unknown = null
    if (faults.length === 0) {
      try {
        value = this.#document.toJS({ maxAliasCount })
      } catch {
        // The only thing that is left to go wrong.
        faults.push({ position: this.#position(0), text: `uses aliases more than ${maxAliasCount} times` })
      }
    }
    this.faults = faults
    this.value = value
  }

  /** Where a value or its key begins; what cannot be told is where the nearest thing around it begins. */
  positionOf({ path, part }: Pick<Fault, 'path' | 'part'>): Position {
    let node: unknown = this.#document.contents
    let offset = this.#offsetOf(node) ?? 0
    for (const [index, step] of path.entries()) {
      const parent = this.#resolve(node)
      const pair = isMap(parent) ? this.#entriesOf(parent).get(String(step)) : undefined
      node = isSeq(parent) && typeof step === 'number' ? parent.items[step] : pair?.value
      const key = pair && this.#offsetOf(pair.key)
      const named = part === 'key' && index === path.length - 1
      const found = named ? key : (this.#offsetOf(node) ?? key)
      if (found === undefined) break
      offset = found
    }
    return this.#position(offset)
  }

  #position(offset: number): Position {
    // Nothing of a text that is empty, or was not followed to its end, has lines of its own.
    const { line, col } = this.#lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }

  #resolve(node: unknown): unknown {
    return isAlias(node) ? this.#targets.get(node) : node
  }

  /** undefined where nothing is written, as behind the colon of "node:". */
  #offsetOf(node: unknown): number | undefined {
    const target = this.#resolve(node)
    if (!isNode(target) || !target.range) return undefined
    const [begin, end] = target.range
    return begin === end && isScalar(target) ? undefined : begin
  }

  #entriesOf(map: YAMLMap): Map<string, Pair> {
    let entries = this.#entries.get(map)
    if (!entries) {
      entries = new Map(map.items.map(pair => [isScalar(pair.key) ? String(pair.key.value) : '', pair]))
      this.#entries.set(map, entries)
    }
    return entries
  }

  *#syntaxFaults(): Iterable<TextFault> {
    const { errors, warnings } = this.#document
    for (const { code, message, pos } of [...errors, ...warnings]) {
      yield { position: this.#position(pos[0]), text: wording[code] ?? oneLine(message) }
      // What follows from it has no end.
      if (code === 'RESOURCE_EXHAUSTION') return
    }
  }

  /** What is well-formed and still cannot be read: keys that are no words or come twice, aliases that lead nowhere. */
  #structureFaults(): TextFault[] {
    const faults: TextFault[] = []
    const anchors = new Map<string, Node>()
    const fault = (node: Node, text: string): void => {
      faults.push({ position: this.#position(node.range?.[0] ?? 0), text })
    }
    visit(this.#document, (_, node, path) => {
      if (isAlias(node)) {
        const target = anchors.get(node.source)
        if (!target) fault(node, `no anchor &${node.source} comes before *${node.source}`)
        else if (path.includes(target)) fault(node, `*${node.source} stands inside of what it stands for`)
        else this.#targets.set(node, target)
        return
      }
      if (isNode(node) && node.anchor !== undefined) anchors.set(node.anchor, node)
      if (!isMap(node)) return
      const lines = new Map<string, number>()
      for (const { key } of node.items) {
        if (isScalar(key)) {
          const name = String(key.value)
          const { line } = this.#position(key.range?.[0] ?? 0)
          const first = lines.get(name)
          if (first === undefined) lines.set(name, line)
          else fault(key, `the key "${name}" is there already, in line ${first}`)
        } else if (isNode(key)) fault(key, 'a key has to be a word')
      }
    })
    return faults
  }
}
