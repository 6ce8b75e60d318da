import { SocketRuntimes } from '../../../runtime/socket-runtimes.ts'
import { fail, ok, skip, warn, type Check } from '../check.ts'

export const runtimeCheck: Check = {
  id: 'runtime',
  title: 'the container runtime has taken the network',
  why: 'A runtime reads its configurations when they change, and may have missed it, or have thrown away what it had; the node is NotReady then.',
  run: async () => {
    const runtimes = new SocketRuntimes(undefined)
    try {
      const answers = await runtimes.list()
      if (answers.length === 0) return skip('neither containerd nor CRI-O has a socket here')
      for (const answer of answers) {
        if (answer.state === 'failed')
          return warn(`${answer.socket}: ${answer.reason}`, 'systemctl', 'status', 'containerd')
        const conditions = await runtimes.conditions(answer.socket)
        const network = conditions.find(({ type }) => type === 'NetworkReady')
        if (network && !network.holds)
          return fail(`${answer.socket}: ${network.message || network.reason}`, 'ipkeeperctl', 'lint')
      }
      return ok(answers.map(({ socket }) => socket).join(', '))
    } finally {
      runtimes.close()
    }
  },
}
