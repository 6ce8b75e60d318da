import { join } from 'node:path'
import { mustRun } from '../../test/rigs/run-program.ts'
import { makeTempFolder } from '../../test/rigs/temp-folder.ts'
import { freshAttachment } from '../attachment-requests.ts'
import { engines, type EngineName } from '../engines.ts'
import { startNode } from '../many-nodes.ts'
import { startEngine, type SharedEngine } from '../shared-engine.ts'
import { networkConfig } from '../workload.ts'
import type { MemoryFigures } from './memory.ts'

/** Bytes of a record as an engine sends it to whoever watches: the key and the value in etcd, the object in the API. */
export interface RecordBytes {
  readonly lease: number
  readonly holder: number
}

/** What the model takes from measurements, and where they are from. */
export interface Measured {
  readonly node: string
  readonly memory: readonly MemoryFigures[]
  /** Engines that were not there are left out. */
  readonly recordBytes: Readonly<Partial<Record<EngineName, RecordBytes>>>
}

const sampled = 20

interface Range {
  readonly kvs?: readonly { readonly key: string; readonly value: string }[]
}

async function etcdBytes(url: string): Promise<RecordBytes> {
  const body = JSON.stringify({ key: btoa('/'), range_end: btoa('0') })
  const reply = await fetch(`${url}/v3/kv/range`, { method: 'POST', body })
  const { kvs = [] } = (await reply.json()) as Range
  const mean = (kind: string): number => {
    const own = kvs.filter(({ key }) => atob(key).includes(`/${kind}`))
    const bytes = own.reduce((sum, { key, value }) => sum + atob(key).length + atob(value).length, 0)
    return Math.round(bytes / own.length)
  }
  return { lease: mean('lease'), holder: mean('holder') }
}

async function objectBytes({ cluster }: SharedEngine): Promise<RecordBytes> {
  const mean = async (plural: string): Promise<number> => {
    const list = await cluster?.request('GET', `/apis/ipkeeper.io/v1alpha1/${plural}`)
    const items = list?.['items'] as readonly object[]
    return Math.round(items.reduce((sum, item) => sum + JSON.stringify(item).length, 0) / items.length)
  }
  return { lease: await mean('ipleases'), holder: await mean('ipholders') }
}

/** Real records that a real daemon has made by ADDs. */
export async function measureRecordBytes(name: EngineName): Promise<RecordBytes> {
  const folder = makeTempFolder()
  const engine = await startEngine(name, folder)
  try {
    const daemon = await startNode(folder, engine, 0)
    const { socket, stateDir } = daemon.home
    const places = { socket, stateDir, dataDir: '' }
    const config = {
      ...networkConfig('ipkeeper', places),
      runtimeConfig: { 'io.kubernetes.cri.pod-annotations': {} },
    }
    for (let pod = 0; pod < sampled; pod++)
      await daemon.client.post('/v1/cni/add', freshAttachment(config).add)
    const bytes = await (name === 'etcd' ? etcdBytes(engine.store.slice(5)) : objectBytes(engine))
    await daemon.stop()
    return bytes
  } finally {
    await engine.stop()
    folder.remove()
  }
}

export async function measure(progress: (line: string) => void): Promise<Measured> {
  const memory: MemoryFigures[] = []
  for (const pods of [10_000, 20_000, 100_000]) {
    progress(`memory of a daemon that knows ${pods} pods`)
    const script = join(import.meta.dirname, 'memory.ts')
    // Its young generation as small as that of the packaged daemon.
    const options = ['--expose-gc', '--max-semi-space-size=2']
    const text = await mustRun(process.execPath, [...options, script, String(pods)])
    memory.push(JSON.parse(text) as MemoryFigures)
  }
  const recordBytes: Partial<Record<EngineName, RecordBytes>> = {}
  for (const name of engines) {
    progress(`size of records in ${name}`)
    recordBytes[name] = await measureRecordBytes(name)
  }
  return { node: process.version, memory, recordBytes }
}
