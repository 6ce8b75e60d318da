import t from 'tap'
import type { EngineRecord, SharedRecordName } from '../../../../ipkeeper-server/store/shared/engine.ts'
import { KnownRecords } from '../../../../ipkeeper-server/store/shared/known-records.ts'

const lease = (text: string, revision: number): EngineRecord => ({ kind: 'lease', key: 'a', text, revision })
const name: SharedRecordName = { kind: 'lease', key: 'a' }

interface Site {
  readonly known: KnownRecords
  /** What others were told, the first first; null: it is gone. */
  readonly told: (string | null)[]
  /** Answers of the engine, the next first; each is given when its promise resolves. */
  readonly answers: Promise<EngineRecord | undefined>[]
  isChanging: boolean
}

function makeSite(): Site {
  const [told, answers]: [(string | null)[], Promise<EngineRecord | undefined>[]] = [[], []]
  const site: { known?: KnownRecords; isChanging: boolean } = { isChanging: false }
  const known = new KnownRecords({
    engine: { read: async () => await answers.shift() },
    isChanging: () => site.isChanging,
    onContact: () => undefined,
    onChange: (_, text) => told.push(text),
  })
  return Object.assign(site, { known, told, answers })
}

/** What is known when nothing waits any more. */
async function settled({ known }: Site): Promise<string | undefined> {
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  return known.get(name)?.text
}

const losses: readonly {
  readonly name: string
  /** Up to the list of an engine that has lost records, and what is done after it. */
  readonly play: (site: Site) => Promise<unknown>
  readonly known: string | undefined
}[] = [
  {
    name: 'an older version than it had',
    play: async ({ known }) => {
      known.hear(lease('lost', 9))
      known.replace([lease('restored', 3)], true)
      return Promise.resolve()
    },
    known: 'restored',
  },
  {
    name: 'a record that was read before it, and is told after it',
    play: async ({ known, answers }) => {
      const late = Promise.withResolvers<EngineRecord>()
      answers.push(late.promise, Promise.resolve(lease('restored', 3)))
      const reading = known.ask(name)
      await Promise.resolve()
      known.replace([lease('restored', 3)], true)
      late.resolve(lease('lost', 9))
      await reading
    },
    known: 'restored',
  },
  {
    name: 'news of before it that wait for whoever changes the record: it is gone',
    play: async site => {
      const { known } = site
      site.isChanging = true
      known.hear(lease('lost', 9))
      known.replace([], true)
      site.isChanging = false
      known.unstash('lease a')
      return Promise.resolve()
    },
    known: undefined,
  },
  {
    name: 'news of before it that wait for whoever changes the record: it is older',
    play: async site => {
      const { known } = site
      site.isChanging = true
      known.hear(lease('lost', 9))
      known.replace([lease('restored', 3)], true)
      site.isChanging = false
      known.unstash('lease a')
      return Promise.resolve()
    },
    known: 'restored',
  },
]

for (const { name, play, known } of losses)
  t.test(`the list of an engine that has lost records: ${name}`, async t => {
    const site = makeSite()
    await play(site)
    t.equal(await settled(site), known)
    t.equal(site.told.at(-1), known, 'and that is what others were told last')
  })

t.test('whoever goes by a guard can wait for news of leases that are held back', async t => {
  const site = makeSite()
  const { known } = site
  await known.passedOn('lease')
  site.isChanging = true
  known.hear({ kind: 'holder', key: 'h', text: 'held back', revision: 2 })
  t.notOk(known.holdsBack('lease'))
  known.hear(lease('of another node', 2))
  t.ok(known.holdsBack('lease'))
  let isOver = false
  const waiting = known.passedOn('lease').then(() => {
    isOver = true
  })
  await settled(site)
  t.notOk(isOver, 'while somebody here changes it')
  site.isChanging = false
  known.unstash('lease a')
  await waiting
  t.equal(known.get(name)?.text, 'of another node')
  t.notOk(known.holdsBack('lease'))
})
