import { isSupportedVersion } from '../../../shared/cni/versions.ts'
import { clipped, field, isJsonObject, jsonTypeName, type JsonObject } from '../../../shared/json/fold.ts'
import { locateSyntaxError } from '../../../shared/json/locate-syntax-error.ts'
import { catalogue } from '../../../shared/problem/catalogue.ts'
import { keptCharacters } from '../../host/run-program.ts'
import { readResult, ResultFault, strayKeys, type PluginResult } from './plugin-result.ts'
import { failure, warning, type TryFinding, type TriedVerb } from './report.ts'

/** How one run of a plugin ended, before anybody judges it. */
export interface EndedRun {
  readonly verb: TriedVerb
  /** Its `type`. */
  readonly plugin: string
  readonly end:
    | { readonly kind: 'missing'; readonly folders: readonly string[] }
    | { readonly kind: 'not-started'; readonly error: Error }
    | { readonly kind: 'exit'; readonly exit: number }
    | { readonly kind: 'signal'; readonly signal: string }
    /** Its time was up. */
    | { readonly kind: 'late' }
    /** The person at the terminal had enough. */
    | { readonly kind: 'stopped' }
  readonly stdout: string
  readonly stderr: string
  /** Until nobody held its output open any more. */
  readonly milliseconds: number
  /** Until the process itself ended; undefined when it did not. */
  readonly exitedAfter: number | undefined
  readonly timeoutMs: number
}

/** What came of a run, as libcni sees it (incidents 3a; cni:pkg/invoke/{exec,raw_exec}.go). */
export interface RunVerdict {
  /** Whether libcni would go on to the next plugin. */
  readonly succeeded: boolean
  /** What libcni would tell its runtime otherwise. */
  readonly runtimeSays: string | null
  /** Of an ADD that succeeded. */
  readonly result: PluginResult | null
  readonly findings: readonly TryFinding[]
}

/** Milliseconds that a plugin's children may hold its output without a word about it. */
const shortLingering = 250

const verbNames: Readonly<Record<TriedVerb, string>> = { ADD: 'add', CHECK: 'check', DEL: 'delete' }

const printsOnce =
  'a plugin prints exactly one JSON document on stdout; logs belong on stderr, and only the final outcome is printed'

/** cni-protocol F1. */
const takenForSuccess = warning(
  'containerd takes a failed DEL whose text has "not found" in it for a success, and never repeats it',
)

/** @param configVersion cniVersion of the conflist; "" stands for 0.1.0 */
export function judgeRun(run: EndedRun, configVersion: string): RunVerdict {
  const judged = judgeEnd(run, configVersion === '' ? '0.1.0' : configVersion)
  const lingering = run.exitedAfter === undefined ? 0 : run.milliseconds - run.exitedAfter
  if (run.end.kind === 'late' || lingering < shortLingering) return judged
  const message = `the process ended after ${seconds(run.exitedAfter ?? 0)}, but something that it started held its stdout or stderr open until ${seconds(run.milliseconds)}; runtimes wait for that`
  return { ...judged, findings: [...judged.findings, warning(message, heldOpen)] }
}

const heldOpen = 'what the plugin leaves running must not inherit its stdout and stderr'

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}

function failed({ plugin, verb }: EndedRun, why: string, ...findings: readonly TryFinding[]): RunVerdict {
  const runtimeSays = `plugin type=${JSON.stringify(plugin)} failed (${verbNames[verb]}): ${why}`
  const swallowed = verb === 'DEL' && /not found/.test(runtimeSays) ? [takenForSuccess] : []
  return { succeeded: false, runtimeSays, result: null, findings: [...findings, ...swallowed] }
}

function judgeEnd(run: EndedRun, configVersion: string): RunVerdict {
  const { end, plugin, stdout, stderr } = run
  switch (end.kind) {
    case 'missing':
      return failed(
        run,
        `failed to find plugin ${JSON.stringify(plugin)} in path [${end.folders.join(' ')}]`,
        failure(
          `there is no plugin "${plugin}" in ${end.folders.join(', ')}`,
          'install it there, or name the folder of the runtime: --bin-dir DIR (Debian: /usr/lib/cni)',
        ),
      )
    case 'not-started': {
      const code = 'code' in end.error ? String(end.error.code) : end.error.message
      const remedy = notStarted[code] ?? 'look at the file: it must be an executable for this machine'
      return failed(run, end.error.message, failure(`it cannot be started (${code})`, remedy))
    }
    case 'stopped':
      return failed(
        run,
        'netplugin failed with no error message: signal: killed',
        failure('it was stopped before it had ended'),
      )
    case 'late':
      return run.exitedAfter === undefined
        ? failed(
            run,
            'netplugin failed with no error message: signal: killed',
            failure(
              `it had not ended after ${seconds(run.timeoutMs)} and was killed; a runtime does the same, at its own deadline`,
              'see what it waits for (stderr below, its log, its daemon); --timeout SECONDS gives it longer',
            ),
          )
        : failed(
            run,
            'context deadline exceeded',
            failure(
              `the process ended after ${seconds(run.exitedAfter)}, but something that it started held its stdout or stderr open for ${seconds(run.timeoutMs)}; a runtime waits for it even beyond its own deadline`,
              heldOpen,
            ),
          )
    case 'signal': {
      const why = says(stdout, stderr, `signal: ${signalWords[end.signal] ?? end.signal}`)
      const message = `it was ended by ${end.signal}${end.signal === 'SIGKILL' ? ', as the kernel does when memory runs out' : ''}`
      return failed(run, why, failure(message, 'see: dmesg, journalctl, and stderr below'))
    }
    case 'exit':
      if (stdout.length >= keptCharacters)
        return failed(
          run,
          'more than 8 MiB on stdout',
          failure('it printed more than 8 MiB on stdout', printsOnce),
        )
      if (end.exit !== 0) return judgeFailure(run, end.exit)
      return run.verb === 'ADD' ? judgeAdd(run, configVersion) : judgeSilence(run)
  }
}

const notStarted: Readonly<Record<string, string>> = {
  EACCES: 'make it executable: chmod 0755 (and look for "noexec" on its mount)',
  ENOEXEC:
    'it is no executable of this machine: another architecture, a cut download, or a script without #!',
  ENOENT: 'its interpreter or loader is missing: a script whose #! leads nowhere, or another C library',
  ETXTBSY:
    'it is open for writing: install by a rename, not by writing over it; runtimes try six times, a second apart',
}

const signalWords: Readonly<Record<string, string>> = {
  SIGKILL: 'killed',
  SIGTERM: 'terminated',
  SIGSEGV: 'segmentation fault',
  SIGABRT: 'aborted',
  SIGINT: 'interrupt',
}

/** The message that libcni makes of a plugin that failed (cni:pkg/invoke/raw_exec.go pluginErr). */
function says(stdout: string, stderr: string, how: string): string {
  if (stdout === '')
    return stderr === ''
      ? `netplugin failed with no error message: ${how}`
      : `netplugin failed: ${JSON.stringify(stderr)}`
  const read = decode(stdout)
  if (read.kind === 'fault')
    return `netplugin failed but error parsing its diagnostic message ${JSON.stringify(stdout)}: ${read.words}`
  const { msg, details } = errorOf(read.value)
  return `${msg}${details === '' ? '' : `; ${details}`}`
}

interface ErrorDocument {
  readonly code: unknown
  readonly msg: string
  readonly details: string
}

function errorOf(value: unknown): ErrorDocument {
  if (!isJsonObject(value)) return { code: undefined, msg: '', details: '' }
  const text = (key: string): string => {
    const found = field(value, key)
    return typeof found === 'string' ? found : ''
  }
  return { code: field(value, 'code'), msg: text('msg'), details: text('details') }
}

/** What the codes of the specification mean, and what to do about them (CNI SPEC, section "Error"). */
const codes: Readonly<Record<number, readonly [meaning: string, remedy: string]>> = {
  1: [
    'the versions do not fit',
    'set "cniVersion" to one that every plugin of the list speaks; details name them',
  ],
  2: ['a field of the configuration is not supported', 'remove or correct the field that the message names'],
  3: ['the container is unknown', 'runtimes take it that no DEL is needed'],
  4: ['an environment variable is missing or bad', 'this is the caller: see the environment above'],
  5: ['reading or writing failed', 'see the message, and the log of the plugin'],
  6: ['the configuration cannot be decoded', 'correct what the message names; stdin is shown above'],
  7: ['the configuration is not valid', 'correct what the message names; stdin is shown above'],
  8: ['the network namespace is not valid', 'see whether the plugin sees /run/netns of this host'],
  11: ['try again later', 'the plugin reports a temporary failure; run it again'],
  50: ['the plugin is not available', 'see its log, and its daemon'],
  51: ['the plugin is not available, and pods may be cut off', 'see its log, and its daemon'],
  999: ["an error of the plugin's own; the reference plugins use this code for all of them", ''],
}

function judgeFailure(run: EndedRun, exit: number): RunVerdict {
  const { stdout, stderr } = run
  const fail = (message: string, remedy: string): RunVerdict =>
    failed(run, says(stdout, stderr, `exit status ${exit}`), failure(message, remedy))
  if (stdout === '') {
    return stderr === ''
      ? fail(`exit ${exit} without any output`, 'a plugin that fails prints an error document on stdout')
      : fail(
          `exit ${exit}, and its error is on stderr only: ${lastLine(stderr)}`,
          'a plugin that fails prints an error document on stdout; without one its code is lost',
        )
  }
  const read = decode(stdout)
  if (read.kind === 'fault')
    return fail(`exit ${exit}, and stdout is no error document: ${read.where}`, printsOnce)
  if (!isJsonObject(read.value))
    return fail(`exit ${exit}, and stdout is ${jsonTypeName(read.value)}, no error document`, printsOnce)
  const { code, msg, details } = errorOf(read.value)
  if (msg === '') {
    const what = looksLikeResult(read.value) ? 'a Result' : 'an object without "msg"'
    return fail(
      `exit ${exit} with ${what} on stdout; runtimes show an empty error message`,
      'a plugin prints a Result and exits 0, or prints {"code", "msg"} and exits 1',
    )
  }
  const known = typeof code === 'number' ? codes[code] : undefined
  const [meaning, remedy] = known ?? ['', '']
  const number = typeof code === 'number' ? `code ${code}` : 'no code'
  return fail(
    `${msg}${details === '' ? '' : `; ${details}`} (${number}${meaning === '' ? '' : `: ${meaning}`})`,
    ownHint(`${msg} ${details}`) ?? remedy,
  )
}

/** ipkeeper's errors carry their code of the catalogue. */
function ownHint(text: string): string | undefined {
  const code = /\[(IPK_[A-Z_]+)/.exec(text)?.[1]
  if (code === undefined || !Object.hasOwn(catalogue, code)) return undefined
  return catalogue[code as keyof typeof catalogue].hint
}

function lastLine(text: string): string {
  return clipped(text.trim().split('\n').at(-1) ?? '')
}

const looksLikeResult = (value: JsonObject): boolean =>
  ['ips', 'interfaces', 'ip4', 'ip6'].some(key => field(value, key) !== undefined)

function judgeSilence(run: EndedRun): RunVerdict {
  const findings =
    run.stdout.trim() === ''
      ? []
      : [
          warning(
            `it printed something on stdout; CNI expects nothing there after ${run.verb}, and runtimes ignore it`,
            errorOf(tryDecode(run.stdout)).msg === ''
              ? ''
              : 'an error document with exit 0 is lost: exit 1 goes with it',
          ),
        ]
  return { succeeded: true, runtimeSays: null, result: null, findings }
}

const noAddress =
  'runtimes take it for a success without an address; containerd then fails with "failed to find network info for sandbox"'

function judgeAdd(run: EndedRun, configVersion: string): RunVerdict {
  const read = decode(run.stdout)
  if (read.kind === 'fault') {
    const message =
      run.stdout.trim() === ''
        ? 'exit 0, and nothing on stdout; the ADD fails with "unexpected end of JSON input"'
        : `stdout is not one JSON document: ${read.where}`
    return failed(run, `failed to unmarshal raw result: ${read.words}`, failure(message, printsOnce))
  }
  const { value } = read
  if (value !== null && !isJsonObject(value)) {
    const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    return failed(
      run,
      `failed to unmarshal raw result: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
      failure(`stdout is ${jsonTypeName(value)}, no Result`, printsOnce),
    )
  }
  return judgeDocument(run, value ?? {}, configVersion)
}

function judgeDocument(run: EndedRun, document: JsonObject, configVersion: string): RunVerdict {
  const findings: TryFinding[] = []
  const stated = document['cniVersion']
  const version = typeof stated === 'string' && stated !== '' ? stated : configVersion
  if (!isSupportedVersion(version)) {
    return failed(
      run,
      `unsupported CNI result version ${JSON.stringify(version)}`,
      failure(
        `its Result is of cniVersion ${JSON.stringify(version)}, which does not exist`,
        `print "cniVersion": ${JSON.stringify(configVersion)}, the one on stdin`,
      ),
    )
  }
  const error = errorOf(document)
  const empty = run.stdout.trim()
  if (empty === 'null' || Object.keys(document).length === 0) {
    findings.push(
      failure(`exit 0 with ${empty === 'null' ? 'null' : '{}'} on stdout; ${noAddress}`, printsOnce),
    )
  } else if (error.msg !== '' && !looksLikeResult(document)) {
    findings.push(
      failure(
        `exit 0 with an error document ("${clipped(error.msg)}"); ${noAddress}`,
        'a plugin that fails exits 1',
      ),
    )
  } else if (stated === undefined || stated === '') {
    findings.push(
      warning(
        'its Result names no cniVersion; runtimes take it for that of the conflist',
        `print "cniVersion": ${JSON.stringify(configVersion)}, the one on stdin`,
      ),
    )
  } else if (version !== configVersion) {
    findings.push(
      warning(
        `its Result is of cniVersion ${version}, and the configuration of ${configVersion}; the next plugin may refuse it as prevResult`,
        'a Result is of the cniVersion on stdin',
      ),
    )
  }
  for (const key of strayKeys(document, version))
    findings.push(failure(`"${key}" is not read in a Result of cniVersion ${version}`, shapeOf(version)))
  try {
    return { succeeded: true, runtimeSays: null, result: readResult(document, version), findings }
  } catch (fault) {
    if (!(fault instanceof ResultFault)) throw fault
    return failed(
      run,
      fault.message,
      ...findings,
      failure(`its Result cannot be decoded: ${fault.message}`, shapeOf(version)),
    )
  }
}

function shapeOf(version: string): string {
  return ['0.1.0', '0.2.0'].includes(version)
    ? 'a Result of 0.1.0 and 0.2.0 has "ip4" and "ip6", each {"ip", "gateway", "routes"}'
    : 'a Result since 0.3.0 has "interfaces", "ips" (each {"address": "ADDRESS/LENGTH", "gateway", "interface"}) and "routes"'
}

type Decoded =
  | { readonly kind: 'value'; readonly value: unknown }
  /** `where`: for a person. `words`: what Go's decoder says, as near as matters. */
  | { readonly kind: 'fault'; readonly where: string; readonly words: string }

function tryDecode(text: string): unknown {
  const read = decode(text)
  return read.kind === 'value' ? read.value : undefined
}

function decode(text: string): Decoded {
  try {
    return { kind: 'value', value: JSON.parse(text) as unknown }
  } catch {
    const fault = locateSyntaxError(text) ?? { what: 'no JSON', offset: 0 }
    const byte = Buffer.byteLength(text.slice(0, fault.offset))
    const found = text.slice(fault.offset, fault.offset + 30)
    const there = found === '' ? 'the end' : JSON.stringify(found)
    return {
      kind: 'fault',
      where: `${fault.what}, at byte ${byte}: ${there}`,
      words: goWords(text, fault.offset),
    }
  }
}

/** Go's words for the three faults that are common; what else it says comes near (cni-protocol A3, A5). */
function goWords(text: string, offset: number): string {
  const character = Array.from(text.slice(offset).trimStart())[0]
  if (character === undefined || /unexpected end/.test(locateSyntaxError(text)?.what ?? ''))
    return 'unexpected end of JSON input'
  const before = text.slice(0, offset).trim()
  const where =
    before === '' ? 'looking for beginning of value' : isWhole(before) ? 'after top-level value' : 'in it'
  return `invalid character '${character}' ${where}`
}

function isWhole(text: string): boolean {
  return locateSyntaxError(text) === undefined
}
