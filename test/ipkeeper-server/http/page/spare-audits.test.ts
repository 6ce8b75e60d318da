import t from 'tap'
import { SpareAudits } from '../../../../ipkeeper-server/http/page/spare-audits.ts'

const rest = 100

t.test('of audits at a time one is made, and none too soon after another', async t => {
  let status = 200
  const began: number[] = []
  const audits = new SpareAudits(async url => {
    await Promise.resolve()
    if (url === '/v1/audit') began.push(performance.now())
    return { status, body: `${url} ${began.length}` }
  }, rest)
  const table: readonly [what: string, status: number, urls: string[], bodies: string[]][] = [
    [
      'at a time',
      200,
      ['/v1/audit', '/v1/audit', '/v1/audit?x=1'],
      ['/v1/audit 1', '/v1/audit 1', '/v1/audit 1'],
    ],
    ['at once again: a new one', 200, ['/v1/audit', '/v1/audit?y'], ['/v1/audit 2', '/v1/audit 2']],
    ['that fails', 500, ['/v1/audit'], ['/v1/audit 3']],
    ['after a failure', 200, ['/v1/audit'], ['/v1/audit 4']],
    [
      'other paths',
      200,
      ['/v1/pools', '/v1/pools', '/v1/auditors'],
      ['/v1/pools 4', '/v1/pools 4', '/v1/auditors 4'],
    ],
  ]
  // What waits its turn keeps no process alive.
  const alive = setInterval(() => undefined, 1000)
  t.teardown(() => {
    clearInterval(alive)
  })
  for (const [what, next, urls, bodies] of table) {
    status = next
    const replies = await Promise.all(urls.map(audits.ask))
    t.strictSame(
      replies.map(({ body }) => body),
      bodies,
      what,
    )
  }
  const pauses = began.slice(1).map((at, index) => at - (began[index] ?? 0))
  t.ok(
    pauses.every(pause => pause >= rest - 2),
    pauses.join(' '),
  )
})

t.test('one that throws is not remembered', async t => {
  let asked = 0
  const audits = new SpareAudits(
    () => (++asked === 1 ? Promise.reject(new Error('no')) : Promise.resolve({ status: 200, body: '' })),
    0,
  )
  await t.rejects(audits.ask('/v1/audit'))
  t.equal((await audits.ask('/v1/audit')).status, 200)
})

t.test('when what is wrong has changed, an audit of before is of no use', async t => {
  let asked = 0
  const ends: (() => void)[] = []
  const audits = new SpareAudits(async () => {
    const body = String(++asked)
    await new Promise<void>(resolve => ends.push(resolve))
    return { status: 200, body }
  }, 0)
  const early = audits.ask('/v1/audit')
  audits.forget()
  const [late, later] = [audits.ask('/v1/audit'), audits.ask('/v1/audit')]
  for (const end of ends) end()
  const replies = await Promise.all([early, late, later])
  t.strictSame(
    replies.map(({ body }) => body),
    ['1', '2', '2'],
  )
})
