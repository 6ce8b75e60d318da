import { fail, noDaemon, ok, skip, type Check } from '../check.ts'

export const kubernetesApiCheck: Check = {
  id: 'kubernetes-api',
  title: 'the daemon may ask the Kubernetes API',
  why: 'Without the API, or rights in it, owners of pods, defaults of namespaces and Events are missing, and some ADDs wait.',
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
    return ok(`${api.server}, ${api.counts.pods} pods of this node`)
  },
}
