import t from 'tap'
import { openEtcdAccess } from '../../ipkeeper-server/store/etcd/etcd-access.ts'
import { EtcdEngine } from '../../ipkeeper-server/store/etcd/etcd-engine.ts'
import type { EngineRecord } from '../../ipkeeper-server/store/shared/engine.ts'
import { startEtcdCluster } from '../rigs/etcd.ts'
import { missing } from '../rigs/requirements.ts'
import { historyArchiveContract } from './history-archive-contract.ts'

t.test('histories in etcd', { skip: missing('etcd') }, async t => {
  const etcd = await startEtcdCluster(t)
  let places = 0
  const open = (prefix: string): EtcdEngine => {
    const access = openEtcdAccess(etcd.urls, { prefix }, () => performance.now())
    const engine = new EtcdEngine({ access, prefix, node: 'n1' })
    t.teardown(() => engine.stop())
    return engine
  }

  historyArchiveContract(t, () => Promise.resolve(open(`/place-${++places}/`).history))

  t.test('who follows the records hears of none of it', async t => {
    const engine = open('/followed/')
    const put = (first: number): Promise<void> =>
      engine.history.put({
        ...{ node: 'n1', stretch: 'aa', first, from: 1, last: 1, to: 1, entries: 1, data: '' },
      })
    await put(1)
    const heard: (EngineRecord | string)[] = []
    const listed = Promise.withResolvers<readonly EngineRecord[]>()
    const written = Promise.withResolvers<EngineRecord>()
    engine.start({
      replace: records => {
        listed.resolve(records)
      },
      broke: reason => heard.push(reason),
      put: record => {
        written.resolve(record)
      },
      remove: (_, key) => heard.push(key),
      trouble: reason => reason !== undefined && heard.push(reason),
    })
    t.strictSame(await listed.promise, [])
    await put(2)
    const other = open('/followed/')
    const records = Promise.withResolvers<undefined>()
    other.start({
      replace: () => {
        records.resolve(undefined)
      },
      ...{ broke: () => undefined, put: () => undefined, remove: () => undefined, trouble: () => undefined },
    })
    await records.promise
    await other.commit([{ kind: 'pool', key: 'net', base: null, text: '{"name":"net"}' }])
    t.match(await written.promise, { kind: 'pool', key: 'net' }, 'the record that came after it')
    t.strictSame(heard, [])
  })
})
