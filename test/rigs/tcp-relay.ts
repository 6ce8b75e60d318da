import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Scope } from './teardown.ts'

/** A way to a server that can be blocked and opened again, while the server goes on. */
export interface TcpRelay {
  readonly port: number
  /** Breaks what goes through, and refuses what comes. */
  block(): void
  /** Loses what the server says; what it is told still arrives. */
  mute(): void
  /** Keeps what the server is told from now on, also when its teller goes. Returns how many bytes that is by now. */
  hold(): () => number
  /** Loses what the server would be told from now on. `deliver` tells it what was held; returns how many bytes it has said since. */
  stopHolding(): { readonly deliver: () => () => number }
  open(): void
}

export async function startTcpRelay(
  t: Scope,
  target: { readonly host: string; readonly port: number },
): Promise<TcpRelay> {
  const sockets = new Set<Socket>()
  let blocked = false
  let muted = false
  let holding: 'all' | 'no more' | undefined
  let held: { readonly to: Socket; readonly chunk: Buffer }[] = []
  let answered = 0
  const server = createServer(incoming => {
    const outgoing = connect(target)
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        if (!held.some(({ to: kept }) => kept === to)) to.destroy()
      })
    }
    incoming.on('data', chunk => {
      if (holding === undefined) outgoing.write(chunk)
      else if (holding === 'all') held.push({ to: outgoing, chunk })
    })
    incoming.on('end', () => {
      if (holding === undefined) outgoing.end()
    })
    outgoing.on('data', chunk => {
      answered += chunk.length
      if (!muted && incoming.writable) incoming.write(chunk)
    })
    outgoing.on('end', () => incoming.end())
    if (blocked) incoming.destroy()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(async () => {
    const closed = new Promise(resolve => server.close(resolve))
    cut()
    await closed
  })
  return {
    port: (server.address() as AddressInfo).port,
    block: () => {
      blocked = true
      cut()
    },
    mute: () => {
      muted = true
    },
    hold: () => {
      holding = 'all'
      return () => held.reduce((sum, { chunk }) => sum + chunk.length, 0)
    },
    stopHolding: () => {
      holding = 'no more'
      return {
        deliver: () => {
          const before = answered
          for (const { to, chunk } of held) to.write(chunk)
          return () => answered - before
        },
      }
    },
    open: () => {
      blocked = false
      muted = false
      held = []
      holding = undefined
    },
  }
}
