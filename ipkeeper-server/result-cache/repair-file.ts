import type { AttachmentKey } from '../ipam/records/records.ts'
import type { FileCalls } from './file-calls.ts'
import type { CachePlan, PlannedRepair } from './plan/plan-repair.ts'
import type { Quarantine } from './quarantine.ts'
import { FileChanged, replaceUnchanged } from './unchanged-file.ts'
import type { BadFile } from './scan-cache.ts'
import type { CacheFileItem } from '../../shared/api/cache.schema.ts'

/** left: it changed, or its attachment has gone, since it was judged; whoever did that is to be left alone. */
export type Repaired =
  | { readonly done: 'rewritten' }
  /** `name`: of the file in quarantine. */
  | { readonly done: 'quarantined'; readonly name: string }
  | { readonly done: 'left'; readonly why: string }

interface RepairTools {
  readonly quarantine: Quarantine
  /** What libcni would have written for an attachment; undefined when that cannot be told (any more). */
  readonly cachedResult: (key: AttachmentKey) => Promise<string | undefined>
  readonly calls?: FileCalls
}

/** Carries a plan out. Rejects with what the system says; then the file is as it was. */
export async function repairFile(file: BadFile, plan: CachePlan, tools: RepairTools): Promise<Repaired> {
  const { path, identity, attachment } = file
  if (plan === 'report' || !identity) return { done: 'left', why: 'it is only reported' }
  try {
    if (plan === 'quarantine') {
      const name = await tools.quarantine.take({ ...file, identity }, file)
      return { done: 'quarantined', name }
    }
    const text = attachment && (await tools.cachedResult(attachment))
    if (text === undefined) return { done: 'left', why: 'its attachment has gone' }
    await replaceUnchanged(path, identity, text, tools.calls)
    return { done: 'rewritten' }
  } catch (error) {
    if (error instanceof FileChanged) return { done: 'left', why: error.message }
    throw error
  }
}

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
