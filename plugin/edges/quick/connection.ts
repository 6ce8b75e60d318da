import type { Connect } from '../../connection.ts'
import { readOn } from './read-on.ts'
import { Sending } from './sending.ts'
import { system } from './system.ts'

/** Connects to a unix socket, which either is done at once or fails. */
export const connect: Connect = (path, listener) => {
  const file = system.connect(path)
  let isClosed = file < 0
  let stop: () => void = () => undefined
  const sending = new Sending(file, () => {
    if (!isClosed) listener.lost()
  })
  queueMicrotask(() => {
    if (file < 0) listener.refused(system.errnoName(-file))
    else if (!isClosed) {
      const { received, lost } = listener
      stop = readOn(file, { received, ended: lost, failed: lost })
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
