import fc from 'fast-check'
import { ExchangeError, type ExchangeFault, type HttpReply } from '../../../plugin/exchange.ts'
import { catalogue, type ProblemCode } from '../../../shared/problem/catalogue.ts'
import { changed, damaged, print, written, type Written } from './json-text.ts'
import { oddText } from './odd-text.ts'

/**
 * What the daemon, or whoever stands on its socket, does with one request:
 *   good    what it says when all is well      shape   a Result in the shape of another version than it names
 *   reply   this reply                         fault   the connection fails so
 *   hang    nothing until the time is up       bug     something escapes that nobody knows
 */
export type Act =
  | { readonly does: 'good' }
  | { readonly does: 'hang' }
  | { readonly does: 'shape'; readonly of: string }
  | { readonly does: 'reply'; readonly status: number; readonly body: string | Uint8Array }
  | { readonly does: 'fault'; readonly fault: ExchangeFault }
  | { readonly does: 'bug'; readonly text: string }

export interface Asked {
  /** Path of the URL. */
  readonly path: string
  /** The version to answer in. */
  readonly cniVersion: string
}

const done = { requestId: 'r-1', stateDir: '/var/lib/ipkeeper' }

function resultIn(shape: string, cniVersion: string): object {
  if (shape === '0.1.0' || shape === '0.2.0')
    return { cniVersion, ip4: { ip: '10.22.0.50/16', gateway: '10.22.0.1' }, dns: {} }
  const ips = [{ address: '10.22.0.50/16', gateway: '10.22.0.1' }]
  return { cniVersion, ips, routes: [{ dst: '0.0.0.0/0' }] }
}

const addReply = (shape: string, cniVersion = shape): object => ({
  ...done,
  result: resultIn(shape, cniVersion),
})

/** What comes of a request; `hang` is the affair of whoever has the clock. */
export function answerTo(
  act: Exclude<Act, { does: 'hang' }>,
  { path, cniVersion }: Asked,
): HttpReply | Error {
  const say = (value: object): HttpReply => ({ status: 200, body: Buffer.from(JSON.stringify(value)) })
  const isAdd = path.endsWith('/add')
  switch (act.does) {
    case 'good':
      return say(isAdd ? addReply(cniVersion) : done)
    case 'shape':
      return say(isAdd ? addReply(act.of, cniVersion) : done)
    case 'reply':
      return { status: act.status, body: Buffer.from(act.body) }
    case 'fault':
      return new ExchangeError(act.fault, 'there is no such socket')
    case 'bug':
      return new Error(act.text)
  }
}

const refusal = fc
  .record({
    code: fc.constantFrom(...(Object.keys(catalogue) as ProblemCode[])),
    message: fc.oneof(fc.constantFrom('address not found', 'no such file or directory: x', 'taken'), oddText),
    details: fc.oneof(fc.constant(''), oddText),
    hint: fc.constantFrom('', 'wait', 'No Such File or Directory'),
  })
  .map(({ code, message, ...texts }) => {
    const { cniCode, httpStatus: status, retryable } = catalogue[code]
    return { status, body: { code, message: message || 'no', ...texts, retryable, cniCode, ...done } }
  })

const status = fc.constantFrom(200, 200, 200, 100, 204, 301, 400, 404, 409, 500, 503, 599)

const faults = ['missing', 'refused', 'forbidden', 'unusable', 'lost', 'malformed', 'late'] as const

/** What another program's errors may be. */
const otherCodes = [0, 3, 9, 10, 12, 49, 52, 99, 1000, -1, 1.5, 2 ** 53]

const replyOf = (code: number, body: Written): Act => ({ does: 'reply', status: code, body: print(body) })

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 24, arbitrary: fc.constant<Act>({ does: 'good' }) },
  { weight: 4, arbitrary: refusal.map((said): Act => replyOf(said.status, written(said.body))) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(refusal, fc.constantFrom(...otherCodes))
      .map(([said, cniCode]): Act => replyOf(said.status, written({ ...said.body, cniCode }))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        status,
        changed(
          refusal.map(({ body }) => written(body)),
          2,
        ),
      )
      .map(([code, body]) => replyOf(code, body)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        status,
        changed(fc.constantFrom('1.1.0', '1.0.0', '0.4.0', '0.2.0').map(addReply).map(written), 2),
      )
      .map(([code, body]) => replyOf(code, body)),
  },
  { weight: 1, arbitrary: fc.constantFrom('1.1.0', '0.2.0').map((of): Act => ({ does: 'shape', of })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(status, damaged(fc.constant(JSON.stringify(addReply('1.1.0')))))
      .map(([code, body]): Act => ({ does: 'reply', status: code, body })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(status, fc.uint8Array({ maxLength: 30 }))
      .map(([code, body]): Act => ({ does: 'reply', status: code, body })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        status,
        fc.constantFrom('', '{}', 'null', '[]', '""', '0', '{"ips":[]}', 'not found', '<html></html>'),
      )
      .map(([code, body]): Act => ({ does: 'reply', status: code, body })),
  },
  { weight: 4, arbitrary: fc.constantFrom(...faults).map((fault): Act => ({ does: 'fault', fault })) },
  { weight: 1, arbitrary: fc.constantFrom('', 'file not found').map((text): Act => ({ does: 'bug', text })) },
  { weight: 2, arbitrary: fc.constant<Act>({ does: 'hang' }) },
)

/** What happens to the first request, the second, ...; the last one's fate is that of all that follow. */
export const daemonScript: fc.Arbitrary<readonly Act[]> = fc.array(act, { minLength: 1, maxLength: 4 })
