import type { Connect } from '../../connection.ts'
import { Buffer } from './buffer.ts'
import { watch } from './event-loop.ts'
import { Sending } from './sending.ts'
import { system } from './system.ts'

const again = 'EAGAIN'

/** Connects to a unix socket, which either is done at once or fails. */
export const connect: Connect = (path, listener) => {
  const file = system.connect(path)
  let isClosed = file < 0
  let stop: () => void = () => undefined
  const sending = new Sending(file, () => {
    if (!isClosed) listener.lost()
  })
  const receive = (): void => {
    const bytes = Buffer.allocUnsafe(64 * 1024)
    const count = system.read(file, bytes, 0)
    if (count > 0) listener.received(bytes.subarray(0, count) as unknown as globalThis.Buffer)
    else if (count === 0 || system.errnoName(-count) !== again) listener.lost()
  }
  queueMicrotask(() => {
    if (file < 0) listener.refused(system.errnoName(-file))
    else if (!isClosed) {
      stop = watch(file, 'read', receive)
      listener.connected()
    }
  })
  return {
    send: text => {
      sending.send(text)
    },
    end: () => {
      sending.end(() => {
        system.shutdown(file)
      })
    },
    close: () => {
      if (isClosed) return
      isClosed = true
      stop()
      sending.drop()
      system.close(file)
    },
  }
}
