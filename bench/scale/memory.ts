/**
 * What a node's daemon keeps in memory of a whole cluster: the real store and the real ledger, fed by an engine that only
 * hands over records.
 *
 *   node --expose-gc bench/scale/memory.ts PODS    prints one MemoryFigures as JSON
 */
import { join } from 'node:path'
import { Ledger } from '../../ipkeeper-server/leases/ledger/ledger.ts'
import type { Engine, EngineFeed } from '../../ipkeeper-server/store/shared/engine.ts'
import { SharedStore } from '../../ipkeeper-server/store/shared/shared-store.ts'
import { SqliteStore } from '../../ipkeeper-server/store/sqlite/sqlite-store.ts'
import { makeTempFolder } from '../../test/rigs/temp-folder.ts'
import { sampleRecords } from './sample-records.ts'

/** Heaps in bytes above that of an empty daemon. */
export interface MemoryFigures {
  readonly pods: number
  /** JSON of the records. */
  readonly textBytes: number
  /** After the start: leases were parsed for the indexes, and are text again. */
  readonly afterStart: number
  /** After each record was heard of once more, as after days. */
  readonly afterChanges: number
  readonly residentMebibytes: number
  readonly startMs: number
}

const pods = Number(process.argv[2])
const place = {
  ...{ network: 'pods', pool: 'pods', base: 0x0a100000n, prefixLength: 12 },
  node: (pod: number) => `worker-${(pod % 1000) + 1}`,
}

function heap(): number {
  for (let round = 0; round < 3; round++) globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

class HandingOver implements Engine {
  readonly kind = 'etcd'
  readonly location = 'nowhere'
  readonly ignores = []
  readonly fences = true
  feed: EngineFeed | undefined

  start(feed: EngineFeed): void {
    this.feed = feed
    const records = Array.from(sampleRecords(place, pods), (record, index) => ({
      ...record,
      revision: index + 1,
    }))
    feed.replace(records, { revision: records.length })
  }

  read = (): Promise<undefined> => Promise.resolve(undefined)
  commit = (): Promise<[]> => Promise.resolve([])
  probe = (): Promise<void> => Promise.resolve()
  fence = (): Promise<void> => Promise.resolve()
  stop = (): Promise<void> => Promise.resolve()
}

const folder = makeTempFolder()
const engine = new HandingOver()
let textBytes = 0
for (const { text } of sampleRecords(place, pods)) textBytes += text.length
const before = heap()
const begun = performance.now()
const store = new SharedStore({
  ...{ engine, journal: SqliteStore.open(join(folder.path, 'journal.db')), names: () => ['worker-1'] },
  ...{ now: Date.now, monotonic: () => performance.now(), bootId: 'boot-1' },
  ...{ onStatus: () => undefined, onLost: () => undefined },
})
const ledger = await Ledger.open(store, Date.now, 'worker-1')
const startMs = Math.round(performance.now() - begun)
const afterStart = heap() - before
let revision = 2 * pods
for (const record of sampleRecords(place, pods)) engine.feed?.put({ ...record, revision: ++revision })
const afterChanges = heap() - before
const residentMebibytes = Math.round(process.memoryUsage().rss / 2 ** 20)
if (ledger.counts().lease !== pods) throw new Error('not all of it was loaded')
await store.close()
folder.remove()
const figures: MemoryFigures = { pods, textBytes, afterStart, afterChanges, residentMebibytes, startMs }
console.log(JSON.stringify(figures))
