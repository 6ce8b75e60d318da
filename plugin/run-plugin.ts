import { version } from '../shared/build-info.ts'
import { cniErrorDocument } from '../shared/cni/cni-error.ts'
import { readEnvironment } from '../shared/cni/environment.ts'
import { configVersion, decodeNetworkConfig, networkName, pluginSettings } from '../shared/cni/netconf.ts'
import type { JsonObject } from '../shared/json/fold.ts'
import { checkVersion } from '../shared/cni/version-check.ts'
import { isSupportedVersion, isVerb, latestVersion, supportedVersions } from '../shared/cni/versions.ts'
import { Problem, toProblem } from '../shared/problem/problem.ts'
import type { Outcome, PluginEdges } from './call.ts'
import { printable, type PrintableDocument } from './document.ts'
import { Refusal } from './refusal.ts'
import { flightStateDir, formatFlight, isRecorded, type Ending } from './flight-record.ts'
import type { RunIdentity } from './run-identity.ts'
import { verbTable } from './verbs.ts'

export type ExitCode = 0 | 1

export interface PluginRun {
  /** Never rejects. */
  readonly finished: Promise<ExitCode>
  /** Ends the run with an error, unless its outcome is decided already. Prints before it returns. */
  readonly interrupt: (reason: unknown) => void
}

const stdinBytes = 16 * 1024 * 1024
/** For a CNI_COMMAND that is none: stdin is decoded before that is said. */
const unknownVerbStdinMs = 10_000

/**
 * One run of the plugin. Exactly one document goes out, and only when the outcome is final: the first of result,
 * error and interruption decides, whatever comes later is not said any more.
 */
export function startPlugin(edges: PluginEdges): PluginRun {
  const command = edges.env['CNI_COMMAND'] ?? ''
  const startedAt = edges.wallClock()
  /** What becomes known on the way, for the flight record. */
  const known: { config?: JsonObject; stateDir?: string; requestId?: string; invocationId?: string } = {}
  /** In which errors are said; that of the configuration once it is known. */
  let answerVersion: string = latestVersion
  let decided = false
  const isDecided = (): boolean => decided
  /** What an interrupted run still has to do after its error is printed; the verb says so. */
  let giveUp = (): Promise<void> => Promise.resolve()
  const { promise: finished, resolve: finish } = Promise.withResolvers<ExitCode>()

  /** How many bytes stdout took, or why it did not. */
  function say({ value: document, text }: PrintableDocument): Pick<Ending, 'document' | 'printed' | 'fault'> {
    try {
      edges.deliver(text)
      return { document, printed: Buffer.byteLength(text) }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const fault = `the answer cannot be written to stdout: ${why}`
      edges.note(`ipkeeper: ${fault}`)
      return { document, printed: 0, fault }
    }
  }

  /** Every run ends here, when all is said. */
  async function end(ending: Ending): Promise<void> {
    try {
      await record(ending)
    } catch {
      // It is for whoever asks later; this run has done and said what it could.
    }
    finish(ending.exit)
  }

  async function record(ending: Ending): Promise<void> {
    if (!isRecorded(edges.env, ending)) return
    const durationMs = edges.now() - edges.startedMs
    const facts = { env: edges.env, startedAt, durationMs, pid: edges.pid, ...known }
    await edges.appendFlight(known.stateDir ?? flightStateDir(facts), formatFlight(facts, ending))
  }

  /** Prints the error, unless the outcome is decided already; then undefined. */
  function conclude(reason: unknown): Ending | undefined {
    if (decided) return undefined
    decided = true
    const own = reason instanceof Refusal ? reason.failure : toProblem(reason).toDocument()
    // The request by which the daemon's log tells more, also of what went wrong here after its answer.
    const failure = { ...(known.requestId !== undefined && { requestId: known.requestId }), ...own }
    const verb = isVerb(command) ? command : undefined
    const said = say(printable(cniErrorDocument(failure, answerVersion, verb)))
    return { exit: 1, code: failure.code, ...said }
  }

  async function fail(reason: unknown): Promise<void> {
    const ending = conclude(reason)
    if (ending) await end(ending)
  }

  function interrupt(reason: unknown): void {
    const ending = conclude(reason)
    if (!ending) return
    void giveUp().then(() => end(ending))
  }

  async function succeed({ document, leaveMark, undo, queued, delegatedTo }: Outcome): Promise<void> {
    if (decided) return
    try {
      await leaveMark?.()
    } catch (error) {
      await undo?.()
      await fail(error)
      return
    }
    // Interrupted while the mark was made: that has taken back what was done.
    if (isDecided()) return
    decided = true
    const said = document === undefined ? { printed: 0 } : say(document)
    if (said.fault !== undefined) await undo?.()
    await end({ exit: said.fault === undefined ? 0 : 1, queued, delegatedTo, ...said })
  }

  /** The order is that of cni:pkg/skel: environment, stdin, JSON and name, version, then the verb (cni-protocol 1.B). */
  async function dispatch(): Promise<Outcome> {
    const invocation = readEnvironment(edges.env)
    const row = invocation.verb === undefined ? undefined : verbTable[invocation.verb]
    if (row?.needsConfig === false) return row.run(edges)

    const timeoutMs = row?.stdinMs ?? unknownVerbStdinMs
    const configText = await edges.readStdin({ timeoutMs, maxBytes: stdinBytes })
    // Interrupted before there was anything to give up: nothing is begun any more while that is put on record.
    if (isDecided()) return {}
    const config = decodeNetworkConfig(configText)
    known.config = config
    answerVersion = versionToAnswerIn(() => configVersion(config))
    networkName(config)
    if (invocation.verb === undefined || row === undefined) {
      throw new Problem('IPK_ENVIRONMENT', `unknown CNI_COMMAND: ${invocation.command}`)
    }
    const cniVersion = checkVersion(invocation.verb, configVersion(config))
    const settings = pluginSettings(config, edges.env)
    known.stateDir = settings.stateDir
    const identity = (): RunIdentity => {
      const made = edges.identity()
      known.invocationId = made.invocationId
      return made
    }
    const answered = (requestId: string): void => {
      // What comes after the first answer takes it back.
      known.requestId ??= requestId
    }
    const onInterrupt = (act: () => Promise<void>): void => {
      giveUp = act
    }
    return row.run({
      invocation,
      configText,
      config,
      cniVersion,
      settings,
      edges: { ...edges, identity },
      answered,
      onInterrupt,
    })
  }

  if (command === '') {
    decided = true
    edges.note(`CNI ipkeeper plugin v${version}`)
    edges.note(`CNI protocol versions supported: ${supportedVersions.join(', ')}`)
    finish(0)
  } else {
    dispatch()
      .then(succeed, fail)
      .catch(async (bug: unknown) => {
        await fail(bug)
        finish(1)
      })
  }
  return { finished, interrupt }
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
