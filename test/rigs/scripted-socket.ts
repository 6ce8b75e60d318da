import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { statePulse } from '../../shared/state-pulse.ts'

/** A request as it came, head and body apart. */
export interface ScriptedRequest {
  /** Request line and header lines. */
  readonly head: string
  readonly body: string
  /** Counts from 0. */
  readonly nth: number
}

/** What a server does with a request: whatever it likes with the connection. */
export type Script = (connection: Socket, request: ScriptedRequest) => void

export interface ScriptedSocket {
  readonly requests: readonly ScriptedRequest[]
  /** How many connections were ever accepted. */
  readonly accepted: () => number
  /** Resolves when every connection has ended. */
  readonly quiet: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Listens on a unix socket and hands each complete request to the script: a daemon that can misbehave in any way. */
export function listenScripted(path: string, script: Script): Promise<ScriptedSocket> {
  const requests: ScriptedRequest[] = []
  const connections = new Set<Socket>()
  let accepted = 0
  const server = createServer({ allowHalfOpen: true }, connection => {
    accepted++
    connections.add(connection)
    connection.on('close', () => connections.delete(connection))
    // A client that goes away while it is being written to is what some tests are about.
    connection.on('error', () => undefined)
    connection.on('end', () => connection.end())
    let received = ''
    let complete = false
    connection.on('data', chunk => {
      received += chunk.toString()
      const end = received.indexOf('\r\n\r\n')
      if (complete || end < 0) return
      const head = received.slice(0, end)
      const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
      const body = received.slice(end + 4)
      if (Buffer.byteLength(body) < length) return
      complete = true
      const request = { head, body, nth: requests.length }
      requests.push(request)
      script(connection, request)
    })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      resolve({
        requests,
        accepted: () => accepted,
        quiet: async () => {
          await Promise.all([...connections].map(one => new Promise(done => one.once('close', done))))
        },
        close: () =>
          new Promise(done => {
            server.close(() => {
              done()
            })
            for (const connection of connections) connection.destroy()
          }),
      })
    })
  })
}

/** Leaves a socket file on which nobody listens, as a daemon that was killed does. */
export function leaveStaleSocket(path: string): void {
  rmSync(path, { force: true })
  const listenAndDie = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', listenAndDie, path])
}

/** A well-formed reply. */
export function replyText(status: number, body: unknown): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  // As the daemon says where its state folder is well.
  const head = `HTTP/1.1 ${status} X\r\nContent-Type: application/json\r\n${statePulse.header}: ${statePulse.value}\r\n`
  return `${head}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
