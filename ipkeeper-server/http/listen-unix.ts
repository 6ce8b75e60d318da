import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { makeFolder } from '../make-folder.ts'
import { Problem } from '../../shared/problem/problem.ts'

/** sun_path of unix(7) holds 108 bytes with the closing zero. */
const pathLimit = 107

/** The file system's or the kernel's refusal, with the path and what to do. */
function failed(path: string, error: unknown): Problem {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return new Problem('IPK_SOCKET_FAILED', `cannot listen on ${path} (${code})`, { cause: error })
}

/** Whether a socket file is what a dead daemon left: dialling it is refused. Any other failure is no proof of death. */
async function isStale(path: string): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', error => {
      const code = 'code' in error ? error.code : undefined
      // Gone meanwhile; refused; not taken now, because a daemon that is too busy has a full queue.
      if (code === 'ENOENT' || code === 'ECONNREFUSED') resolve(true)
      else if (code === 'EAGAIN') resolve(false)
      else reject(failed(path, error))
    })
  })
}

/**
 * Whether a daemon could listen on the path, as far as that can be known without changing anything. Throws IPK_USAGE for
 * a path that no socket can have, IPK_SOCKET_IN_USE, and IPK_SOCKET_FAILED for what the system refuses.
 */
export async function checkSocketPath(path: string): Promise<void> {
  if (Buffer.byteLength(path) > pathLimit) {
    throw new Problem('IPK_USAGE', `socket path ${path} is longer than ${pathLimit} bytes`, {
      hint: 'choose a shorter --socket',
    })
  }
  let present
  try {
    present = lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw failed(path, error)
  }
  if (!present) return
  if (!present.isSocket()) {
    throw new Problem('IPK_SOCKET_IN_USE', `${path} exists and is no socket`, {
      hint: 'choose another --socket',
    })
  }
  if (!(await isStale(path))) throw new Problem('IPK_SOCKET_IN_USE', `another daemon answers on ${path}`)
}

/**
 * Listens on the path: folder 0700, socket 0600. What is left of a daemon that was killed is replaced after a failed
 * dial; a live socket is IPK_SOCKET_IN_USE; what the system refuses is IPK_SOCKET_FAILED. Two daemons that start at the
 * same instant are kept apart by the lock of the store, which each takes before it listens.
 */
export async function listenUnix(app: FastifyInstance, path: string): Promise<void> {
  await checkSocketPath(path)
  try {
    makeFolder(dirname(path))
    // What is there is a socket that nobody serves.
    rmSync(path, { force: true })
    // The mask makes the socket root's own from its first moment; chmod says it once more for odd file systems.
    const mask = process.umask(0o177)
    try {
      await app.listen({ path })
    } finally {
      process.umask(mask)
    }
    chmodSync(path, 0o600)
  } catch (error) {
    throw error instanceof Problem ? error : failed(path, error)
  }
}
