import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { LeaseItem, LeasesReply } from '../../shared/api/listing.schema.ts'
import { atProcessEnd } from './finish.ts'
import { hangMs } from './poll.ts'
import { onlyChildOf, type PrivateHost } from './private-host.ts'
import { distFolder } from './requirements.ts'
import { runProgram, type Finished } from './run-program.ts'
import type { Scope } from './teardown.ts'
import { tempFolder, type TempFolder } from './temp-folder.ts'

export interface DaemonOptions {
  readonly socket: string
  readonly stateDir: string
  readonly config?: string
  /** Further arguments of `serve`. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Run it in there; on this machine itself when absent. */
  readonly host?: PrivateHost
  /** There it is to be frozen, too: what enters the host with it would stop as well, and not go on again. */
  readonly become?: boolean
  /** Which executable; dist/ipkeeper-server when absent. */
  readonly executable?: string
  /** How long it may take to be ready, where that is promised. Default: no promise, `hangMs`. */
  readonly readyMs?: number
  /** Ready is a daemon that answers with this status. Default: 200. */
  readonly readyStatus?: number
}

export interface HttpReply {
  readonly status: number
  readonly body: string
}

export interface Daemon {
  /** Process id as seen from this process. */
  readonly pid: number
  readonly socket: string
  readonly stateDir: string
  /** Milliseconds from start until it was ready. */
  readonly readyMs: number
  /** All that it has written to stderr so far. */
  log(): string
  /** One HTTP request over its socket. */
  ask(method: string, path: string, body?: unknown): Promise<HttpReply>
  /** `ipkeeperctl ARGS --socket SOCKET`. */
  control(...args: readonly string[]): Promise<Finished>
  /** Every lease, held and cooling ones too: what `ipkeeperctl leases -o json` prints, without the start of a program. */
  leases(): Promise<readonly LeaseItem[]>
  /** The leases that pods have. */
  boundLeases(): Promise<readonly LeaseItem[]>
  kill(signal: NodeJS.Signals): void
  /** Signal or exit code with which it has ended; undefined while it runs. */
  endedBy(): string | undefined
  /** SIGTERM (or another signal) and wait for the end: exit code, or null when the signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Whether the daemon wires pods by netlink or by `ip`, as the tests are told. */
const wiring = Object.fromEntries(Object.entries(process.env).filter(([name]) => name === 'IPK_NETLINK'))

/** One with a socket, a state folder and nothing else, in a folder of its own, until the test ends. */
export async function startOwnDaemon(
  t: Scope,
): Promise<{ readonly folder: TempFolder; readonly daemon: Daemon }> {
  const folder = tempFolder(t)
  const daemon = await startDaemon({ socket: folder.file('s'), stateDir: folder.file('state') })
  t.teardown(() => daemon.stop('SIGKILL'))
  return { folder, daemon }
}

/** Starts the packaged daemon and waits until its socket answers GET /v1/health with 200. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const started = performance.now()
  const executable = options.executable ?? join(distFolder, 'ipkeeper-server')
  const args = [
    'serve',
    ...['--socket', options.socket],
    ...['--state-dir', options.stateDir],
    ...(options.config === undefined ? [] : ['--config', options.config]),
    ...(options.args ?? []),
  ]
  const { host, become = false } = options
  const inside = become ? host?.become(executable, args) : host?.command(executable, args)
  const [entered, words] = inside ?? [executable, args]
  // What is in no PID namespace of its own goes with this process by a signal of the kernel.
  const [program, argv] = become
    ? ['setpriv', ['--pdeathsig', 'KILL', '--', entered, ...words]]
    : [entered, words]
  const child = spawn(program, argv, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...wiring, ...options.env },
  })
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  let pid: number | undefined
  const signal = (name: NodeJS.Signals): void => {
    if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    try {
      process.kill(pid, name)
    } catch {
      // It has ended, and nobody has told us yet.
    }
  }
  const withdraw = atProcessEnd(() => {
    signal('SIGKILL')
  })

  const deadline = started + (options.readyMs ?? hangMs)
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      withdraw()
      throw new Error(`the daemon ended before it was ready (exit ${String(child.exitCode)}):\n${log}`)
    }
    pid ??= host === undefined || become ? child.pid : childWhenThere(child)
    const reply = await askSocket(options.socket, 'GET', '/v1/health').catch(() => undefined)
    if (reply?.status === (options.readyStatus ?? 200) && pid !== undefined) break
    if (performance.now() > deadline) {
      signal('SIGKILL')
      throw new Error(`the daemon was not ready in time:\n${log}`)
    }
    await delay(5)
  }

  const control = (...words: readonly string[]): Promise<Finished> =>
    runProgram(join(distFolder, 'ipkeeperctl'), [...words, '--socket', options.socket])
  const leases = async (): Promise<readonly LeaseItem[]> => {
    const { status, body } = await askSocket(options.socket, 'GET', '/v1/leases')
    if (status !== 200) throw new Error(`GET /v1/leases: ${status} ${body}`)
    return (JSON.parse(body) as LeasesReply).leases
  }
  return {
    pid,
    socket: options.socket,
    stateDir: options.stateDir,
    readyMs: performance.now() - started,
    log: () => log,
    ask: (method, path, body) => askSocket(options.socket, method, path, body),
    control,
    leases,
    boundLeases: async () => (await leases()).filter(lease => lease.state === 'bound'),
    kill: signal,
    endedBy: () => child.signalCode ?? (child.exitCode === null ? undefined : `exit ${child.exitCode}`),
    stop: async (name = 'SIGTERM') => {
      signal(name)
      const [exit] = await ended
      withdraw()
      return exit
    },
  }
}

function childWhenThere(nsenter: ChildProcess): number | undefined {
  try {
    return onlyChildOf(nsenter)
  } catch {
    return undefined
  }
}

/** One request over a unix socket, on a connection of its own. */
export function askSocket(
  socketPath: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = text === undefined ? {} : { 'content-type': 'application/json' }
    const sent = request({ socketPath, method, path, headers, agent: false, timeout: 30_000 }, reply => {
      const chunks: Buffer[] = []
      reply.on('data', (chunk: Buffer) => chunks.push(chunk))
      reply.on('error', reject)
      reply.on('end', () => {
        resolve({ status: reply.statusCode ?? 0, body: Buffer.concat(chunks).toString() })
      })
    })
    sent.on('timeout', () => sent.destroy(new Error(`no answer from ${socketPath} in 30 s`)))
    sent.on('error', reject)
    sent.end(text)
  })
}
