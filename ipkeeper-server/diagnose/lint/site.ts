import type { Severity } from '../../../shared/findings.ts'
import type { JsonObject } from '../../../shared/json/fold.ts'
import type { SyntaxFault } from './json/syntax-fault.ts'
import { textField, toJsonObject, valueOf, type JsonNode, type Span } from './json/json-node.ts'
import { LineMap } from './line-map.ts'
import { parseTolerantly } from './json/parse-tolerantly.ts'
import { compareNames, isRuntimeFile, whyNotLoadable } from './runtime-files.ts'
import { TextView } from './text-view.ts'
import type { NetworkDefinition, SelectingPods } from './attachment-objects.ts'
import { looksLikeManifest, looksLikeYaml, nothingInYaml, readYaml, type YamlFile } from './yaml-configs.ts'

/** A file as it was found. */
export interface SourceFile {
  /** As messages name it. */
  readonly path: string
  /** The last part of the path. */
  readonly name: string
  /** undefined where it was not read; `fault` says why. */
  readonly text: string | undefined
  readonly fault?: UnreadFile
}

/** Why a file was not read. */
export interface UnreadFile {
  readonly why: string
  readonly severity: Severity
  /** Whether a runtime fails at it as well; it may follow a link that we do not, or read more than we do. */
  readonly stopsRuntime: boolean
}

/** What is known of the program of a plugin. */
export type PluginSeen =
  | {
      readonly kind: 'executable'
      readonly path: string
      /** What it said of itself when it was asked; undefined when it was not, or did not answer. */
      readonly versions: readonly string[] | undefined
      /** Why it gave no versions; '' when it was not to be asked. */
      readonly silence: string
      /** Why it was not even run: a user other than root could have put anything there. */
      readonly unsafe: string | undefined
    }
  | { readonly kind: 'unusable'; readonly path: string; readonly why: string }
  | { readonly kind: 'missing' }

/** All that is to be looked at, and what is known of the node. */
export interface LintInput {
  readonly files: readonly SourceFile[]
  /** Where the files are those of a runtime's folder. */
  readonly directory?: { readonly path: string; readonly maxConfNum: number }
  /** Of a node that shares its store with others; absent elsewhere, and where that is not known. */
  readonly nodeRoutes?: 'auto' | 'off' | undefined
  /** Absent where programs were not searched. */
  readonly plugins?: {
    readonly binDirs: readonly string[]
    /** By type; undefined where none of the folders is there, as on a machine that is no node. */
    readonly seen: ReadonlyMap<string, PluginSeen> | undefined
  }
  /** Whether the definitions among the files are all that there are, as those of the API. */
  readonly allAttachments?: boolean
  /** Where Multus looks for networks whose definition has no config; absent on a machine that is no node. */
  readonly multusFiles?: { readonly folders: readonly string[]; readonly networks: ReadonlySet<string> }
}

/** `runtime`: a runtime reads the file as it is. `manifest`: it is in a YAML file, from which it gets to nodes. */
export type FileRole = 'runtime' | 'manifest'

export interface LintedFile extends SourceFile {
  readonly lines: LineMap
  /** Whether containerd and CRI-O would read it, if it stood in their folder. */
  readonly isRuntimeFile: boolean
  /** Of a file that is YAML. */
  readonly yaml: YamlFile | undefined
  readonly documents: readonly CniDocument[]
  /** Why libcni would refuse it; undefined when it would not, or when it is none of libcni's files. */
  readonly refusal: string | undefined
}

/** One network configuration: a file, or a text within a YAML file. */
export interface CniDocument {
  readonly file: LintedFile
  readonly view: TextView
  readonly standing: FileRole
  /** The definition that it is the config of. */
  readonly attachment: NetworkDefinition | undefined
  readonly root: JsonNode | undefined
  readonly faults: readonly SyntaxFault[]
  /** undefined where the text leaves in doubt what is meant. */
  readonly network: LintedNetwork | undefined
}

export interface LintedNetwork {
  readonly document: CniDocument
  readonly root: JsonNode
  readonly shape: 'list' | 'single'
  /** undefined where it is missing or no text; Multus gives that of a definition its name. */
  readonly name: string | undefined
  /** '' where it is missing. */
  readonly cniVersion: string
  readonly plugins: readonly PluginEntry[]
}

export interface PluginEntry {
  readonly network: LintedNetwork
  readonly index: number
  readonly node: JsonNode
  readonly type: string | undefined
  /** What the plugin would get on stdin, without runtimeConfig: name and version are those of the list. */
  readonly config: JsonObject
}

/** A definition in its file, with its network where that can be read. */
export interface SeenDefinition extends NetworkDefinition {
  readonly file: LintedFile
  readonly network: LintedNetwork | undefined
}

export interface SeenPods extends SelectingPods {
  readonly file: LintedFile
}

/** What rules look at. */
export interface Site {
  readonly input: LintInput
  /** In the order in which a runtime takes them. */
  readonly files: readonly LintedFile[]
  readonly networks: readonly LintedNetwork[]
  readonly plugins: readonly PluginEntry[]
  readonly attachments: readonly SeenDefinition[]
  readonly pods: readonly SeenPods[]
}

/** A place within a document or file. */
export interface Spot extends Span {
  readonly file: LintedFile
}

/** Where a part of a document stands in its file. */
export function spotOf({ file, view }: Pick<CniDocument, 'file' | 'view'>, { start, end }: Span): Spot {
  const from = view.inFile(start)
  // The end is the place behind the last character, which may be in another piece of the file.
  const to = end > start ? view.inFile(end - 1) + 1 : from
  return { file, start: from, end: Math.max(from, to) }
}

/** The beginning of a file. */
export function topOf(file: LintedFile): Spot {
  return { file, start: 0, end: 0 }
}

/** Of one list; a longer one is no configuration, and rules compare plugins with each other. */
const mostPlugins = 100

function readNetwork(document: CniDocument, sound: boolean): LintedNetwork | undefined {
  const { root, attachment } = document
  if (!sound || root?.kind !== 'object') return undefined
  const listed = valueOf(root, 'plugins')
  const name = attachment ? textField(root, 'name') || attachment.name : textField(root, 'name')
  const cniVersion = textField(root, 'cniVersion') ?? ''
  const shape = listed === undefined ? 'single' : 'list'
  const plugins: PluginEntry[] = []
  const network: LintedNetwork = { document, root, shape, name, cniVersion, plugins }
  const listedPlugins = listed?.items.filter(({ kind }) => kind === 'object').slice(0, mostPlugins)
  const nodes = listedPlugins ?? [root]
  for (const [index, node] of nodes.entries()) {
    const head = { ...(name !== undefined && { name }), ...(cniVersion !== '' && { cniVersion }) }
    plugins.push({
      network,
      index,
      node,
      type: textField(node, 'type'),
      config: { ...toJsonObject(node), ...head },
    })
  }
  return network
}

function readDocument(
  file: LintedFile,
  view: TextView,
  standing: FileRole,
  attachment?: NetworkDefinition,
): CniDocument {
  const { root, faults, sound } = parseTolerantly(view.text)
  const document: { -readonly [Key in keyof CniDocument]: CniDocument[Key] } = {
    ...{ file, view, standing, attachment, root, faults },
    network: undefined,
  }
  document.network = readNetwork(document, sound)
  return document
}

function readFile(source: SourceFile): LintedFile {
  const text = source.text ?? ''
  const runtime = isRuntimeFile(source.name)
  const looks = runtime ? looksLikeYaml : looksLikeManifest
  const isYaml = /\.ya?ml$/.test(source.name) || (source.text !== undefined && looks(text))
  const yaml = isYaml && !runtime ? readYaml(text) : undefined
  const documents: CniDocument[] = []
  const file: LintedFile & { refusal: string | undefined } = {
    ...source,
    lines: new LineMap(text),
    isRuntimeFile: runtime,
    yaml: isYaml && runtime ? nothingInYaml : yaml,
    documents,
    refusal: undefined,
  }
  if (yaml)
    for (const { view, attachment } of yaml.configs)
      documents.push(readDocument(file, view, 'manifest', attachment))
  else if (!isYaml && source.text !== undefined)
    documents.push(readDocument(file, TextView.whole(text), 'runtime'))
  if (runtime) file.refusal = refusalOf(file)
  return file
}

function refusalOf({ name, text, fault, yaml, documents: [document] }: LintedFile): string | undefined {
  if (text === undefined) return fault?.stopsRuntime === true ? fault.why : undefined
  if (yaml) return 'it is YAML'
  if (!document?.root) return 'it is empty'
  return document.faults.length > 0 ? 'it is not JSON' : whyNotLoadable(name, document.root)
}

/** Reads all there is to be looked at. Files of a runtime's folder are put into its order. */
export function readSite(input: LintInput): Site {
  const files = input.files.map(readFile)
  if (input.directory) files.sort((a, b) => compareNames(a.name, b.name))
  const networks = files.flatMap(({ documents }) => documents.flatMap(({ network }) => network ?? []))
  return {
    ...{ input, files, networks, plugins: networks.flatMap(({ plugins }) => plugins) },
    attachments: files.flatMap(file =>
      (file.yaml?.attachments ?? []).map(attachment => ({
        ...{ ...attachment, file },
        network: file.documents.find(document => document.attachment === attachment)?.network,
      })),
    ),
    pods: files.flatMap(file => (file.yaml?.pods ?? []).map(pods => ({ ...pods, file }))),
  }
}
