/**
 * Carries TCP connections between network namespaces: a file system reaches further than a network, so they meet at a
 * unix socket. Imported it gives `relayInto`, `relayOutOf` and `relayAtSameAddress`; run as a program it is the half that is inside:
 *
 *   node test/rigs/relay.ts in ADDRESS PORT SOCKET      listens at the address, and connects to the socket
 *   node test/rigs/relay.ts out ADDRESS PORT SOCKET     listens at the socket, and connects to the address
 *
 * and says `ready` when it listens.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type ListenOptions, type NetConnectOpts, type Socket } from 'node:net'
import type { PrivateHost } from './private-host.ts'
import type { Scope } from './teardown.ts'

export interface RelayOptions {
  readonly address: string
  readonly port: number
  /** Path for the unix socket. */
  readonly socket: string
}

/**
 * Makes a server on a loopback address of this machine reachable inside a private host, at the same address. While the
 * server is away, connections there are taken and break; outside they are refused.
 */
export async function relayInto(
  t: Scope,
  host: PrivateHost,
  { address, port, socket }: RelayOptions,
): Promise<void> {
  await listenOutside(t, { path: socket }, { host: address, port })
  await startInside(t, host, ['in', address, String(port), socket])
}

/** Makes a server inside a private host reachable out here, by a unix socket at the path. */
export async function relayOutOf(
  t: Scope,
  host: PrivateHost,
  { address, port, socket }: RelayOptions,
): Promise<void> {
  await startInside(t, host, ['out', address, String(port), socket])
}

/** Makes a server on a loopback address inside a private host reachable on this machine, at the same address. */
export async function relayAtSameAddress(
  t: Scope,
  host: PrivateHost,
  { address, port, socket }: RelayOptions,
): Promise<void> {
  await relayOutOf(t, host, { address, port, socket })
  await listenOutside(t, { host: address, port }, { path: socket })
}

async function listenOutside(t: Scope, at: ListenOptions, target: NetConnectOpts): Promise<void> {
  const outer = createServer({ allowHalfOpen: true }, near => {
    splice(near, connect({ ...target, allowHalfOpen: true }))
  })
  const connections = new Set<Socket>()
  outer.on('connection', connection => {
    connections.add(connection)
    connection.on('close', () => connections.delete(connection))
  })
  outer.listen(at)
  await once(outer, 'listening')
  t.teardown(() => {
    for (const connection of connections) connection.destroy()
    outer.close()
  })
}

async function startInside(t: Scope, host: PrivateHost, words: readonly string[]): Promise<void> {
  const [program, args] = host.command(process.execPath, [import.meta.filename, ...words])
  const inner = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(inner, 'close')
  t.teardown(async () => {
    inner.stdin.end()
    await ended
  })
  const ready = await Promise.race([once(inner.stdout, 'data'), ended.then(() => undefined)])
  if (ready === undefined) throw new Error(`the relay ${words.join(' ')} does not listen in the private host`)
}

/** What one end says, the other hears; when one breaks, so does the other. */
function splice(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to)
    // An error is followed by its close.
    from.on('error', () => undefined)
    from.on('close', (broken: boolean) => (broken ? to.destroy() : to.end()))
  }
}

if (import.meta.main) {
  const [way, address = '', port, path = ''] = process.argv.slice(2)
  const [near, far] = [{ path }, { host: address, port: Number(port) }]
  const [listening, target] = way === 'in' ? [far, near] : [near, far]
  const server = createServer({ allowHalfOpen: true }, from => {
    splice(from, connect({ ...target, allowHalfOpen: true }))
  })
  server.listen(listening, () => process.stdout.write('ready\n'))
  process.stdin.resume().on('end', () => process.exit())
}
