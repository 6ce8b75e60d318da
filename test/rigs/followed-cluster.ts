import type { ClusterView } from '../../ipkeeper-server/kubernetes/cluster-view.ts'
import { Cluster as Followed, type ClusterOptions } from '../../ipkeeper-server/kubernetes/cluster.ts'
import { kubeconfigAccess } from '../../ipkeeper-server/kubernetes/kubeconfig.ts'
import type { ApiObject } from './cluster-client.ts'
import { recordedLog } from './scripted-api.ts'
import type { Scope } from './teardown.ts'

export interface FollowedCluster {
  readonly cluster: Followed
  readonly view: ClusterView
  readonly lines: readonly Record<string, unknown>[]
}

/** The daemon's side of a real API server, started, and stopped when the test ends. */
export function followCluster(
  t: Scope,
  kubeconfig: string,
  options: Partial<ClusterOptions> = {},
): FollowedCluster {
  const { log, lines } = recordedLog()
  const access = kubeconfigAccess(kubeconfig, undefined, () => performance.now())
  const cluster = new Followed({ access, node: 'worker-1', watchNamespaces: true, log, ...options })
  t.teardown(() => cluster.stop())
  cluster.start()
  return { cluster, view: cluster.view, lines }
}

/** A pod that runs on worker-1, without scheduler and kubelet. */
export function podOnNode(name: string, metadata: object = {}, node = 'worker-1'): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', ...metadata },
    spec: {
      nodeName: node,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'localhost/none' }],
    },
  }
}
