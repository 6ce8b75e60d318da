import t from 'tap'
import { EngineLosses } from '../../../../ipkeeper-server/store/shared/engine-losses.ts'
import { KnownRecords } from '../../../../ipkeeper-server/store/shared/known-records.ts'
import { EngineDouble } from '../../../rigs/engine-double.ts'
import { until } from '../../../rigs/poll.ts'

t.test(
  'a node whose record is lost is waited for, also where another node was quicker to say so',
  async t => {
    const site = new EngineDouble()
    const record = (name: string): string =>
      JSON.stringify({ generation: 1, name, addresses: [], since: 0, epoch: 1 })
    for (const name of ['n1', 'n2']) site.put('node', name, record(name))
    const engine = site.connect()
    const known = new KnownRecords({
      ...{ engine, isChanging: () => false, onContact: () => undefined, onChange: () => undefined },
    })
    const losses = new EngineLosses({
      ...{ engine, known, node: 'n1', isOwn: name => name === 'n1', now: () => 0, isOffline: false },
      ...{ note: () => undefined, onLoss: () => undefined, onChange: () => undefined },
    })
    let lists = 0
    engine.start({
      replace: (records, position) => {
        const reason = losses.judge(records, position, () => new Map())
        if (reason !== undefined) losses.lost(reason, records)
        known.replace(records, reason !== undefined)
        losses.heardAll(false)
        lists++
      },
      put: news => {
        known.hear(news)
      },
      remove: (kind, key) => {
        known.hear({ kind, key })
      },
      broke: reason => {
        losses.broke(reason)
      },
      trouble: () => undefined,
    })
    await until('all is heard', () => lists === 1)
    t.ok(losses.isWhole(), 'nobody is waited for')
    site.restore()
    await until('the loss is heard of', () => lists === 2)
    engine.turn({ deaf: true })
    site.put('node', 'n2', record('n2'))
    await losses.report(false)
    t.match(losses.status(), { state: 'incomplete', waitsFor: ['n2'] })
  },
)
