import { lstatSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { codeOf, fail, ok, skip, type Check } from '../check.ts'

/** undefined when somebody listens, else the code of the failure. */
async function dial(path: string): Promise<string | undefined> {
  return await new Promise(resolve => {
    const socket = connect(path)
    const timer = setTimeout(() => {
      socket.destroy()
      resolve('ETIMEDOUT')
    }, 3000)
    const end = (code: string | undefined): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(code)
    }
    socket.once('connect', () => {
      end(undefined)
    })
    socket.once('error', error => {
      end(codeOf(error))
    })
  })
}

const restart = ['systemctl', 'restart', 'ipkeeper']

export const socketCheck: Check = {
  id: 'socket',
  title: "the daemon's socket",
  why: 'The plugin asks the daemon over this socket, and every ADD fails without it; whoever may write to it can take addresses.',
  run: async ({ socket }) => {
    let stats
    try {
      stats = lstatSync(socket)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'EACCES') return skip(`${socket} cannot be looked at: run as root`)
      return fail(
        code === 'ENOENT' ? `there is no socket ${socket}` : `${socket} cannot be looked at (${code})`,
        ...restart,
      )
    }
    if (!stats.isSocket()) return fail(`${socket} is no socket`, 'ls', '-l', socket)
    const refused = await dial(socket)
    if (refused === 'EACCES') return skip(`${socket} may not be dialled by this user: run as root`)
    if (refused === 'ECONNREFUSED')
      return fail(`${socket} is left of a daemon that does not run any more`, ...restart)
    if (refused !== undefined) return fail(`${socket} cannot be dialled (${refused})`, ...restart)
    const mode = stats.mode & 0o777
    if ((mode & 0o077) !== 0)
      return fail(
        `${socket} has mode 0${mode.toString(8)}: others than its owner may use it`,
        'chmod',
        '0600',
        socket,
      )
    if (stats.uid !== 0 && stats.uid !== process.getuid?.())
      return fail(`${socket} belongs to user ${stats.uid}, not to root`, 'chown', 'root:root', socket)
    const folder = dirname(socket)
    const around = statSync(folder)
    if ((around.mode & 0o022) !== 0 && (around.mode & 0o1000) === 0)
      return fail(
        `others than its owner may write to ${folder}, and so replace the socket`,
        'chmod',
        '0700',
        folder,
      )
    return ok(`${socket} answers, mode 0${mode.toString(8)}`)
  },
}
