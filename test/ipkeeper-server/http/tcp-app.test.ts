import t from 'tap'
import { isOfOthers, isOurHost } from '../../../ipkeeper-server/http/tcp-app.ts'

t.test('what is served on loopback is known by its names alone', t => {
  const table: readonly [host: string | undefined, ours: boolean][] = [
    ['127.0.0.1:7480', true],
    ['127.0.0.1', true],
    ['127.1.2.3:7480', true],
    ['localhost:8080', true],
    ['LOCALHOST', true],
    ['[::1]:7480', true],
    [undefined, false],
    ['', false],
    ['evil.example:7480', false],
    ['127.0.0.1.evil.example:7480', false],
    ['localhost.evil.example', false],
    ['10.0.0.1:7480', false],
    ['[::2]:7480', false],
    ['127.0.0.1:7480@evil.example', false],
    ['evil.example#127.0.0.1', false],
    ['127.0.0.1:port', false],
  ]
  for (const [host, ours] of table) t.equal(isOurHost(host), ours, String(host))
  t.end()
})

t.test('other sites may not ask, people may follow links', t => {
  const table: readonly [what: string, headers: Record<string, string>, others: boolean][] = [
    ['no browser', {}, false],
    ['the page itself', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }, false],
    ['an address that was typed', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }, false],
    [
      'a link',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      false,
    ],
    [
      'a frame',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      true,
    ],
    ['a script of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, true],
    ['a script of another port', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }, true],
  ]
  for (const [what, headers, others] of table) t.equal(isOfOthers(headers), others, what)
  t.end()
})
