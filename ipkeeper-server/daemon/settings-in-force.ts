import { Problem } from '../../shared/problem/problem.ts'
import type { DaemonConfig } from '../config/load-config.ts'
import { selectsNamespaces } from '../ipam/pools/pool-rules.ts'
import type { PoolBook, PoolSettings } from '../ipam/pools/pool-settings.ts'
import type { ApiAccess } from '../kubernetes/api-client.ts'
import type { RequestRules } from '../leases/verbs/request-reader.ts'

/** What of a configuration the verbs are served by. */
interface Terms {
  readonly pools: PoolBook
  readonly requests: RequestRules
}

/** The configuration that the verbs go by: all of one file, and the pools of objects that go with it. */
export interface SettingsInForce {
  readonly config: () => DaemonConfig
  readonly terms: () => Terms
  readonly put: (config: DaemonConfig, pools: readonly PoolSettings[]) => void
}

export function settingsInForce(config: DaemonConfig, hasApi: boolean): SettingsInForce {
  let configInForce = config
  let inForce = termsOf(config, config.pools, hasApi)
  return {
    config: () => configInForce,
    terms: () => inForce,
    put: (next, pools) => {
      configInForce = next
      inForce = termsOf(next, pools, hasApi)
    },
  }
}

export function termsOf(config: DaemonConfig, pools: readonly PoolSettings[], hasApi: boolean): Terms {
  const { retention, cooldown, preferFor } = config
  return {
    pools: { pools, standard: { retention, cooldown, preferFor, strategy: 'lowest-free' } },
    requests: {
      dialects: new Set(config.annotations),
      namespaceDefaults: config.namespaceDefaults,
      requireAnnotations: config.requireAnnotations ?? (hasApi || 'declared'),
    },
  }
}

export function wantsNamespaces({
  namespaceDefaults,
  pools,
}: Pick<DaemonConfig, 'namespaceDefaults' | 'pools'>): boolean {
  return namespaceDefaults || pools.some(({ rules }) => selectsNamespaces(rules))
}

/** Refuses what nobody could ever obey without a Kubernetes API, since every ADD would fail for it. */
export function requireApi(config: DaemonConfig, path: string, access: ApiAccess | undefined): void {
  if (access || !wantsNamespaces(config)) return
  const what = config.namespaceDefaults ? 'namespaceDefaults' : 'the "namespaceSelector" of a pool'
  throw new Problem(
    'IPK_DAEMON_CONFIG',
    `${path}: ${what} needs the Kubernetes API, and none is configured`,
    {
      hint: 'name a kubeconfig: kubernetes: { mode: kubeconfig, kubeconfig: PATH }, or take that key out',
    },
  )
}
