import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../../shared/problem/problem.ts'
import type { ApiAccess } from './api-access.ts'
import { inClusterAccess, serviceAccountFolder } from './in-cluster-access.ts'
import { kubeconfigAccess } from './kubeconfig-access.ts'

/** The section `kubernetes` of the daemon's configuration. */
export interface KubernetesSettings {
  readonly mode: 'auto' | 'in-cluster' | 'kubeconfig' | 'off'
  readonly kubeconfig?: string
  readonly context?: string
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
  /** Of the service account; kubelet's usual one when absent. */
  readonly folder?: string
}

/**
 * How the Kubernetes API is reached; undefined when it is not to be used. "auto" takes the kubeconfig that is named,
 * else the service account of the pod that this is, else nothing: without an API ipkeeper works with what the runtime
 * says. Throws IPK_KUBERNETES_CONFIG for what is named and cannot be used.
 *
 * Needs neither undici nor a connection, so that a daemon without an API loads nothing of the rest.
 */
export function chooseAccess(
  settings: KubernetesSettings,
  { env, monotonic, folder = serviceAccountFolder }: Surroundings,
): ApiAccess | undefined {
  const { mode, kubeconfig, context } = settings
  if (mode === 'off') return undefined
  if (mode === 'kubeconfig' && kubeconfig === undefined) {
    throw new Problem('IPK_KUBERNETES_CONFIG', 'kubernetes: mode is kubeconfig, but no file is named', {
      hint: 'name it: kubernetes: { mode: kubeconfig, kubeconfig: PATH }',
    })
  }
  if (mode !== 'in-cluster' && kubeconfig !== undefined) {
    return kubeconfigAccess(kubeconfig, context, monotonic)
  }
  const isPod = (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '' && existsSync(join(folder, 'token'))
  return mode === 'in-cluster' || isPod ? inClusterAccess(env, folder, monotonic) : undefined
}
