import { Problem } from '../../shared/problem/problem.ts'
import type { CheckConfig } from '../http/routes/config.ts'
import type { ApiAccess } from '../kubernetes/api-client.ts'
import { planPools } from '../leases/verbs/apply-pools.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import type { DaemonFrame } from './daemon-frame.ts'
import { requireApi } from './settings-in-force.ts'

/** Says of a file what putting it in force would say. */
export function configJudge(
  { watched }: Pick<DaemonFrame, 'watched'>,
  service: LeaseService,
  access: ApiAccess | undefined,
): CheckConfig {
  return async ({ text, path }) => {
    const nothing = { atStart: [], added: [], changed: [], removed: [], notes: [] }
    try {
      const { config, atStart } = watched.judge(text, path)
      // A change of the access itself is taken at a start alone, which has another one.
      if (!atStart.some(key => key.startsWith('kubernetes'))) requireApi(config, path, access)
      await service.ledger.settle()
      const { added, changed, removed, notes } = planPools(service, config.pools, watched.current.pools)
      return {
        ...{ refused: null, atStart: [...atStart], added: [...added], changed: [...changed] },
        ...{ removed: [...removed], notes: [...notes] },
      }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const { code, message, details, hint } = error
      return { ...nothing, refused: { code, message, details, hint } }
    }
  }
}
