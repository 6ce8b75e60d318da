import type { ClusterClient } from '../test/rigs/cluster-client.ts'

/** Requests that a server has carried out so far, by what they are. */
export type RequestCounts = Readonly<Record<string, number>>

const labelled = /^(\w+)\{([^}]*)\} (\S+)$/

/** The samples of one counter of a page in Prometheus' text format, each under a name made from its labels. */
function sumBy(
  page: string,
  counter: string,
  nameOf: (label: (name: string) => string) => string | undefined,
): RequestCounts {
  const sums: Record<string, number> = {}
  for (const line of page.split('\n')) {
    const [, name, labels = '', value] = labelled.exec(line) ?? []
    if (name !== counter) continue
    const key = nameOf(label => new RegExp(`(?:^|,)${label}="([^"]*)"`).exec(labels)?.[1] ?? '')
    if (key !== undefined) sums[key] = (sums[key] ?? 0) + Number(value)
  }
  return sums
}

/** Of etcd: calls of its key-value interface; what watches carry is no call. */
export async function etcdRequests(url: string): Promise<RequestCounts> {
  const page = await (await fetch(`${url}/metrics`)).text()
  return sumBy(page, 'grpc_server_handled_total', label =>
    label('grpc_service') === 'etcdserverpb.KV' ? label('grpc_method') : undefined,
  )
}

/** Resources of the API, by group. */
export interface ApiResources {
  readonly [group: string]: readonly string[]
}

/** What an ADD of ipkeeper reads and writes. What only one of all nodes does, such as the status of pools, is not on its way. */
export const ownResources: ApiResources = { 'ipkeeper.io': ['ipleases', 'ipholders', 'ipreservations'] }

/** Of kube-apiserver: requests for these resources. */
export async function apiRequests(cluster: ClusterClient, resources: ApiResources): Promise<RequestCounts> {
  return sumBy(await cluster.readText('/metrics'), 'apiserver_request_total', label => {
    const [verb, resource] = [label('verb'), label('resource')]
    // Of a watch each end is counted, long after its begin.
    const counts = resources[label('group')]?.includes(resource) === true && verb !== 'WATCH'
    return counts ? `${verb} ${resource}` : undefined
  })
}

/** What came between two looks; only what came. */
export function since(before: RequestCounts, after: RequestCounts): RequestCounts {
  const entries = Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
  return Object.fromEntries(entries.filter(([, count]) => count > 0))
}

export function total(counts: RequestCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
