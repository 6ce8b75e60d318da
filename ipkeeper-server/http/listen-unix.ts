import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { makeFolder } from '../host/make-folder.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { shellWord } from '../../shared/text/shell-word.ts'
import { systemCode } from '../../shared/system-code.ts'

/** sun_path of unix(7) holds 108 bytes with the closing zero. */
const pathLimit = 107

/** The file system's or the kernel's refusal, with the path and what to do. */
function failed(path: string, error: unknown): Problem {
  const code = systemCode(error)
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
 *
 * @returns the socket of a dead daemon that would have to go; undefined where nothing is in the way
 */
export async function checkSocketPath(path: string): Promise<SocketFile | undefined> {
  if (Buffer.byteLength(path) > pathLimit) {
    throw new Problem('IPK_USAGE', `socket path ${path} is longer than ${pathLimit} bytes`, {
      hint: 'choose a shorter --socket',
    })
  }
  const present = lookAtSocket(path)
  if (!present) return undefined
  if (!present.isSocket) {
    throw new Problem('IPK_SOCKET_IN_USE', `${path} exists and is no socket`, {
      hint: `choose another --socket, or see what it is and move it away: ls -l ${shellWord(path)}`,
    })
  }
  if (await isStale(path)) return present
  throw new Problem('IPK_SOCKET_IN_USE', `another daemon answers on ${path}`)
}

/** What stands at the path of a socket. */
export interface SocketFile {
  readonly isSocket: boolean
  /** Another file at the same path has another one. */
  readonly identity: string
}

/** undefined where nothing stands there. Throws IPK_SOCKET_FAILED. */
export function lookAtSocket(path: string): SocketFile | undefined {
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    // File systems that have no time of birth say 0.
    return (
      stats && {
        isSocket: stats.isSocket(),
        identity: `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`,
      }
    )
  } catch (error) {
    throw failed(path, error)
  }
}

/**
 * Makes a socket at the path by `listen`: folder 0700, socket 0600. What is left of a daemon that was killed is replaced
 * after a failed dial; a live socket is IPK_SOCKET_IN_USE; what the system refuses is IPK_SOCKET_FAILED. Two daemons that
 * start at the same instant are kept apart by the lock of the store, which each takes before it listens.
 */
export async function makeSocket(path: string, listen: () => Promise<unknown>): Promise<void> {
  const stale = await checkSocketPath(path)
  try {
    makeFolder(dirname(path))
    // Somebody may have replaced it meanwhile, who then is in our way.
    if (stale && lookAtSocket(path)?.identity === stale.identity) rmSync(path, { force: true })
    // The mask makes the socket root's own from its first moment; chmod says it once more for odd file systems.
    const mask = process.umask(0o177)
    try {
      await listen()
    } finally {
      process.umask(mask)
    }
    chmodSync(path, 0o600)
  } catch (error) {
    throw error instanceof Problem ? error : failed(path, error)
  }
}

/** Listens on the path; see makeSocket. */
export async function listenUnix(app: FastifyInstance, path: string): Promise<void> {
  await makeSocket(path, () => app.listen({ path }))
}
