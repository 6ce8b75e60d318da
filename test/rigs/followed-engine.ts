import type { Engine, EngineRecord } from '../../ipkeeper-server/store/shared/engine.ts'

/** What the feed of an engine has made of the world. */
export interface HeardRecords {
  readonly records: ReadonlyMap<string, EngineRecord>
  /** How often everything was told anew. */
  readonly lists: number
  readonly trouble: string | undefined
  /** Every trouble, and "none" for each end of one. */
  readonly troubles: readonly string[]
  /** Why the engine has other data than it had, each time. */
  readonly breaks: readonly string[]
  /** What broke the rule that news of a record does not go backwards. */
  readonly faults: readonly string[]
}

/** Starts the engine. */
export function followEngine(engine: Engine): HeardRecords {
  const records = new Map<string, EngineRecord>()
  const heard = {
    records,
    lists: 0,
    trouble: undefined as string | undefined,
    troubles: [] as string[],
    breaks: [] as string[],
    faults: [] as string[],
  }
  const revisions = new Map<string, number>()
  const put = (record: EngineRecord): void => {
    const id = `${record.kind} ${record.key}`
    const before = revisions.get(id) ?? 0
    if (record.revision < before) heard.faults.push(`${id}: ${record.revision} after ${before}`)
    revisions.set(id, record.revision)
    records.set(id, record)
  }
  engine.start({
    replace: all => {
      heard.lists++
      records.clear()
      all.forEach(put)
    },
    put,
    remove: (kind, key) => {
      records.delete(`${kind} ${key}`)
    },
    broke: reason => {
      revisions.clear()
      heard.breaks.push(reason)
    },
    trouble: reason => {
      heard.trouble = reason
      heard.troubles.push(reason ?? 'none')
    },
  })
  return heard
}
