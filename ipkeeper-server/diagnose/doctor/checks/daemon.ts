import { HealthReply } from '../../../../shared/api/listing.schema.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { fail, ok, skip, warn, type Check } from '../check.ts'

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
        return fail(`nothing is served: ${error.message}; ${error.hint}`, 'ipkeeperctl', 'status')
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
