import { lstatSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { command, type ReadCall } from '../framework/command.ts'
import { readTextFile } from '../framework/read-input.ts'
import { apiAttachment, attachmentResource, type ApiAttachment } from '../manifests/api-attachment.ts'
import { lintDirectory, lintFiles, type LintNode } from '../../conf-dir/lint-files.ts'
import { runtimeBinDirs } from '../../conf-dir/runtime-bin-dirs.ts'
import { decode, readPlainFile, readSourceFile } from '../../conf-dir/read-source-file.ts'
import { rewriteConfig } from '../../conf-dir/rewrite-config.ts'
import { compilerText, githubCommand, visibleText } from '../../diagnose/lint/format-finding.ts'
import { LineMap } from '../../diagnose/lint/line-map.ts'
import type { Linted } from '../../diagnose/lint/lint.ts'
import { fixText } from '../../diagnose/lint/json/fix-text.ts'
import { isRuntimeFile } from '../../diagnose/lint/runtime-files.ts'
import type { SourceFile } from '../../diagnose/lint/site.ts'
import { looksLikeManifest, readYaml } from '../../diagnose/lint/yaml-configs.ts'
import { listObjects } from '../../migrate/import/list-objects.ts'
import type { LintReply } from '../../../shared/api/lint.schema.ts'
import { defaultPaths } from '../../../shared/paths.ts'
import type { Terminal } from '../framework/terminal.ts'
import { Problem, toProblem } from '../../../shared/problem/problem.ts'
import { counted } from '../../../shared/text/counted.ts'

/** What became of one file that was to be mended. */
export interface MendReport {
  readonly file: string
  readonly changed: boolean
  /** Where the text of before is; null where nothing was changed. */
  readonly original: string | null
  /** What was, or would be, done. */
  readonly changes: readonly string[]
  /** Lines that go, with "-", and lines that come in their place, with "+". */
  readonly plan: readonly string[]
  /** Why nothing was changed; null where something was. */
  readonly why: string | null
}

/** Lines that differ between two texts, apart from what they begin and end with in common. */
function planOf(before: string, after: string): string[] {
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  let head = 0
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head++
  let tail = 0
  const shortest = Math.min(old.length, fresh.length) - head
  while (tail < shortest && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++
  return [
    ...old.slice(head, old.length - tail).map(line => `-${line}`),
    ...fresh.slice(head, fresh.length - tail).map(line => `+${line}`),
  ]
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

/**
 * Makes the safe changes to one file. Whatever is in the way, the file is as it was and the report says why. undefined
 * where there is nothing to mend.
 */
export async function mendFile(path: string, dryRun: boolean, now: Date): Promise<MendReport | undefined> {
  const unchanged = (why: string): MendReport => ({
    ...{ file: path, changed: false, original: null },
    ...{ changes: [], plan: [], why },
  })
  if (isLink(path)) return unchanged('it is a symbolic link; name its target')
  const read = await readPlainFile(path)
  if (!('bytes' in read)) return unchanged(read.why)
  const text = decode(read.bytes)
  const isYaml = /\.ya?ml$/.test(path) || (!isRuntimeFile(path) && looksLikeManifest(text))
  if (isYaml) return unchanged('it is YAML; fix it at its source')
  const fixed = fixText(text)
  if (fixed.kind === 'sound') return undefined
  if (fixed.kind === 'by-hand') {
    const { line, column } = new LineMap(text).placeOf(fixed.fault.start)
    return unchanged(`line ${line}, column ${column} needs to be fixed by hand: ${fixed.fault.message}`)
  }
  if (!Buffer.from(text).equals(read.bytes)) return unchanged('it has bytes that are not UTF-8')
  const changes = fixed.titles
  const plan = planOf(text, fixed.text)
  if (dryRun) return { file: path, changed: false, original: null, changes, plan, why: 'dry run' }
  try {
    const check = (written: string): void => void JSON.parse(written)
    const original = await rewriteConfig(path, read, fixed.text, { now, check })
    return { file: path, changed: true, original, changes, plan, why: null }
  } catch (error) {
    return unchanged(toProblem(error).message)
  }
}

interface LintAnswer extends LintReply {
  /** With --fix: what became of each file that had something to mend. */
  readonly fixes?: readonly MendReport[]
  readonly lineText: Linted['lineText']
}

const stdinName = '<stdin>'

/** What a word of the command line means: a file to lint, or undefined for a folder of a runtime. */
async function readWord(word: string): Promise<SourceFile | undefined> {
  if (word === '-') return { path: stdinName, name: stdinName, text: readTextFile('-') }
  const found = statSync(word, { throwIfNoEntry: false })
  if (!found)
    throw new Problem('IPK_REQUEST_INVALID', `there is no ${word}`, { hint: 'name a file or a folder' })
  return found.isDirectory() ? undefined : await readSourceFile(word, 'anywhere')
}

interface Wanted {
  readonly words: readonly string[]
  readonly node: LintNode
  /** Definitions of the API; undefined where it is not asked. */
  readonly attachments: readonly ApiAttachment[] | undefined
}

/** Without those that a file has, too: that is the version which is about to be applied. */
function notInFiles(attachments: readonly ApiAttachment[], files: readonly SourceFile[]): SourceFile[] {
  const own = files.flatMap(({ text = '' }) => (looksLikeManifest(text) ? readYaml(text).attachments : []))
  return attachments
    .filter(({ name, namespace }) =>
      own.every(other => other.name !== name || !['', namespace].includes(other.namespace)),
    )
    .map(({ file }) => file)
}

/** Lints each folder by itself, and files together: a pod's network may be in another one. */
async function lintWords({ words, node, attachments }: Wanted): Promise<Linted> {
  const files: SourceFile[] = []
  const parts: Linted[] = []
  for (const word of new Set(words)) {
    const file = await readWord(word)
    if (file) files.push(file)
    else parts.push(await lintDirectory(word, node))
  }
  if (files.length > 0 || attachments) {
    const all = [...notInFiles(attachments ?? [], files), ...files]
    parts.unshift(await lintFiles(all, node, { allAttachments: attachments !== undefined }))
  }
  return {
    findings: parts.flatMap(({ findings }) => findings),
    files: parts.flatMap(part => part.files),
    lineText: (file, line) =>
      parts.find(part => part.files.some(candidate => candidate.file === file))?.lineText(file, line) ?? '',
  }
}

const noApi = {
  code: 'IPK_REQUEST_INVALID',
  hint: 'name one: --kubeconfig FILE; or: kubectl get net-attach-def -A -o yaml | ipkeeperctl lint -',
} as const

/** The definitions of the API, where it is to be asked. */
async function readAttachments(
  { options, flags }: ReadCall,
  { env }: Terminal,
): Promise<readonly ApiAttachment[] | undefined> {
  const { kubeconfig, context } = options
  if (!flags.has('api')) {
    if (kubeconfig !== undefined || context !== undefined)
      throw new Problem('IPK_USAGE', '--kubeconfig and --context go with --api')
    return undefined
  }
  const objects = await listObjects(attachmentResource, { env, kubeconfig, context, failure: noApi })
  return objects.map(apiAttachment)
}

function readNode({ options }: ReadCall): LintNode {
  const { 'bin-dir': named, 'max-conf-num': number = '1', 'net-dir': netDir } = options
  if (!/^\d{1,6}$/.test(number))
    throw new Problem('IPK_USAGE', `--max-conf-num ${number} is not a number; 0 means all`)
  const binDirs = named?.split(':').filter(folder => folder !== '') ?? runtimeBinDirs()
  if (binDirs.length === 0) throw new Problem('IPK_USAGE', '--bin-dir names no folder')
  return {
    binDirs: binDirs.map(folder => resolve(folder)),
    binDirsNamed: named !== undefined,
    maxConfNum: Number(number),
    ...(netDir !== undefined && { netDir }),
  }
}

/** "1 error", "3 warnings". */
function summary({ findings, files }: LintReply): string {
  const counts = (['error', 'warning', 'note'] as const).flatMap(severity => {
    const count = findings.filter(finding => finding.severity === severity).length
    return count === 0 ? [] : [counted(count, severity)]
  })
  return `${counts.length === 0 ? 'no findings' : counts.join(', ')}: ${counted(files.length, 'file')} checked\n`
}

function chosenLines({ files }: LintReply): string[] {
  if (files.every(({ chosen }) => chosen === null)) return []
  const chosen = files.filter(file => file.chosen === true)
  if (chosen.length === 0) return ['the runtime has no network: it loads no file\n']
  return chosen.map(
    ({ file, network }) =>
      `the runtime loads ${visibleText(file)} (network ${visibleText(network ?? '?')})\n`,
  )
}

function mendLines({ file, changed, original, changes, plan, why }: MendReport): string {
  const lines = plan.map(line => `  ${line.split('\t').map(visibleText).join('\t')}\n`).join('')
  if (changed)
    return `${visibleText(file)}: fixed (${changes.join(', ')}); the original is ${visibleText(original ?? '')}\n${lines}`
  if (plan.length > 0) return `${visibleText(file)}: would be fixed (${changes.join(', ')})\n${lines}`
  return `${visibleText(file)}: not changed: ${visibleText(why ?? '')}\n`
}

export const lintCommand = command<LintAnswer>({
  name: 'lint',
  arguments: [
    {
      ...{ name: 'FILE|DIR', optional: true, repeated: true, offers: 'file' },
      text: `conflists, folders of them, manifests, or "-" for standard input (default: ${defaultPaths.confDir})`,
    },
  ],
  summary: 'Check network configurations for errors; needs no daemon',
  options: {
    'bin-dir': {
      value: 'DIR',
      text: `plugin folder; may be repeated, or DIR:DIR (default: those of the runtime's configuration)`,
      joined: true,
      offers: 'folder',
    },
    'max-conf-num': {
      value: 'N',
      text: 'how many files the runtime loads, as in its configuration; 0 means all (default: 1)',
    },
    api: { text: 'also check the NetworkAttachmentDefinitions of the Kubernetes API' },
    kubeconfig: {
      value: 'FILE',
      text: 'with --api: kubeconfig (default: the service account, in a pod)',
      offers: 'file',
    },
    context: { value: 'NAME', text: 'with --api: context in --kubeconfig (default: its current one)' },
    'net-dir': {
      value: 'DIR',
      text: `where Multus has its own configuration, for definitions without one (default: ${defaultPaths.confDir})`,
      offers: 'folder',
    },
    fix: { text: 'fix commas, comments, single quotes and BOMs; keeps FILE.orig-TIME' },
    'dry-run': { text: 'with --fix: only show what would change' },
  },
  examples: [
    {
      line: 'ipkeeperctl lint /etc/cni/net.d',
      does: 'Check each file, and show which one the runtime loads',
    },
    {
      line: 'ipkeeperctl lint --fix --dry-run /etc/cni/net.d/10-fixed.conflist',
      does: 'Show what would be fixed',
    },
    {
      line: 'ipkeeperctl lint deploy/*.yaml -o github',
      does: 'Annotate lines of ConfigMaps in a GitHub workflow',
    },
    {
      line: 'ipkeeperctl lint --api --kubeconfig admin.conf pods.yaml',
      does: 'Check the definitions of Multus in the API, and whether pods choose any that is not there',
    },
  ],
  exits: { 0: 'no errors', 1: 'errors were found' },
  run: async (_daemon, args, terminal) => {
    const node = readNode(args)
    const asksApi = args.flags.has('api')
    const words = args.positionals.length === 0 && !asksApi ? [defaultPaths.confDir] : args.positionals
    if (words.includes('')) throw new Problem('IPK_USAGE', 'FILE is empty')
    const dryRun = args.flags.has('dry-run')
    if (!args.flags.has('fix')) {
      if (dryRun) throw new Problem('IPK_USAGE', '--dry-run goes with --fix')
      return await lintWords({ words, node, attachments: await readAttachments(args, terminal) })
    }
    if (asksApi) throw new Problem('IPK_USAGE', '--fix goes with files, not with --api')
    const wanted: Wanted = { words, node, attachments: undefined }
    if (words.includes('-'))
      throw new Problem('IPK_USAGE', 'standard input cannot be fixed in place; name the file')
    const before = await lintWords(wanted)
    const broken = new Set(before.findings.filter(({ fix }) => fix !== null).map(({ file }) => file))
    const manifests = before.files.filter(({ file, why }) => why.startsWith('YAML') && !broken.has(file))
    const fixes: MendReport[] = []
    for (const file of [...broken, ...manifests.map(({ file: path }) => path)]) {
      const report = await mendFile(file, dryRun, new Date())
      if (report) fixes.push(report)
    }
    // What is left is what a person has to know.
    const after = fixes.some(({ changed }) => changed) ? await lintWords(wanted) : before
    return { ...after, fixes }
  },
  print: ({ fixes = [], lineText, ...reply }) =>
    [
      ...fixes.map(mendLines),
      ...reply.findings.map(finding => compilerText(finding, lineText(finding.file, finding.line))),
      ...chosenLines(reply),
      summary(reply),
    ].join(''),
  formats: {
    github: ({ findings }) => findings.map(finding => `${githubCommand(finding)}\n`).join(''),
  },
  exitCode: ({ findings }) => (findings.some(({ severity }) => severity === 'error') ? 1 : 0),
})
