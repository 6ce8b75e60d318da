import type { OpenInput } from '../../stdin.ts'

const stdin = 0

/** Streams are loaded when they are needed: few runs need one, since their input has ended when they look. */
export const openInput: OpenInput = async kind => {
  if (kind === 'device' && !process.stdin.isTTY) return undefined
  const stream =
    kind === 'device'
      ? process.stdin
      : new (await import('node:net')).Socket({ fd: stdin, readable: true, writable: false })
  return ({ received, ended, failed }) => {
    stream.on('data', received)
    stream.on('end', ended)
    stream.on('error', failed)
    return () => {
      stream.removeAllListeners()
      stream.on('error', () => undefined)
      stream.destroy()
    }
  }
}
