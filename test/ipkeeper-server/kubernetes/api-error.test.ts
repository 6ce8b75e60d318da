import t from 'tap'
import { statusError } from '../../../ipkeeper-server/kubernetes/api-error.ts'

t.test('what a refusal says', t => {
  for (const [what, status, body, retryAfter, expected] of [
    [
      'a Status',
      404,
      {
        kind: 'Status',
        code: 404,
        reason: 'NotFound',
        message: 'pods "web-0" not found',
        details: { name: 'web-0', kind: 'pods' },
      },
      undefined,
      {
        message: 'GET /x: 404 NotFound: pods "web-0" not found',
        status: 404,
        reason: 'NotFound',
        about: 'web-0',
      },
    ],
    [
      'a Status whose code is not that of HTTP: an ERROR event',
      500,
      { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' },
      undefined,
      { status: 410, reason: 'Expired', message: 'GET /x: 410 Expired: too old' },
    ],
    [
      'Retry-After',
      429,
      { kind: 'Status', code: 429, details: { retryAfterSeconds: 9 } },
      '3',
      { retryAfter: 3000, message: 'GET /x: 429' },
    ],
    [
      'only in the body',
      429,
      { kind: 'Status', code: 429, details: { retryAfterSeconds: 9 } },
      undefined,
      { retryAfter: 9000 },
    ],
    ['no number', 503, undefined, 'Wed, 21 Oct 2026 07:28:00 GMT', { status: 503, retryAfter: undefined }],
    [
      'text of a proxy',
      502,
      ' <html>bad gateway</html>\n',
      undefined,
      { message: 'GET /x: 502: <html>bad gateway</html>' },
    ],
    ['nothing', 500, undefined, undefined, { message: 'GET /x: 500' }],
    [
      'another object',
      500,
      { kind: 'Pod', message: 'x', code: 3 },
      undefined,
      { message: 'GET /x: 500', status: 500 },
    ],
  ] as const) {
    const error = statusError('GET /x', status, body, retryAfter)
    t.match(error, expected, what)
    t.equal(error.name, 'ApiError')
  }
  t.ok(statusError('GET /x', 500, 'x'.repeat(10_000)).message.length < 600, 'a long text is cut')
  t.end()
})
