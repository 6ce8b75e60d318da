import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isIPv6 } from 'node:net'
import { Problem } from '../../shared/problem/problem.ts'
import type { ApiAccess } from './api-client.ts'
import { kubeconfigAccess } from './kubeconfig.ts'
import { FreshFile } from '../host/fresh-file.ts'
import { checkTls } from '../host/tls-material.ts'

/** The section `kubernetes` of the daemon's configuration. */
export interface KubernetesSettings {
  readonly mode: 'auto' | 'in-cluster' | 'kubeconfig' | 'off'
  readonly kubeconfig?: string
  readonly context?: string
}

interface Surroundings {
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

/** Where kubelet puts what a pod needs to reach the API. */
const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Access as a pod of the cluster has it (kubernetes.io, "Accessing the Kubernetes API from a Pod"): address from the
 * environment, token and authority from files that kubelet renews. Throws IPK_KUBERNETES_CONFIG.
 */
function inClusterAccess(
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
  monotonic: () => number,
): ApiAccess {
  const source = `service account in ${folder}`
  const host = env['KUBERNETES_SERVICE_HOST'] ?? ''
  const port = env['KUBERNETES_SERVICE_PORT'] ?? ''
  for (const [name, value] of Object.entries({
    KUBERNETES_SERVICE_HOST: host,
    KUBERNETES_SERVICE_PORT: port,
  })) {
    if (value === '') {
      throw new Problem('IPK_KUBERNETES_CONFIG', `${name} is not set, so this is no pod of a cluster`, {
        hint: 'run ipkeeper-server in a pod, or name a kubeconfig: kubernetes: { kubeconfig: PATH }',
      })
    }
  }
  if (!/^[A-Za-z0-9.:-]+$/.test(host) || !/^[1-9][0-9]{0,4}$/.test(port)) {
    throw new Problem(
      'IPK_KUBERNETES_CONFIG',
      `KUBERNETES_SERVICE_HOST ${JSON.stringify(host)} and KUBERNETES_SERVICE_PORT ${JSON.stringify(port)} are not a host and a port`,
    )
  }
  const token = new FreshFile(join(folder, 'token'), 'token', monotonic, 'IPK_KUBERNETES_CONFIG')
  const authority = new FreshFile(
    join(folder, 'ca.crt'),
    'certificate authority',
    monotonic,
    'IPK_KUBERNETES_CONFIG',
  )
  checkTls({ ca: authority.read(false) }, authority.path, 'IPK_KUBERNETES_CONFIG')
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    source,
    secrets: again => ({ token: token.read(again).trim(), tls: { ca: authority.read(again) } }),
  }
}
