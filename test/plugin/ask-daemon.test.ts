import t from 'tap'
import type { DoneReply } from '../../shared/api/cni.schema.ts'
import { askDaemon, DaemonRefusal, UnusableReply } from '../../plugin/ask-daemon.ts'
import type { TimeLimits } from '../../plugin/time-limits.ts'
import { ExchangeError, type ExchangeFault, type HttpReply } from '../../plugin/exchange.ts'
import { validateDoneReply } from '../../plugin/validators.generated.ts'

const done: DoneReply = { requestId: 'r-1', stateDir: '/var/lib/ipkeeper' }
const refusal = {
  code: 'IPK_ADDRESS_HELD',
  message: 'held',
  hint: '',
  retryable: false,
  cniCode: 101,
  details: '',
  requestId: 'r-2',
  stateDir: '/var/lib/ipkeeper',
}

/** What one try brings, and how many milliseconds it takes. */
interface Try {
  readonly fault?: ExchangeFault
  readonly reply?: readonly [status: number, body: unknown]
  readonly takesMs?: number
}

interface Told {
  readonly outcome: unknown
  readonly tries: number
  readonly bodies: readonly string[]
  readonly elapsedMs: number
}

/** Asks a daemon that behaves as the list says, the last entry for ever, on a clock that only the tries move. */
async function ask(tries: readonly Try[], limits: TimeLimits): Promise<Told> {
  let nowMs = 1000
  const bodies: string[] = []
  const outcome = await askDaemon(
    {
      now: () => nowMs,
      sleep: ms => {
        nowMs += ms
        return Promise.resolve()
      },
      exchange: ({ body, timeoutMs }) => {
        const { fault, reply, takesMs = 1 } = tries[Math.min(bodies.length, tries.length - 1)] ?? {}
        bodies.push(body)
        nowMs += Math.min(takesMs, timeoutMs)
        if (takesMs > timeoutMs) return Promise.reject(new ExchangeError('late', 'the time was up'))
        if (fault !== undefined) return Promise.reject(new ExchangeError(fault, `it is ${fault}`))
        const [status, value] = reply ?? [200, done]
        const text = typeof value === 'string' ? value : JSON.stringify(value)
        return Promise.resolve<HttpReply>({ status, body: Buffer.from(text) })
      },
    },
    {
      verb: 'ADD',
      path: '/v1/cni/add',
      socket: '/s',
      body: '{"n":1}',
      limits,
      validate: validateDoneReply,
    },
  ).catch((reason: unknown) => reason)
  return { outcome, tries: bodies.length, bodies, elapsedMs: nowMs - 1000 }
}

const generous: TimeLimits = { totalMs: 60_000, reachMs: 10_000 }

t.test('answers', async t => {
  t.same((await ask([{}], generous)).outcome, done)
  const held = await ask([{ reply: [409, refusal] }], generous)
  t.ok(held.outcome instanceof DaemonRefusal)
  t.match(held.outcome, { reply: refusal })
  t.equal(held.tries, 1, 'a refusal is final')
})

t.test('a daemon that is away is tried again, with the same body', async t => {
  for (const fault of ['missing', 'refused', 'lost'] as const) {
    const told = await ask([{ fault }, { fault }, { fault: 'refused' }, {}], generous)
    t.same(told.outcome, done, fault)
    t.equal(told.tries, 4, fault)
    t.equal(new Set(told.bodies).size, 1, fault)
  }
})

t.test('but only for so long', async t => {
  const cases: readonly [fault: ExchangeFault, code: string, message: string][] = [
    ['missing', 'IPK_DAEMON_UNREACHABLE', 'cannot reach ipkeeper-server on /s: it is missing'],
    ['refused', 'IPK_DAEMON_UNREACHABLE', 'cannot reach ipkeeper-server on /s: it is refused'],
    ['lost', 'IPK_DAEMON_REPLY_INVALID', 'ipkeeper-server on /s broke off: it is lost'],
  ]
  for (const [fault, code, message] of cases) {
    const told = await ask([{ fault }], generous)
    t.match(told.outcome, { code, message }, fault)
    t.ok(told.elapsedMs <= 10_100 && told.elapsedMs >= 9_000, `${fault} after ${told.elapsedMs} ms`)
    t.ok(told.tries > 10 && told.tries < 60, `${fault}: ${told.tries} tries`)
    const hasty = await ask([{ fault }], { totalMs: 60_000, reachMs: 0 })
    t.equal(hasty.tries, 1, `${fault}: no second try without time for it`)
    const short = await ask([{ fault }], { totalMs: 300, reachMs: 10_000 })
    t.ok(short.elapsedMs <= 300, `${fault}: the total bounds it too`)
  }
})

t.test('what to type where no daemon answers, whether it is a unit or a DaemonSet', async t => {
  for (const fault of ['missing', 'refused'] as const) {
    const { outcome } = await ask([{ fault }], generous)
    t.match(outcome, {
      hint: /^systemctl restart ipkeeper, then see: ipkeeperctl status --socket \/s; .* DaemonSet: kubectl get pods -A /,
    })
  }
})

t.test('the time to reach it counts from when it went away', async t => {
  const told = await ask([{ takesMs: 20_000, fault: 'lost' }, { fault: 'refused' }, {}], generous)
  t.same(told.outcome, done)
})

t.test('no second try where it would not help', async t => {
  for (const fault of ['forbidden', 'unusable', 'exhausted', 'malformed'] as const) {
    const told = await ask([{ fault }, {}], generous)
    t.equal(told.tries, 1, fault)
    const code = fault === 'malformed' ? 'IPK_DAEMON_REPLY_INVALID' : 'IPK_DAEMON_UNREACHABLE'
    t.match(told.outcome, { code }, fault)
  }
  const late = await ask([{ takesMs: 100_000 }], generous)
  t.match(late.outcome, {
    code: 'IPK_DAEMON_TIMEOUT',
    message: 'ipkeeper-server on /s did not answer ADD within 60 s',
  })
  t.equal(late.elapsedMs, 60_000)
})

t.test('replies that cannot be used', async t => {
  const prefix = 'what answered on /s is no reply of ipkeeper-server: '
  const cases: readonly [status: number, body: unknown, why: string, mayHaveDone: boolean][] = [
    [200, '', 'status 200, no JSON: unexpected end of JSON input at line 1 column 1', true],
    [200, null, 'status 200, the body must be object', true],
    [200, {}, "status 200, the body must have required property 'requestId'", true],
    [200, { ...done, stateDir: 1 }, 'status 200, the body/stateDir must be string', true],
    [200, '<html>', 'status 200, no JSON: unexpected "<" where a value is expected at line 1 column 1', true],
    [500, {}, "status 500, the body must have required property 'code'", false],
    [500, '', 'status 500, no JSON: unexpected end of JSON input at line 1 column 1', false],
    [404, { ...refusal, cniCode: 0 }, 'status 404, the body/cniCode must be >= 100', false],
    // Runtimes need not send a DEL after it.
    [404, { ...refusal, cniCode: 3 }, 'status 404, the body/cniCode must be >= 100', false],
    [302, done, "status 302, the body must have required property 'code'", false],
  ]
  for (const [status, body, why, mayHaveDone] of cases) {
    const { outcome, tries } = await ask([{ reply: [status, body] }, {}], generous)
    t.match(outcome, { code: 'IPK_DAEMON_REPLY_INVALID', message: prefix + why }, why)
    t.equal(outcome instanceof UnusableReply, mayHaveDone, why)
    t.equal(tries, 1)
  }
})
