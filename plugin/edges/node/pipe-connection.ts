import { getSystemErrorName } from 'node:util'
import type { Connect, Connection, ConnectionListener } from '../../connection.ts'

/** libuv's pipe, as Node hands it to node:net. Numbers below 0 are errors of libuv. */
interface Pipe {
  connect(request: PipeRequest, path: string): number
  readStart(): number
  writeUtf8String(request: PipeRequest, text: string): number
  shutdown(request: PipeRequest): number
  close(): void
  onread: (bytes: ArrayBuffer | undefined) => void
}
interface PipeRequest {
  oncomplete?: (status: number) => void
}

/** The parts of Node's bindings that are needed here; what Node promises of them is nothing, so each is looked for. */
interface Bindings {
  readonly pipe: {
    readonly Pipe?: new (type: number) => Pipe
    readonly PipeConnectWrap?: new () => PipeRequest
    readonly constants?: { readonly SOCKET?: number }
  }
  readonly stream: {
    readonly WriteWrap?: new () => PipeRequest
    readonly ShutdownWrap?: new () => PipeRequest
    readonly streamBaseState?: Int32Array
    readonly kReadBytesOrError?: number
    readonly kArrayBufferOffset?: number
  }
}

function readBindings(): Bindings | undefined {
  const { binding } = process as unknown as { binding?: (name: string) => object }
  try {
    return binding && { pipe: binding('pipe_wrap'), stream: binding('stream_wrap') }
  } catch {
    return undefined
  }
}

/** The parts of the bindings, each of which is there. */
interface PipeParts {
  readonly makePipe: () => Pipe
  readonly ConnectRequest: new () => PipeRequest
  readonly WriteRequest: new () => PipeRequest
  readonly ShutdownRequest: new () => PipeRequest
  /** What `onread` has to tell: a number of bytes, or an error, and where in the buffer it begins. */
  readonly lastRead: () => { readonly count: number; readonly offset: number }
}

function findParts({ pipe, stream }: Bindings): PipeParts | undefined {
  const { Pipe, PipeConnectWrap: ConnectRequest, constants } = pipe
  const { WriteWrap: WriteRequest, ShutdownWrap: ShutdownRequest } = stream
  const { streamBaseState: state, kReadBytesOrError: countAt, kArrayBufferOffset: offsetAt } = stream
  const type = constants?.SOCKET
  if (!Pipe || !ConnectRequest || !WriteRequest || !ShutdownRequest || type === undefined) return undefined
  if (!state || countAt === undefined || offsetAt === undefined) return undefined
  return {
    makePipe: () => new Pipe(type),
    ...{ ConnectRequest, WriteRequest, ShutdownRequest },
    lastRead: () => ({ count: state[countAt] ?? 0, offset: state[offsetAt] ?? 0 }),
  }
}

/**
 * Connects by libuv's pipe without the streams that node:net puts over it, which have to be loaded at every start.
 *
 * @returns undefined with a Node that does not give its pipe away: its `process.binding` is deprecated
 */
export function findPipeConnect(bindings: Bindings | undefined = readBindings()): Connect | undefined {
  const parts = bindings && findParts(bindings)
  return parts && ((path, listener) => connectPipe(parts, path, listener))
}

function connectPipe(parts: PipeParts, path: string, listener: ConnectionListener): Connection {
  const { makePipe, ConnectRequest, WriteRequest, ShutdownRequest, lastRead } = parts
  const pipe = makePipe()
  let closed = false
  const report = (tell: () => void): void => {
    if (!closed) tell()
  }
  const refuse = (status: number): void => {
    report(() => {
      listener.refused(getSystemErrorName(status))
    })
  }
  const lose = (): void => {
    report(listener.lost)
  }
  pipe.onread = bytes => {
    const { count, offset } = lastRead()
    if (count < 0) lose()
    else if (count > 0 && bytes) {
      report(() => {
        listener.received(Buffer.from(bytes, offset, count))
      })
    }
  }
  const connecting = new ConnectRequest()
  connecting.oncomplete = status => {
    if (status < 0) {
      refuse(status)
      return
    }
    if (closed) return
    if (pipe.readStart() < 0) lose()
    else listener.connected()
  }
  const begun = pipe.connect(connecting, path)
  if (begun < 0) {
    queueMicrotask(() => {
      refuse(begun)
    })
  }
  return {
    send: text => {
      const writing = new WriteRequest()
      writing.oncomplete = status => {
        if (status < 0) lose()
      }
      if (pipe.writeUtf8String(writing, text) < 0) queueMicrotask(lose)
    },
    end: () => {
      pipe.shutdown(new ShutdownRequest())
    },
    close: () => {
      if (closed) return
      closed = true
      pipe.close()
    },
  }
}
