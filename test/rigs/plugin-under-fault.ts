/**
 * The packaged plugin, run against one fault after the other, and what every run has to come to: one whole error
 * document and exit 1, nothing and exit 0, or a queued DEL.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { testedPlugin } from './requirements.ts'
import { ownStateDir } from './run-plugin.ts'
import { runProgram, type Finished } from './run-program.ts'
import { listenScripted, replyText, type Script, type ScriptedSocket } from './scripted-socket.ts'
import { makeTempFolder } from './temp-folder.ts'

export const plugin = testedPlugin

/** The verbs that ask the daemon. */
export const verbs = ['ADD', 'CHECK', 'DEL', 'GC', 'STATUS'] as const
export type DaemonVerb = (typeof verbs)[number]

export const attachment = { containerId: 'c1', netns: '/some/where', ifname: 'eth0', path: '/opt/cni/bin' }

/** Nothing of this process reaches the plugin but this. */
export function environmentOf(command: string): Record<string, string> {
  return {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    IPKEEPER_STATE_DIR: ownStateDir(),
    CNI_COMMAND: command,
    CNI_CONTAINERID: attachment.containerId,
    CNI_NETNS: attachment.netns,
    CNI_IFNAME: attachment.ifname,
    CNI_PATH: attachment.path,
  }
}

export const folder = makeTempFolder()
let names = 0
/** A path in the temporary folder that nothing has used yet. */
export const newPath = (): string => folder.file(String(++names))

/** A configuration; `more` goes into its `ipam`. */
export function configFor(socket: string, more: object = {}, cniVersion = '1.1.0'): object {
  return {
    cniVersion,
    name: 'fixed',
    type: 'bridge',
    ipam: { type: 'ipkeeper', socket, timeout: 20, ...more },
  }
}

export interface RunOptions {
  /** Program and arguments that start the plugin, whose path follows as the last argument. */
  readonly by?: readonly [program: string, ...args: readonly string[]]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** One run with the configuration, or the text as it is, on stdin. */
export function runVerb(command: string, config: unknown, options: RunOptions = {}): Promise<Finished> {
  const [program, ...args] = options.by ? [...options.by, plugin] : [plugin]
  return runProgram(program, args, {
    input: typeof config === 'string' || config instanceof Uint8Array ? config : JSON.stringify(config),
    env: { ...environmentOf(command), ...options.env },
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  })
}

export const done = { requestId: 'r-1', stateDir: ownStateDir() }
export const result = {
  cniVersion: '1.1.0',
  ips: [{ address: '10.22.0.50/16', gateway: '10.22.0.1' }],
  routes: [{ dst: '0.0.0.0/0' }],
}
const isAdd = (head: string): boolean => head.startsWith('POST /v1/cni/add ')

/** What a daemon of this state folder answers; ADD gets the result. */
export const goodReply = (head: string, stateDir = done.stateDir, added: object = result): string =>
  replyText(200, { ...done, stateDir, ...(isAdd(head) && { result: added }) })

export const good: Script = (connection, { head }) => {
  connection.write(goodReply(head))
}

export type Listening = ScriptedSocket & { readonly path: string }

/** A daemon that does what the script says, for one test. */
export async function listenFor(t: Test, script: Script): Promise<Listening> {
  const path = newPath()
  const server = await listenScripted(path, script)
  t.teardown(() => server.close())
  return { ...server, path }
}

/** The verbs that were asked for, in order. */
export const askedOf = (server: ScriptedSocket): readonly string[] =>
  server.requests.map(({ head }) => /^POST \/v1\/cni\/([a-z]+) /.exec(head)?.[1]?.toUpperCase() ?? head)

export interface ErrorDocument {
  readonly cniVersion: string
  readonly code: number
  readonly msg: string
  readonly details?: string
}

/** What a document has to be like: an equal number, a matching or contained text. */
export interface Expected {
  readonly code?: number
  readonly msg?: RegExp | string
  readonly details?: RegExp | string
}

/** stdout is one document with its newline, an error that a runtime can decode and show. */
export function isOneErrorDocument(t: Test, name: string, stdout: string, expected: Expected = {}): void {
  let document: ErrorDocument
  try {
    document = JSON.parse(stdout) as ErrorDocument
  } catch (error) {
    t.fail(`${name}: stdout is no document`, { stdout: stdout.slice(0, 500), error: String(error) })
    return
  }
  const whole =
    stdout.endsWith('}\n') &&
    typeof document.cniVersion === 'string' &&
    Number.isInteger(document.code) &&
    document.code > 0 &&
    typeof document.msg === 'string' &&
    document.msg !== ''
  t.ok(whole, `${name}: an error document`, { stdout: stdout.slice(0, 500) })
  t.match(document, expected, `${name}: the right error`)
}

/** The run failed as it must: exit 1, one document, and of a DEL no text that runtimes take for a success. */
export function failsProperly(
  t: Test,
  name: string,
  finished: Pick<Finished, 'exit' | 'stdout'>,
  expected: Expected = {},
): void {
  t.equal(finished.exit, 1, `${name}: exit code`)
  isOneErrorDocument(t, name, finished.stdout, expected)
  t.notMatch(finished.stdout, /not found|no such file or directory/i, `${name}: no text that is swallowed`)
}

/** The run succeeded, and printed nothing, or the one Result. */
export function succeeds(t: Test, name: string, finished: Finished, printed?: object): void {
  t.equal(finished.exit, 0, `${name}: exit code`)
  if (printed === undefined) t.equal(finished.stdout, '', `${name}: nothing on stdout`)
  else t.same(JSON.parse(finished.stdout), printed, `${name}: the result`)
}

/**
 * A run that was given a signal at some moment has come to exactly one end: killed by it with nothing printed, one error
 * document, or one result.
 */
export function hasOneEnd(
  t: Test,
  name: string,
  { exit, signal, stdout }: Finished,
): 'nothing' | 'error' | 'result' {
  if (signal !== null) {
    t.equal(stdout, '', `${name}: ended by the signal, so nothing is printed`)
    return 'nothing'
  }
  if (exit === 0) {
    t.ok('ips' in (JSON.parse(stdout) as object), `${name}: a result, and no error`)
    return 'result'
  }
  failsProperly(t, name, { exit, stdout }, { code: 11, details: /IPK_INTERRUPTED/ })
  return 'error'
}

/** Texts of the DELs that wait in the queue of a state folder, without what is being written. */
export function queuedIn(stateDir: string): readonly string[] {
  const queue = join(stateDir, 'deferred-dels')
  if (!existsSync(queue)) return []
  const files = readdirSync(queue).filter(name => !name.startsWith('.'))
  return files.map(name => readFileSync(join(queue, name), 'utf8'))
}

/** The DEL has succeeded without the daemon: it is in the queue, whole. */
export function isQueued(t: Test, name: string, finished: Finished, stateDir: string): void {
  succeeds(t, name, finished)
  const entries = queuedIn(stateDir)
  t.equal(entries.length, 1, `${name}: one entry in the queue`)
  t.match(
    JSON.parse(entries[0] ?? 'null'),
    { version: 1, request: { containerId: attachment.containerId, ifname: attachment.ifname } },
    `${name}: the entry`,
  )
}

/** Runs the cases, at most so many at a time: a CI machine has two cores and another test file beside this one. */
export async function each<Case>(
  cases: Iterable<Case>,
  run: (one: Case) => Promise<void>,
  atOnce = 3,
): Promise<void> {
  const waiting = [...cases]
  const worker = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await run(one)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
