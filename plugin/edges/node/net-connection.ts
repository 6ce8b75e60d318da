import type * as Net from 'node:net'
import type { Connect } from '../../connection.ts'

/** Connects by node:net, which is given: loading it takes 29 more modules, 2 to 3 ms of a run that can do without. */
export const createNetConnect =
  ({ connect }: Pick<typeof Net, 'connect'>): Connect =>
  (path, listener) => {
    const socket = connect({ path })
    let connected = false
    socket.on('connect', () => {
      connected = true
      listener.connected()
    })
    socket.on('data', listener.received)
    socket.on('end', listener.lost)
    socket.on('close', listener.lost)
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (connected) listener.lost()
      else listener.refused(code ?? 'an error')
    })
    return {
      send: text => socket.write(text),
      end: () => socket.end(),
      close: () => {
        // What happens to the connection from now on does not matter; without a listener it would throw.
        socket.removeAllListeners()
        socket.on('error', () => undefined)
        socket.destroy()
      },
    }
  }
