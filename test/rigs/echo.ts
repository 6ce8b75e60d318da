import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { join } from 'node:path'
import type { NetworkNamespace } from './netns.ts'
import type { PrivateHost } from './private-host.ts'

/** What a server says to whoever asks it. */
export interface EchoAnswer {
  /** The server's own name. */
  readonly name: string
  /** Address that it was asked from, as it saw it. */
  readonly from: string
  /** Length of what it was sent. */
  readonly bytes: number
}

/** A place to look from: a host, or a pod on it. */
export interface Place {
  readonly host: PrivateHost
  readonly namespace?: Pick<NetworkNamespace, 'path'>
}

export interface Question {
  readonly protocol?: 'tcp' | 'udp'
  readonly port?: number
  /** Length of what is sent. Default: 4. */
  readonly bytes?: number
  /** How long to go on asking. Default: 5 s. */
  readonly milliseconds?: number
}

export const echoPort = 7007
const program = join(import.meta.dirname, 'echo-program.ts')

/** Program and arguments by which something runs in a place. */
export function commandIn(
  { host, namespace }: Place,
  wanted: string,
  args: readonly string[],
): readonly [program: string, args: readonly string[]] {
  return namespace === undefined
    ? host.command(wanted, args)
    : host.command('nsenter', [`--net=${namespace.path}`, '--', wanted, ...args])
}

/** Starts a server on both families, TCP and UDP, on the addresses that the place has now. It ends when it is told to, or its host does. */
export async function serveEcho(
  place: Place,
  name: string,
  port = echoPort,
): Promise<{ readonly stop: () => Promise<void> }> {
  const command = commandIn(place, process.execPath, [program, 'serve', String(port), name])
  const child = spawn(...command, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const ready = await Promise.race([once(child.stdout, 'data'), ended.then(() => undefined)])
  if (ready === undefined) throw new Error(`the server ${name} did not start`)
  return {
    stop: async () => {
      child.stdin.end()
      await ended
    },
  }
}

/** Asks a server from a place; undefined when no answer came in time. */
export async function askEcho(
  place: Place,
  address: string,
  question: Question = {},
): Promise<EchoAnswer | undefined> {
  const { protocol = 'udp', port = echoPort, bytes = 4, milliseconds = 5_000 } = question
  const words = ['ask', protocol, address, port, bytes, milliseconds].map(String)
  const child = spawn(...commandIn(place, process.execPath, [program, ...words]), {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const [exit] = (await once(child, 'close')) as [number | null]
  return exit === 0 ? (JSON.parse(text) as EchoAnswer) : undefined
}

/** Answers to somebody who asks one address all the time, each with the moment (performance.now) it came. */
export interface Following {
  readonly answers: readonly { readonly name: string; readonly at: number }[]
  /** Resolves when nobody asks any more. */
  readonly stop: () => Promise<unknown>
}

/** The program, asking by datagram until it is stopped, or this process ends. */
function askOnAndOn(
  place: Place,
  verb: 'follow' | 'count',
  address: string,
): { readonly stdout: Readable; readonly stop: () => Promise<unknown> } {
  const child = spawn(...commandIn(place, process.execPath, [program, verb, address, String(echoPort)]), {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const stop = (): Promise<unknown> => {
    child.stdin.end()
    return ended
  }
  return { stdout: child.stdout, stop }
}

/** Asks an address by datagram every 10 ms until it is stopped. */
export function followEcho(place: Place, address: string): Following {
  const { stdout, stop } = askOnAndOn(place, 'follow', address)
  const answers: { name: string; at: number }[] = []
  let rest = ''
  stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines)
      answers.push({ name: (JSON.parse(line) as EchoAnswer).name, at: performance.now() })
  })
  return { answers, stop }
}

/** How often somebody asked, and was answered. */
export interface EchoCount {
  readonly asked: number
  readonly answered: number
}

/** Asks an address by datagram every 50 ms; the function given stops it and tells the count. */
export function countEcho(place: Place, address: string): () => Promise<EchoCount> {
  const { stdout, stop } = askOnAndOn(place, 'count', address)
  let text = ''
  stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return async () => {
    await stop()
    return JSON.parse(text) as EchoCount
  }
}
