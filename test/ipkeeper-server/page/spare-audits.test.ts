import t from 'tap'
import { SpareAudits } from '../../../ipkeeper-server/page/spare-audits.ts'

t.test('of audits at a time, and of a few seconds, one is made', async t => {
  let at = 0
  let status = 200
  const asked: string[] = []
  const audits = new SpareAudits(
    async url => {
      await Promise.resolve()
      asked.push(url)
      return { status, body: String(asked.length) }
    },
    () => at,
  )
  const table: readonly [what: string, after: number, status: number, urls: string[], bodies: string[]][] = [
    ['at a time', 0, 200, ['/v1/audit', '/v1/audit', '/v1/audit?x=1'], ['1', '1', '1']],
    ['seconds later', 2_999, 200, ['/v1/audit', '/v1/audit?y'], ['1', '1']],
    ['later', 1, 500, ['/v1/audit', '/v1/audit'], ['2', '2']],
    ['after a failure', 0, 200, ['/v1/audit'], ['3']],
    ['other paths', 0, 200, ['/v1/pools', '/v1/pools', '/v1/auditors'], ['4', '5', '6']],
  ]
  for (const [what, after, next, urls, bodies] of table) {
    at += after
    status = next
    const replies = await Promise.all(urls.map(audits.ask))
    t.strictSame(
      replies.map(({ body }) => body),
      bodies,
      what,
    )
  }
})

t.test('one that throws is not remembered', async t => {
  let asked = 0
  const audits = new SpareAudits(
    () => (++asked === 1 ? Promise.reject(new Error('no')) : Promise.resolve({ status: 200, body: '' })),
    () => 0,
  )
  await t.rejects(audits.ask('/v1/audit'))
  t.equal((await audits.ask('/v1/audit')).status, 200)
})

t.test('when what is wrong has changed, an audit of before is of no use', async t => {
  let asked = 0
  const ends: (() => void)[] = []
  const audits = new SpareAudits(
    async () => {
      const body = String(++asked)
      await new Promise<void>(resolve => ends.push(resolve))
      return { status: 200, body }
    },
    () => 0,
  )
  const early = audits.ask('/v1/audit')
  audits.forget()
  const [late, later] = [audits.ask('/v1/audit'), audits.ask('/v1/audit')]
  for (const end of ends) end()
  const replies = await Promise.all([early, late, later, audits.ask('/v1/audit')])
  t.strictSame(
    replies.map(({ body }) => body),
    ['1', '2', '2', '2'],
  )
})
