import { shellLine } from '../../shared/text/shell-word.ts'
import type { NodeSnapshot } from './plan-snapshot.ts'
import type { Suspicion } from './plan-suspicion.ts'

/** Whoever compares what is with what the file says would be misled. */
export function suspectConfig({ refusedConfig }: NodeSnapshot): readonly Suspicion[] {
  if (!refusedConfig) return []
  const { path, message, loadedAt, remedy } = refusedConfig
  return [
    {
      kind: 'configuration-refused',
      key: `config ${message}`,
      says: `${path} is not in force: ${message}`,
      why: `what is in force was loaded at ${new Date(loadedAt).toISOString()}`,
      remedy,
      about: {},
      action: { kind: 'none' },
      certainty: { by: 'proof', age: Infinity },
    },
  ]
}

/** The same, of the spec of an IPPool. */
export function suspectPools({ refusedPools = [] }: NodeSnapshot): readonly Suspicion[] {
  return refusedPools.map(({ says, next }) => ({
    kind: 'ippool-refused',
    key: `ippool ${says}`,
    says,
    why: 'every node keeps the earlier spec in force',
    remedy: shellLine(next),
    about: {},
    action: { kind: 'none' },
    certainty: { by: 'proof', age: Infinity },
  }))
}
