import { join } from 'node:path'
import { isIPv6 } from 'node:net'
import { Problem } from '../../shared/problem/problem.ts'
import type { ApiAccess } from './api-access.ts'
import { FreshFile } from '../host/fresh-file.ts'
import { checkTls } from '../host/tls-material.ts'

/** Where kubelet puts what a pod needs to reach the API. */
export const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Access as a pod of the cluster has it (kubernetes.io, "Accessing the Kubernetes API from a Pod"): address from the
 * environment, token and authority from files that kubelet renews. Throws IPK_KUBERNETES_CONFIG.
 */
export function inClusterAccess(
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
