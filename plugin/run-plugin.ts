import { version as ownVersion } from '../shared/build-info.ts'
import { cniErrorDocument } from '../shared/cni/cni-error.ts'
import { readEnvironment, type CniEnvironment } from '../shared/cni/environment.ts'
import { configVersion, decodeNetworkConfig, networkName, pluginSettings } from '../shared/cni/netconf.ts'
import type { JsonObject } from '../shared/json/fold.ts'
import { checkVersion } from '../shared/cni/version-check.ts'
import {
  isSupportedVersion,
  isVerb,
  latestVersion,
  supportedVersions,
  type Verb,
} from '../shared/cni/versions.ts'
import { Problem, toProblem } from '../shared/problem/problem.ts'
import type { Call, PluginEdges } from './call.ts'
import { type Outcome, printable, type PrintableDocument, Refusal } from './outcome.ts'
import { flightStateDir, formatFlight, isRecorded, type RunEnding } from './flight-record.ts'
import type { RunIdentity } from './run-identity.ts'
import { add } from './verbs/add.ts'
import { check } from './verbs/check.ts'
import { del } from './verbs/del.ts'
import { gc } from './verbs/gc.ts'
import { status } from './verbs/status.ts'
import { answerVersion } from './verbs/version.ts'

export type ExitCode = 0 | 1

export interface PluginRun {
  /** Never rejects. */
  readonly finished: Promise<ExitCode>
  /** Ends the run with an error, unless its outcome is decided already. Prints before it returns. */
  readonly interrupt: (reason: unknown) => void
}

const stdinBytes = 16 * 1024 * 1024
/** For an unknown CNI_COMMAND: stdin is decoded before that is reported. */
const unknownVerbStdinMs = 10_000

/** A verb that works on a configuration from stdin, or one that does not need one. */
type VerbRow =
  | {
      readonly needsConfig: true
      /** Milliseconds in which stdin has to end; the configured timeout is not known before that. */
      readonly stdinMs: number
      readonly run: (call: Call) => Promise<Outcome>
    }
  | { readonly needsConfig: false; readonly run: (edges: PluginEdges) => Promise<Outcome> }

const verbTable: Readonly<Record<Verb, VerbRow>> = {
  ADD: { needsConfig: true, stdinMs: 60_000, run: add },
  CHECK: { needsConfig: true, stdinMs: 10_000, run: check },
  DEL: { needsConfig: true, stdinMs: 10_000, run: del },
  GC: { needsConfig: true, stdinMs: 15_000, run: gc },
  STATUS: { needsConfig: true, stdinMs: 2_000, run: status },
  VERSION: { needsConfig: false, run: answerVersion },
}

/**
 * One run of the plugin. Exactly one document goes out, and only when the outcome is final: the first of result,
 * error and interruption decides, and whatever comes later is dropped.
 */
export function startPlugin(edges: PluginEdges): PluginRun {
  const run = new Run(edges)
  run.start()
  return run
}

class Run implements PluginRun {
  readonly finished: Promise<ExitCode>
  readonly #finish: (code: ExitCode) => void
  readonly #edges: PluginEdges
  readonly #command: string
  readonly #startedAt: number
  /** What becomes known on the way, for the flight record. */
  readonly #known: { config?: JsonObject; stateDir?: string; requestId?: string; invocationId?: string } = {}
  /** The version of error documents; that of the configuration once it is known. */
  #answerVersion: string = latestVersion
  #decided = false
  /** What an interrupted run still has to do after its error is printed; the verb says so. */
  #giveUp = (): Promise<void> => Promise.resolve()

  constructor(edges: PluginEdges) {
    const { promise, resolve } = Promise.withResolvers<ExitCode>()
    this.finished = promise
    this.#finish = resolve
    this.#edges = edges
    this.#command = edges.env['CNI_COMMAND'] ?? ''
    this.#startedAt = edges.wallClock()
  }

  start(): void {
    if (this.#command === '') {
      this.#decided = true
      this.#edges.note(`CNI ipkeeper plugin v${ownVersion}`)
      this.#edges.note(`CNI protocol versions supported: ${supportedVersions.join(', ')}`)
      this.#finish(0)
      return
    }
    this.#dispatch()
      .then(
        outcome => this.#succeed(outcome),
        (reason: unknown) => this.#fail(reason),
      )
      .catch(async (bug: unknown) => {
        await this.#fail(bug)
        this.#finish(1)
      })
  }

  readonly interrupt = (reason: unknown): void => {
    const ending = this.#conclude(reason)
    if (ending) void this.#giveUp().then(() => this.#end(ending))
  }

  /** The order is that of cni:pkg/skel: environment, stdin, JSON and name, version, then the verb (cni-protocol 1.B). */
  async #dispatch(): Promise<Outcome> {
    const invocation = readEnvironment(this.#edges.env)
    const row = invocation.verb === undefined ? undefined : verbTable[invocation.verb]
    if (row?.needsConfig === false) return row.run(this.#edges)

    const timeoutMs = row?.stdinMs ?? unknownVerbStdinMs
    const configText = await this.#edges.readStdin({ timeoutMs, maxBytes: stdinBytes })
    // Interrupted before there was anything to give up: nothing begins any more while that is put on record.
    if (this.#isDecided()) return {}
    const config = decodeNetworkConfig(configText)
    this.#known.config = config
    this.#answerVersion = versionToAnswerIn(() => configVersion(config))
    networkName(config)
    if (invocation.verb === undefined || row === undefined) {
      throw new Problem('IPK_ENVIRONMENT', `unknown CNI_COMMAND: ${invocation.command}`)
    }
    return row.run(this.#callOf(invocation, invocation.verb, { configText, config }))
  }

  #callOf(
    invocation: CniEnvironment,
    verb: Verb,
    { configText, config }: Pick<Call, 'configText' | 'config'>,
  ): Call {
    const cniVersion = checkVersion(verb, configVersion(config))
    const settings = pluginSettings(config, this.#edges.env)
    this.#known.stateDir = settings.stateDir
    const identity = (): RunIdentity => {
      const made = this.#edges.identity()
      this.#known.invocationId = made.invocationId
      return made
    }
    return {
      ...{ invocation, configText, config, cniVersion, settings, edges: { ...this.#edges, identity } },
      answered: requestId => {
        // What comes after the first answer takes it back.
        this.#known.requestId ??= requestId
      },
      onInterrupt: act => {
        this.#giveUp = act
      },
    }
  }

  async #succeed({ document, leaveMark, undo, queued, delegatedTo }: Outcome): Promise<void> {
    if (this.#isDecided()) return
    try {
      await leaveMark?.()
    } catch (error) {
      await undo?.()
      await this.#fail(error)
      return
    }
    // Interrupted while the mark was made: that has taken back what was done.
    if (this.#isDecided()) return
    this.#decided = true
    const said = document === undefined ? { printed: 0 } : this.#print(document)
    if (said.fault !== undefined) await undo?.()
    await this.#end({ exit: said.fault === undefined ? 0 : 1, queued, delegatedTo, ...said })
  }

  async #fail(reason: unknown): Promise<void> {
    const ending = this.#conclude(reason)
    if (ending) await this.#end(ending)
  }

  /** Prints the error, unless the outcome is decided already; then undefined. */
  #conclude(reason: unknown): RunEnding | undefined {
    if (this.#decided) return undefined
    this.#decided = true
    const own = reason instanceof Refusal ? reason.failure : toProblem(reason).toDocument()
    const { requestId } = this.#known
    // The daemon's log has more under this request, also of what went wrong here after its answer.
    const failure = { ...(requestId !== undefined && { requestId }), ...own }
    const verb = isVerb(this.#command) ? this.#command : undefined
    const said = this.#print(printable(cniErrorDocument(failure, this.#answerVersion, verb)))
    return { exit: 1, code: failure.code, ...said }
  }

  /** How many bytes stdout took, or why it did not. */
  #print({ value: document, text }: PrintableDocument): Pick<RunEnding, 'document' | 'printed' | 'fault'> {
    try {
      this.#edges.deliver(text)
      return { document, printed: Buffer.byteLength(text) }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const fault = `the answer cannot be written to stdout: ${why}`
      this.#edges.note(`ipkeeper: ${fault}`)
      return { document, printed: 0, fault }
    }
  }

  /** Every run ends here, after its document. */
  async #end(ending: RunEnding): Promise<void> {
    try {
      await this.#record(ending)
    } catch {
      // The record is for later readers; this run has done and printed what it could.
    }
    this.#finish(ending.exit)
  }

  async #record(ending: RunEnding): Promise<void> {
    const { env, now, startedMs, pid, appendFlight } = this.#edges
    if (!isRecorded(env, ending)) return
    const facts = { env, startedAt: this.#startedAt, durationMs: now() - startedMs, pid, ...this.#known }
    await appendFlight(this.#known.stateDir ?? flightStateDir(facts), formatFlight(facts, ending))
  }

  #isDecided(): boolean {
    return this.#decided
  }
}

/** The configuration's version where it is one we speak; errors about the version itself come later, in order. */
function versionToAnswerIn(read: () => string): string {
  try {
    const version = read()
    if (version === '') return '0.1.0'
    return isSupportedVersion(version) ? version : latestVersion
  } catch {
    return latestVersion
  }
}
