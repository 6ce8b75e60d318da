import { counted } from '../../../../shared/text/counted.ts'
import { type Check, fail, noDaemon, ok, skip, warn } from '../check-result.ts'
import { SocketRuntimes } from '../../../runtime/socket-runtimes.ts'

export const runtimeCheck: Check = {
  id: 'runtime',
  title: 'the container runtime has loaded the network',
  why: 'A runtime that missed a change of its configurations, or dropped what it had loaded, makes the node NotReady.',
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

export const kubernetesApiCheck: Check = {
  id: 'kubernetes-api',
  title: 'the daemon may ask the Kubernetes API',
  why: 'Without access to the API, owners of pods, defaults of namespaces and Events are missing, and some ADDs wait.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    const api = status.kubernetes
    if (!api) return skip('no Kubernetes API is configured')
    const away = api.watches.find(({ connected }) => !connected)
    const [missing] = api.missingRights ?? []
    if (missing)
      return fail(
        `it may not ${missing.verb} ${missing.resource}: ${missing.why}`,
        ...['kubectl', 'edit', 'clusterrole', 'ipkeeper'],
      )
    if (!api.connected)
      return fail(
        `${api.server}: ${away?.lastError?.message ?? 'not connected'}`,
        ...['ipkeeperctl', 'status'],
      )
    if (api.nodeMissing)
      return fail(
        `the cluster has no Node ${status.node}${api.nodeMissing.meant === null ? '' : `; is it ${api.nodeMissing.meant}?`}`,
        ...['kubectl', 'get', 'nodes'],
      )
    return ok(`${api.server}, ${counted(api.counts.pods, 'pod')} of this node`)
  },
}

export const annotationsCheck: Check = {
  id: 'annotations',
  title: 'the annotations of pods are read',
  why: 'A pod whose annotations are of another product, and not switched on, gets a dynamic address without a word.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    if (!status.kubernetes) return skip('no Kubernetes API is configured')
    const unread = status.kubernetes.unreadAnnotations ?? []
    const [first] = unread
    if (!first) return ok(`of ${counted(status.kubernetes.counts.pods, 'pod')} of this node`)
    const names = unread.map(({ dialect, pods }) => `${dialect} (${counted(pods, 'pod')})`)
    return warn(
      `not switched on by "annotations" in ${status.config.path}: ${names.join(', ')}; ${first.pod} has ${first.key}`,
      ...['ipkeeperctl', 'explain', first.pod],
    )
  },
}

export const poolSpecsCheck: Check = {
  id: 'ippools',
  title: 'the newest spec of each IPPool is in force',
  why: 'A spec that would leave out addresses in use, or makes no sense, is refused, and the pool stays as it was.',
  run: async node => {
    const status = await node.status()
    if (!status) return noDaemon
    if (status.store.kind !== 'kubernetes') return skip('IPPools are read with --store kubernetes: only')
    const pending = status.pendingPools ?? []
    const first = pending.find(({ refused }) => refused) ?? pending[0]
    if (!first) return ok(counted(status.pools, 'pool'))
    const more = pending.length === 1 ? '' : `, and ${pending.length - 1} more`
    return (first.refused ? fail : warn)(`${first.says}${more}`, ...first.next)
  },
}
