import type { CacheFileItem } from '../../shared/api/cache.schema.ts'
import type { PlannedRepair } from './plan/plan-repair.ts'
import type { BadFile } from './scan-cache.ts'

/** A bad file as the API and ipkeeperctl tell of it. */
export function badFileItem(
  { path, kind, reason, detail, sandbox, size, modifiedAt, own }: BadFile,
  { plan, because }: PlannedRepair,
): CacheFileItem {
  return {
    path: path.toString(),
    kind,
    reason,
    detail,
    network: sandbox.network ?? null,
    containerId: sandbox.containerId ?? null,
    ifname: sandbox.ifname ?? null,
    size,
    modifiedAt: modifiedAt === null ? null : new Date(modifiedAt).toISOString(),
    own,
    plan,
    because,
  }
}
