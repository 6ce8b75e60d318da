import type { Test } from 'tap'
import { openEtcdAccess, type EtcdSettings } from '../../../../ipkeeper-server/store/etcd/etcd-access.ts'
import { EtcdEngine, type EtcdEngineOptions } from '../../../../ipkeeper-server/store/etcd/etcd-engine.ts'
import type { EngineFeed, SharedKind, EngineRecord } from '../../../../ipkeeper-server/store/shared/engine.ts'

export const standardPrefix = '/ipkeeper/v1/'

/** A feed that keeps what it hears, and what it heard of each record in order. */
export class Heard implements EngineFeed {
  readonly records = new Map<string, EngineRecord>()
  /** "put KEY TEXT", "remove KEY", "replace N". */
  readonly log: string[] = []
  readonly troubles: (string | undefined)[] = []
  replaced = 0

  replace(records: readonly EngineRecord[]): void {
    this.records.clear()
    for (const record of records) this.records.set(`${record.kind} ${record.key}`, record)
    this.log.push(`replace ${records.length}`)
    this.replaced++
  }

  put(record: EngineRecord): void {
    this.records.set(`${record.kind} ${record.key}`, record)
    this.log.push(`put ${record.key} ${record.text}`)
  }

  remove(kind: SharedKind, key: string): void {
    this.records.delete(`${kind} ${key}`)
    this.log.push(`remove ${key}`)
  }

  broke(reason: string): void {
    this.log.push(`broke: ${reason}`)
  }

  trouble(reason: string | undefined): void {
    this.troubles.push(reason)
  }

  get reason(): string | undefined {
    return this.troubles.at(-1)
  }

  text(kind: SharedKind, key: string): string | undefined {
    return this.records.get(`${kind} ${key}`)?.text
  }
}

export type ConnectOptions = Partial<Omit<EtcdEngineOptions, 'access'>> & {
  readonly settings?: Omit<EtcdSettings, 'prefix'>
}

let nodes = 0

/** An engine of a node of its own, stopped with the test; it begins at the first endpoint. */
export function connectEtcd(
  t: Test,
  endpoints: readonly string[],
  { settings, prefix = standardPrefix, ...options }: ConnectOptions = {},
): EtcdEngine {
  const access = openEtcdAccess(endpoints, { prefix, ...settings }, () => performance.now())
  const engine = new EtcdEngine({ access, prefix, node: `n${++nodes}`, ...options })
  t.teardown(() => engine.stop())
  return engine
}
