/** ipkeeper's custom resources on a real API server, and engines that keep records there. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { readPoolSpec } from '../../ipkeeper-server/config/read-pool-object.ts'
import { ApiClient, type ApiLimits } from '../../ipkeeper-server/kubernetes/api-client.ts'
import { systemClock, type ClientClock } from '../../ipkeeper-server/kubernetes/client-context.ts'
import { kubeconfigAccess } from '../../ipkeeper-server/kubernetes/kubeconfig.ts'
import type { ReflectorTiming } from '../../ipkeeper-server/kubernetes/reflector.ts'
import { KubernetesEngine } from '../../ipkeeper-server/store/kubernetes/kubernetes-engine.ts'
import type { ApiObject } from './cluster-client.ts'
import type { Cluster } from './cluster.ts'
import { recordedLog } from './scripted-api.ts'
import type { Scope } from './teardown.ts'

const folder = join(import.meta.dirname, '..', '..', 'deploy', 'crds')

/** The definitions of deploy/crds. */
export function customResourceDefinitions(): readonly ApiObject[] {
  return globSync(join(folder, '*.yaml'))
    .filter(path => basename(path) !== 'kustomization.yaml')
    .map(path => parse(readFileSync(path, 'utf8')) as ApiObject)
}

/** Makes the server know the custom resources, and waits until it serves them. */
export async function installCustomResources(
  cluster: Cluster,
  definitions = customResourceDefinitions(),
): Promise<void> {
  for (const definition of definitions) await cluster.create(definition)
  for (const { spec } of definitions)
    await cluster.until(`/apis/${spec.group}/v1alpha1/${spec.names.plural}`, () => true)
}

export interface OpenedEngine {
  readonly engine: KubernetesEngine
  readonly lines: readonly Record<string, unknown>[]
}

export interface EngineSettings {
  readonly kubeconfig?: string
  readonly deadlineMs?: number
  readonly isPoolInUse?: (name: string) => boolean | undefined
  readonly clock?: ClientClock
  readonly timing?: Partial<ReflectorTiming>
  readonly limits?: Partial<ApiLimits>
}

/** An engine of its own connections, ended with the test. */
export function openEngine(
  t: Scope,
  cluster: Pick<Cluster, 'kubeconfig'>,
  {
    kubeconfig = cluster.kubeconfig,
    deadlineMs = 10_000,
    timing = {},
    limits = {},
    isPoolInUse = () => false,
    clock = systemClock,
  }: EngineSettings = {},
): OpenedEngine {
  const { log, lines } = recordedLog()
  const access = kubeconfigAccess(kubeconfig, undefined, () => performance.now())
  const engine = new KubernetesEngine({
    client: new ApiClient(access, { requests: 32, ...limits }),
    log,
    isPoolInUse,
    readPool: (name, spec) =>
      readPoolSpec(name, spec, { retention: 'release', cooldown: 0, preferFor: 0 }).pool,
    deadlineMs,
    clock,
    timing,
  })
  t.teardown(() => engine.stop())
  return { engine, lines }
}
