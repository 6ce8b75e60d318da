import { join } from 'node:path'
import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServiceDefinition,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

const definition = loadSync(join(import.meta.dirname, 'cri.proto'), {
  keepCase: true,
  defaults: true,
  enums: String,
  longs: String,
})
const service = definition['runtime.v1.RuntimeService'] as unknown as ServiceDefinition

export type CriMethod = 'ListPodSandbox' | 'PodSandboxStatus' | 'Status' | 'Version'

/** Bytes of a reply of the CRI, encoded from cri.proto by somebody else's code. */
export function encodeReply(method: CriMethod, reply: object): Buffer {
  const found = service[method]
  if (!found) throw new Error(`cri.proto has no method ${method}`)
  return found.responseSerialize(reply)
}

/** What a runtime does with a call: the bytes of its reply, or an error by gRPC's number; undefined: it never answers. */
export type CriAnswer = Uint8Array | { readonly code: number; readonly details: string } | undefined

export interface CriDouble {
  /** Requests that came, by their method. */
  readonly calls: readonly { readonly method: string; readonly request: unknown }[]
  /** Breaks all connections and takes the socket away. */
  close(): void
}

/** A container runtime that says whatever a test wants it to, on a unix socket. */
export async function startCriDouble(
  socket: string,
  answer: (method: string, request: unknown) => CriAnswer,
): Promise<CriDouble> {
  const calls: { method: string; request: unknown }[] = []
  const server = new Server()
  const handlers = Object.keys(service).map(method => [
    method,
    (call: ServerUnaryCall<unknown, unknown>, reply: sendUnaryData<unknown>) => {
      calls.push({ method, request: call.request })
      const what = answer(method, call.request)
      if (what === undefined) return
      if (what instanceof Uint8Array) reply(null, what)
      else reply(what)
    },
  ])
  const raw = Object.fromEntries(
    Object.entries(service).map(([method, of]) => [
      method,
      { ...of, responseSerialize: (bytes: Uint8Array) => Buffer.from(bytes) },
    ]),
  )
  server.addService(raw, Object.fromEntries(handlers) as never)
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), error => {
      if (error) reject(error)
      else resolve()
    })
  })
  return {
    calls,
    close: () => {
      server.forceShutdown()
    },
  }
}
