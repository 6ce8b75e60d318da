import { fallbackConfig, readFallback, type Fallback } from '../shared/cni/fallback.ts'
import { firstOwnCode, specifiedCodes } from '../shared/cni/error-codes.ts'
import type { CniVersion } from '../shared/cni/versions.ts'
import { field, isJsonObject, type JsonObject } from '../shared/json/fold.ts'
import { JsonSyntaxError, parseJson } from '../shared/json/parse-json.ts'
import { formatCidr, parseCidr } from '../shared/net/cidr.ts'
import { catalogue } from '../shared/problem/catalogue.ts'
import { Problem } from '../shared/problem/problem.ts'
import type { Abandonment } from './abandonment.ts'
import type { Call } from './call.ts'
import { findPlugin } from './find-plugin.ts'
import { fallbackLimitMs, type DaemonVerb } from './time-limits.ts'
import { printable, Refusal, type PrintableDocument } from './outcome.ts'
import { addressesOf, resultFault } from './result-fault.ts'
import type { ChildEnd } from './run-child.ts'
import { validateAddResult } from './validators.generated.ts'

/** How one run of the fallback is bounded, other than by what its verb has. */
export interface FallbackLimits {
  readonly timeoutMs?: number
  /** Ends it early. */
  readonly abandonment?: Abandonment
}

/** The fallback was not run at all, so it has nothing to take back. */
export class NotStarted extends Problem {}

/**
 * Runs the plugin of `ipam.fallback` for a verb, as a delegate is run: the environment of this run with the verb, the
 * whole configuration with the fallback's section as `ipam` (CNI SPEC section 4; cni-protocol H5).
 *
 * @returns what it printed on stdout
 * @throws Refusal with the plugin's own error; NotStarted or Problem, IPK_FALLBACK_MISSING or IPK_FALLBACK_FAILED
 */
export async function runFallback(
  { invocation, config, settings, edges }: Call,
  fallback: Fallback,
  verb: DaemonVerb,
  limits: FallbackLimits = {},
): Promise<string> {
  const program = findPlugin(fallback.type, invocation.path)
  if (program === undefined) {
    const message = `failed to find fallback plugin "${fallback.type}" in path [${invocation.path}]`
    throw new NotStarted('IPK_FALLBACK_MISSING', message)
  }
  const {
    timeoutMs = fallbackLimitMs(verb, settings.timeoutSeconds, edges.now() - edges.startedMs),
    abandonment,
  } = limits
  let end: ChildEnd
  try {
    const stdin = JSON.stringify(fallbackConfig(config, fallback))
    const env = { ...edges.env, CNI_COMMAND: verb }
    end = await edges.runChild({ program, env, stdin, timeoutMs, abandonment })
  } catch (error) {
    // The system's error, or a configuration that nests deeper than can be written.
    const code =
      error instanceof Error ? ('code' in error ? String(error.code) : error.message) : String(error)
    const message = `fallback ${fallback.type}: ${program} cannot be started (${code})`
    throw new NotStarted('IPK_FALLBACK_FAILED', message, { cause: error })
  }
  for (const line of end.stderr.split('\n').filter(text => text !== '')) edges.note(line)
  if (end.exit === 0 && !end.late) return end.stdout
  if (end.late) throw failed(fallback, `no answer to ${verb} within ${Math.round(timeoutMs / 100) / 10} s`)
  throw readError(fallback, end)
}

function failed({ type }: Fallback, why: string, cause?: unknown): Problem {
  return new Problem('IPK_FALLBACK_FAILED', `fallback ${type}: ${why}`, { cause })
}

/** The error document of a plugin that failed; one that printed none is told by how it ended (cni-protocol A2, A6). */
function readError(fallback: Fallback, { exit, signal, stdout, stderr }: ChildEnd): Problem | Refusal {
  const document = decode(stdout)
  const message = document && field(document, 'msg')
  if (document === undefined || typeof message !== 'string' || message === '') {
    const how = signal === undefined ? `exit status ${exit ?? 'unknown'}` : signal
    const lastLine = stderr.trim().split('\n').at(-1) ?? ''
    const said = lastLine === '' ? 'without an error message' : lastLine.slice(0, 500)
    return failed(fallback, `${how}: ${said}`)
  }
  const details = field(document, 'details')
  return new Refusal({
    code: 'IPK_FALLBACK_FAILED',
    message: `fallback ${fallback.type}: ${message}`,
    hint: catalogue.IPK_FALLBACK_FAILED.hint,
    cniCode: errorCode(field(document, 'code')),
    details: typeof details === 'string' ? details : '',
  })
}

/** A code that a plugin may use; what the specification reserves, and what is no code, becomes ours. */
function errorCode(code: unknown): number {
  const isSpecified = (specifiedCodes as readonly unknown[]).includes(code)
  const isOwn = Number.isInteger(code) && Number(code) >= firstOwnCode && Number(code) < 2 ** 31
  return isSpecified || isOwn ? Number(code) : catalogue.IPK_FALLBACK_FAILED.cniCode
}

function decode(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text)
    return isJsonObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

/**
 * Forwards a verb to the fallback, if the configuration names one. `recorded` is the type that gave the addresses, where
 * that is known: another plugin has nothing to say of them.
 */
export async function forwardToFallback(call: Call, verb: DaemonVerb, recorded?: string): Promise<void> {
  const fallback = readFallback(call.config)
  if (recorded !== undefined && fallback?.type !== recorded) {
    const { containerId } = call.invocation
    const change = 'which the configuration no longer names; it is not asked any more'
    call.edges.note(`ipkeeper: ${verb}: ${containerId} was left to fallback ${recorded}, ${change}`)
    return
  }
  if (fallback) await runFallback(call, fallback, verb)
}

/** What a fallback's ADD gave. */
export interface FallbackResult {
  readonly document: PrintableDocument
  /** In CIDR notation. */
  readonly addresses: readonly string[]
}

/**
 * The Result of a fallback's ADD, in the configuration's version.
 *
 * @throws Problem IPK_FALLBACK_FAILED for anything else
 */
export function readFallbackResult(
  fallback: Fallback,
  stdout: string,
  cniVersion: CniVersion,
): FallbackResult {
  const document = decode(stdout)
  if (document === undefined) throw failed(fallback, 'what it printed for ADD is no JSON object')
  // Runtimes take a Result that names no version for one in the configuration's (cni-protocol D6).
  const result = { ...document, cniVersion: document['cniVersion'] ?? cniVersion }
  if (!validateAddResult(result)) throw failed(fallback, 'what it printed for ADD is no result')
  const fault = resultFault(result, cniVersion)
  if (fault !== undefined) throw failed(fallback, `it gave ${fault}`)
  const addresses = addressesOf(result).flatMap(text => {
    const cidr = parseCidr(text)
    return cidr ? formatCidr(cidr) : []
  })
  try {
    return { document: printable(result), addresses }
  } catch (cause) {
    throw failed(fallback, 'what it printed for ADD nests too deep', cause)
  }
}
