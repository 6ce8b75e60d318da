import { connect, type Socket } from 'node:net'
import { listenScripted, type ScriptedRequest } from './scripted-socket.ts'
import type { Scope } from './teardown.ts'

export interface HeldRequests {
  readonly path: string
  /** How many requests wait. */
  readonly waiting: () => number
  /** Passes those that wait on to the daemon, and from now on all others at once. */
  readonly open: () => void
}

/**
 * A socket before that of a daemon, which holds each request until it is opened: what a plugin asks is on its way for as
 * long as a test likes.
 */
export async function holdRequests(t: Scope, path: string, daemon: string): Promise<HeldRequests> {
  const held: (() => void)[] = []
  let isOpen = false
  const pass = (client: Socket, { head, body }: ScriptedRequest): void => {
    const server = connect(daemon)
    server.on('error', () => client.destroy())
    server.pipe(client)
    server.write(`${head}\r\n\r\n${body}`)
  }
  const server = await listenScripted(path, (connection, request) => {
    if (isOpen) pass(connection, request)
    else
      held.push(() => {
        pass(connection, request)
      })
  })
  t.teardown(() => server.close())
  return {
    path,
    waiting: () => held.length,
    open: () => {
      isOpen = true
      for (const go of held.splice(0)) go()
    },
  }
}
