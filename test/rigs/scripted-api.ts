/**
 * An HTTP server that answers as a test says, for what a real API server cannot be made to do: garbled lines, silence,
 * answers cut short. Connections are its to break.
 */
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTls, type ServerOptions } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import {
  ApiClient,
  type ApiAccess,
  type ApiLimits,
  type ApiSecrets,
} from '../../ipkeeper-server/kubernetes/api-client.ts'
import type { ClusterLog } from '../../ipkeeper-server/kubernetes/client-context.ts'
import type { Scope } from './teardown.ts'

export interface ApiCall {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

export type Script = (call: ApiCall, reply: ServerResponse) => void

export interface ScriptedApi {
  readonly url: string
  /** All requests so far. */
  readonly calls: readonly ApiCall[]
  /** Connections that are open now. */
  readonly connections: () => number
  /** Breaks all connections. */
  cut(): void
}

export async function startScriptedApi(t: Scope, script: Script, tls?: ServerOptions): Promise<ScriptedApi> {
  const calls: ApiCall[] = []
  const sockets = new Set<Socket>()
  const answer = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const url = new URL(request.url ?? '', 'http://api')
    const call: ApiCall = {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
    calls.push(call)
    script(call, reply)
  }
  const listener = (request: IncomingMessage, reply: ServerResponse): void => {
    answer(request, reply).catch(() => reply.destroy())
  }
  const server = tls ? createTls(tls, listener) : createPlain(listener)
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
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
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    calls,
    connections: () => sockets.size,
    cut,
  }
}

/** Such a server and a client of it, which is closed first; `limits` and `secrets` are the client's. */
export async function startScriptedClient(
  t: Scope,
  script: Script,
  limits: Partial<ApiLimits> = {},
  secrets?: (again: boolean) => Partial<ApiSecrets>,
): Promise<{ readonly api: ScriptedApi; readonly client: ApiClient }> {
  const api = await startScriptedApi(t, script)
  const client = new ApiClient(accessTo(api.url, secrets), limits)
  t.teardown(() => client.close())
  return { api, client }
}

/** An answer in JSON. */
export function json(
  reply: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  reply.writeHead(status, { 'content-type': 'application/json', ...headers })
  reply.end(JSON.stringify(value))
}

/** A `Status` of failure, as apiserver words it. */
export function failure(code: number, reason: string, rest: object = {}): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: reason, ...rest }
}

/** Access to such a server; `secrets` may count and change. */
export function accessTo(
  url: string,
  secrets: (again: boolean) => Partial<ApiSecrets> = () => ({}),
): ApiAccess {
  return {
    server: url,
    source: 'a test',
    secrets: again => ({ token: undefined, tls: {}, ...secrets(again) }),
  }
}

/** A log that keeps its lines: level, message and fields. */
export function recordedLog(): {
  readonly log: ClusterLog
  readonly lines: readonly Record<string, unknown>[]
} {
  const lines: Record<string, unknown>[] = []
  const keep =
    (level: string) =>
    (fields: object, message: string): void => {
      lines.push({ level, message, ...fields })
    }
  return { log: { info: keep('info'), warn: keep('warn') }, lines }
}
