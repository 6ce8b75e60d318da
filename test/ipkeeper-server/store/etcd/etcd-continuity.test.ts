import t from 'tap'
import { EtcdContinuity } from '../../../../ipkeeper-server/store/etcd/etcd-continuity.ts'

interface Case {
  readonly name: string
  /** Of an answer before. */
  readonly known: number
  /** Heard of by the watch since. */
  readonly watched?: number
  readonly answer: { readonly cluster: string; readonly revision: number }
  readonly breaks: RegExp | undefined
}

const cases: readonly Case[] = [
  { name: 'it goes on', known: 7, answer: { cluster: '1', revision: 9 }, breaks: undefined },
  { name: 'nothing was written', known: 7, answer: { cluster: '1', revision: 7 }, breaks: undefined },
  { name: 'it went back', known: 7, answer: { cluster: '1', revision: 6 }, breaks: /from revision 7 to 6/ },
  {
    name: 'it went back to what was known, and not to what the watch told',
    ...{ known: 1000, watched: 1500, answer: { cluster: '1', revision: 1200 }, breaks: /from revision 1500/ },
  },
  {
    name: 'another cluster, however far it is',
    ...{ known: 7, answer: { cluster: '2', revision: 90 }, breaks: /another cluster \(ID 2\)/ },
  },
]

for (const { name, known, watched, answer, breaks } of cases) {
  t.test(name, t => {
    const reasons: string[] = []
    const continuity = new EtcdContinuity(reason => reasons.push(reason))
    t.ok(continuity.holds({ cluster: '1', revision: known }, continuity.begin()))
    if (watched !== undefined) continuity.passed(watched)
    t.equal(continuity.holds(answer, continuity.begin()), breaks === undefined)
    t.match(reasons, breaks ? [breaks] : [])
    t.ok(continuity.holds(answer, continuity.begin()), 'from here on that is what is known')
    t.end()
  })
}

t.test('an answer that was asked for before a break', t => {
  const reasons: string[] = []
  const continuity = new EtcdContinuity(reason => reasons.push(reason))
  continuity.holds({ cluster: '1', revision: 7 }, continuity.begin())
  const before = continuity.begin()
  continuity.holds({ cluster: '1', revision: 3 }, continuity.begin())
  t.notOk(continuity.holds({ cluster: '1', revision: 9 }, before), 'is none, wherever it comes from')
  t.equal(reasons.length, 1, 'and no further break')
  t.end()
})
