import { getSystemErrorName } from 'node:util'
import type { Connect, Connection, ConnectionListener } from './connection.ts'

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
    /** Where `onread` finds what has come: a number of bytes, or an error, and where in the buffer it begins. */
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

/**
 * Connects by libuv's pipe without the streams that node:net puts over it, which have to be loaded at every start.
 *
 * @returns undefined with a Node that does not give its pipe away: its `process.binding` is deprecated
 */
export function findPipeConnect(bindings: Bindings | undefined = readBindings()): Connect | undefined {
  if (bindings === undefined) return undefined
  const { Pipe, PipeConnectWrap, constants } = bindings.pipe
  const { WriteWrap, ShutdownWrap, streamBaseState, kReadBytesOrError, kArrayBufferOffset } = bindings.stream
  const type = constants?.SOCKET
  if (!Pipe || !PipeConnectWrap || !WriteWrap || !ShutdownWrap || type === undefined) return undefined
  if (!streamBaseState || kReadBytesOrError === undefined || kArrayBufferOffset === undefined)
    return undefined

  return (path: string, listener: ConnectionListener): Connection => {
    const pipe = new Pipe(type)
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
      const count = streamBaseState[kReadBytesOrError] ?? 0
      const offset = streamBaseState[kArrayBufferOffset] ?? 0
      if (count < 0) lose()
      else if (count > 0 && bytes) {
        report(() => {
          listener.received(Buffer.from(bytes, offset, count))
        })
      }
    }
    const connecting = new PipeConnectWrap()
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
        const writing = new WriteWrap()
        writing.oncomplete = status => {
          if (status < 0) lose()
        }
        if (pipe.writeUtf8String(writing, text) < 0) queueMicrotask(lose)
      },
      end: () => {
        pipe.shutdown(new ShutdownWrap())
      },
      close: () => {
        if (closed) return
        closed = true
        pipe.close()
      },
    }
  }
}
