import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A way to a server that can be blocked and opened again, while the server goes on. */
export interface TcpRelay {
  readonly port: number
  /** Breaks what goes through, and refuses what comes. */
  block(): void
  /** Loses what the server says; what it is told still arrives. */
  mute(): void
  open(): void
}

export async function startTcpRelay(
  t: { teardown(clean: () => unknown): unknown },
  target: { readonly host: string; readonly port: number },
): Promise<TcpRelay> {
  const sockets = new Set<Socket>()
  let blocked = false
  let muted = false
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
        to.destroy()
      })
    }
    incoming.pipe(outgoing)
    outgoing.on('data', chunk => {
      if (!muted) incoming.write(chunk)
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
    open: () => {
      blocked = false
      muted = false
    },
  }
}
