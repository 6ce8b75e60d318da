import { randomInt } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import type { ApiObject } from '../test/rigs/cluster-client.ts'
import { startCluster, type Cluster } from '../test/rigs/cluster.ts'
import { startEtcd } from '../test/rigs/etcd.ts'
import type { TempFolder } from '../test/rigs/temp-folder.ts'
import type { EngineName } from './engines.ts'
import { apiRequests, etcdRequests, ownResources, type RequestCounts } from './request-counts.ts'

/** An engine that daemons share while it is measured. Writes of etcd are not synced to the disk (test/rigs/etcd.ts). */
export interface SharedEngine {
  /** For `--store`. */
  readonly store: string
  /** Lines of the configuration that a daemon needs for it. */
  readonly config: string
  /** Calls that it has answered. */
  requests(): Promise<RequestCounts>
  /** Present where it is the Kubernetes API. */
  readonly cluster?: Cluster
  stop(): Promise<void>
}

const crds = join(import.meta.dirname, '..', 'deploy', 'crds')

async function installResources(cluster: Cluster): Promise<void> {
  for (const file of globSync(`${crds}/ip*.yaml`)) {
    await cluster.create(parse(readFileSync(file, 'utf8')) as ApiObject)
    await cluster.until(`/apis/ipkeeper.io/v1alpha1/${basename(file, '.yaml')}`, list =>
      Array.isArray(list['items']),
    )
  }
}

export async function startEngine(name: EngineName, folder: TempFolder): Promise<SharedEngine> {
  if (name === 'etcd') {
    const address = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`
    const { program, url } = await startEtcd(folder.file('etcd'), address)
    return {
      store: `etcd:${url}`,
      config: 'kubernetes: { mode: off }\n',
      requests: () => etcdRequests(url),
      stop: () => program.stop('SIGKILL').then(() => undefined),
    }
  }
  const cleaning: (() => unknown)[] = []
  const cluster = await startCluster({ teardown: clean => cleaning.push(clean) })
  const stop = async (): Promise<void> => {
    for (const clean of cleaning.reverse()) await clean()
  }
  try {
    await installResources(cluster)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    store: 'kubernetes:',
    config: `kubernetes: { mode: kubeconfig, kubeconfig: ${cluster.kubeconfig} }\nrequireAnnotations: false\n`,
    requests: () => apiRequests(cluster, ownResources),
    cluster,
    stop,
  }
}
