import { counted } from '../../../../shared/text/counted.ts'
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { type Check, fail, noDaemon, ok, skip, warn } from '../check-result.ts'
import { oursIn } from '../networks.ts'
import { HealthReply } from '../../../../shared/api/listing.schema.ts'
import { pluginSettings } from '../../../../shared/cni/netconf.ts'
import { checkConfigLine } from '../../../../shared/check-config-line.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { systemCode } from '../../../../shared/system-code.ts'

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
      end(systemCode(error))
    })
  })
}

const restart = ['systemctl', 'restart', 'ipkeeper']

export const socketCheck: Check = {
  id: 'socket',
  title: "the daemon's socket",
  why: 'The plugin calls the daemon on this socket: without it every ADD fails, and every user who may write to it can claim addresses.',
  run: async ({ socket }) => {
    let stats
    try {
      stats = lstatSync(socket)
    } catch (error) {
      const code = systemCode(error)
      if (code === 'EACCES') return skip(`${socket} cannot be checked: run as root`)
      return fail(
        code === 'ENOENT' ? `there is no socket ${socket}` : `${socket} cannot be checked (${code})`,
        ...restart,
      )
    }
    if (!stats.isSocket()) return fail(`${socket} is not a socket`, 'ls', '-l', socket)
    const refused = await dial(socket)
    if (refused === 'EACCES') return skip(`this user may not connect to ${socket}: run as root`)
    if (refused === 'ECONNREFUSED')
      return fail(`${socket} was left by a daemon that is no longer running`, ...restart)
    if (refused !== undefined) return fail(`cannot connect to ${socket} (${refused})`, ...restart)
    const mode = stats.mode & 0o777
    if ((mode & 0o077) !== 0)
      return fail(
        `${socket} has mode 0${mode.toString(8)}: users other than its owner may use it`,
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
        `users other than its owner may write to ${folder}, and so replace the socket`,
        'chmod',
        '0700',
        folder,
      )
    return ok(`${socket} answers, mode 0${mode.toString(8)}`)
  },
}

export const daemonCheck: Check = {
  id: 'daemon',
  title: 'the daemon answers',
  why: 'A daemon that hangs keeps every ADD waiting until the runtime gives up.',
  run: async node => {
    let health: HealthReply
    try {
      health = (await node.ask('/v1/health')) as HealthReply
    } catch (error) {
      // That nobody is there is what the check of the socket says.
      if (error instanceof Problem && error.code === 'IPK_DAEMON_UNREACHABLE') return skip(error.message)
      // Another start would change nothing.
      if (error instanceof Problem && error.code === 'IPK_NODE_NAME_TAKEN')
        return fail(`it refuses to serve: ${error.message}; ${error.hint}`, 'ipkeeperctl', 'status')
      return fail(error instanceof Error ? error.message : String(error), 'systemctl', 'restart', 'ipkeeper')
    }
    const status = await node.status()
    if (!status) return fail('it answers /v1/health, but not /v1/status', 'systemctl', 'restart', 'ipkeeper')
    if (health.version !== node.version)
      return warn(
        `ipkeeper-server is ${health.version}, and ipkeeperctl ${node.version}`,
        ...['systemctl', 'restart', 'ipkeeper'],
      )
    return ok(`ipkeeper-server ${health.version} on node ${status.node}, pid ${status.pid}`)
  },
}

export const configCheck: Check = {
  id: 'config',
  title: "the daemon's configuration is in use",
  why: 'The daemon ignores a configuration that is not valid, and continues with the previous one.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const { path, problem, loadedAt, copy } = status.config
    if (problem)
      return fail(
        `${path} is not in use, the one loaded at ${loadedAt} is: ${problem.message}`,
        ...checkConfigLine(path, node.socket),
      )
    if (copy) return warn(copy.message, 'ls', '-ld', status.stateDir)
    if (!existsSync(path)) return ok(`there is no ${path}: defaults apply`)
    return ok(`${path}, loaded at ${loadedAt}`)
  },
}

export const optionalPartsCheck: Check = {
  id: 'optional-parts',
  title: 'metrics, page, webhook, runtime and export of the history work where they are configured',
  why: 'The daemon serves pods without them, so nothing else shows that monitoring, admission, clean-up or audit is blind.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const parts = status.parts ?? []
    if (parts.length === 0) return skip('none is configured')
    const says = parts.flatMap(({ name, problem }) =>
      problem === null ? [] : [`${name}: ${problem.message}; ${problem.hint}`],
    )
    const { receiver, pruned = 0 } = status.historyExport ?? {}
    if (pruned > 0)
      says.push(
        `history-export: pruned before ${receiver} took them: ${counted(pruned, 'entry', 'entries')}; raise history.maxAge or history.maxEntries`,
      )
    if (says.length > 0) return warn(says.join('; '), 'ipkeeperctl', 'status', '--socket', node.socket)
    return ok(parts.map(({ name }) => name).join(', '))
  },
}

/** As it is on disk; one that is not there stays as it is written. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

export const stateFolderCheck: Check = {
  id: 'state-folder',
  title: 'plugin and daemon use one state folder and one socket',
  why: 'The daemon would never process what the plugin leaves in its state folder, such as queued DELs.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const ours = node.networks.flatMap(file => {
      const found = oursIn(file)
      return found ? [{ path: file.path, settings: pluginSettings(found.plugin, {}) }] : []
    })
    if (ours.length === 0) return skip(`no configuration in ${node.confDir} uses ipkeeper`)
    for (const { path, settings } of ours) {
      const lint = ['ipkeeperctl', 'lint', path]
      if (real(settings.stateDir) !== real(status.stateDir))
        return fail(
          `${path} has the state folder ${settings.stateDir}, and the daemon ${status.stateDir}`,
          ...lint,
        )
      if (real(settings.socket) !== real(status.socket))
        return fail(`${path} has the socket ${settings.socket}, and the daemon ${status.socket}`, ...lint)
    }
    return ok(status.stateDir)
  },
}

export const identityCheck: Check = {
  id: 'identity',
  title: 'the node is identified by more than its name',
  why: 'When the name changes or the disk is copied, only an ID that is bound to the machine shows which leases are its own.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    if (!status.identity) return skip(`ipkeeper-server ${status.version} does not report it`)
    const { id, wanted, formerNames, knownBy, refused } = status.identity
    const [former] = formerNames
    const says = `node ${status.node}, ID ${id.slice(0, 12)}`
    if (refused) return fail(`ADDs are refused: ${refused.message}; ${refused.hint}`, 'ipkeeperctl', 'status')
    if (wanted !== status.node)
      return warn(
        `${says}, will be renamed ${wanted} when the daemon starts and the store answers`,
        'ipkeeperctl',
        'status',
      )
    if (knownBy.length === 0)
      return warn(
        `${says}: neither /etc/machine-id nor the hardware distinguishes this machine from a copy of it`,
        ...['ls', '-l', '/etc/machine-id', '/sys/class/dmi/id/product_uuid'],
      )
    // A clone of a virtual machine gets another hardware UUID; machine ID and folder are copied with its disk.
    if (status.store.state !== undefined && !knownBy.includes('hardware'))
      return warn(
        `${says}, by ${knownBy.join(' and ')}: with a store that nodes share, a copy of this disk that starts while this daemon is stopped would be mistaken for this machine`,
        ...['ls', '-l', '/sys/class/dmi/id/product_uuid'],
      )
    return ok(`${says}, by ${knownBy.join(' and ')}${former ? `; formerly ${former.name}` : ''}`)
  },
}
