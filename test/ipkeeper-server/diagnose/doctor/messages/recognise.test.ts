/** Whatever is put around a known text, the doctor takes it for that very text. */
import fc from 'fast-check'
import t from 'tap'
import { knownTexts } from '../../../../../ipkeeper-server/diagnose/doctor/messages/known-texts.ts'
import { recognise } from '../../../../../ipkeeper-server/diagnose/doctor/messages/recognise.ts'
import { examples, pod, sandbox, wrappings } from './wrappings.ts'

const idsOf = (text: string): string[] => recognise(text).found.map(({ text: row }) => row.id)

for (const [name, wrap] of Object.entries(wrappings)) {
  t.test(name, t => {
    for (const { row, example } of examples) {
      // Its own text is one that others put around theirs; behind theirs it says less than they do.
      if (row.wrapping === true && name !== 'raw' && name !== 'with white space around') continue
      const wrapped = wrap(example)
      t.strictSame(idsOf(wrapped), [row.id], `${row.id}: ${wrapped}`)
    }
    t.end()
  })
}

t.test('who and what it is about', t => {
  const empty =
    'failed to get network "fixed" cached result: decoding version from network config: unexpected end of JSON input'
  const table: readonly (readonly [wrapping: string, text: string, captures: object])[] = [
    ["kubelet's log", empty, { network: 'fixed', containerId: sandbox, pod }],
    ["containerd's log", empty, { network: 'fixed', containerId: sandbox, pod }],
    ['a line of JSON of a log shipper', empty, { network: 'fixed', containerId: sandbox, pod }],
    ['lines of 37 characters', empty, { network: 'fixed', containerId: sandbox }],
    [
      'raw',
      'failed to find plugin "ipkeeper" in path [/usr/lib/cni]',
      { plugin: 'ipkeeper', path: '/usr/lib/cni' },
    ],
    [
      'lines of 37 characters',
      'plugin type="bridge" name="fixed" failed (add): failed to find plugin "ipkeeper" in path [/usr/lib/cni]',
      { plugin: 'ipkeeper', network: 'fixed', path: '/usr/lib/cni', containerId: sandbox },
    ],
    [
      'event of kubectl',
      'annotation ipkeeper.io/ip asks for 10.22.0.50, which is held by shop/web-0; [IPK_ADDRESS_HELD, request 9dc703913ef1]',
      { address: '10.22.0.50', containerId: sandbox },
    ],
    [
      'raw',
      'failed to allocate for range 0: fd00:22::5 has been allocated to 3f2a91c0d1e2, duplicate allocation is not allowed',
      { address: 'fd00:22::5', containerId: '3f2a91c0d1e2' },
    ],
    [
      'raw',
      'Failed to find address added by container 3f2a91c0d1e2 and more words',
      { containerId: '3f2a91c0d1e2' },
    ],
    [
      'raw',
      'cannot reach ipkeeper-server on /run/ipkeeper/ipkeeper.sock: nothing listens on the socket; [IPK_NOT_AVAILABLE]',
      { socket: '/run/ipkeeper/ipkeeper.sock' },
    ],
    [
      'raw',
      `name "web-0_shop_7c9e6679-7425-40de-944b-e07fc1f90ae7_0" is reserved for "${sandbox}"`,
      { pod: 'shop/web-0', containerId: sandbox },
    ],
    [
      'raw',
      'NetworkPlugin cni failed to set up pod "web-0_shop" network: unexpected end of JSON input',
      { pod: 'shop/web-0' },
    ],
  ]
  for (const [wrapping, text, captures] of table) {
    const [found] = recognise(wrappings[wrapping]?.(text) ?? '').found
    t.strictSame(found?.captures, captures, `${wrapping}: ${text}`)
  }
  t.notMatch(recognise(`sha256:${sandbox}: name is reserved`).found[0]?.captures, { containerId: sandbox })
  t.end()
})

t.test('several messages of one paste', t => {
  const rows = knownTexts.filter(row => row.wrapping !== true).slice(0, 40)
  const lines = rows.map(row => wrappings["kubelet's log in the journal"]?.(row.examples[0]))
  const wanted = rows.map(row => row.id)
  t.strictSame(idsOf(lines.join('\n')), wanted)
  t.match(
    recognise('name is reserved\n\nname is reserved\n\nname is reserved').found,
    [{ times: 3 }],
    'what is said again is counted',
  )
  const of = (id: string): string =>
    `err="failed to get network \\"${id}\\" cached result: unexpected end of JSON input"`
  t.match(
    recognise(`${of('one')}\n${of('two')}`).found.map(({ captures }) => captures),
    [{ network: 'one' }, { network: 'two' }],
    'of different things, each is told',
  )
  t.end()
})

t.test('what is not known', t => {
  const unknown = [
    '',
    '   \n\n',
    'Back-off restarting failed container',
    'IPK_NO_SUCH_CODE',
    'ImagePullBackOff',
    '{}',
  ]
  for (const text of unknown) t.strictSame(recognise(text).found, [], JSON.stringify(text))
  t.end()
})

t.test('what old versions of libcni say counts where nothing else is known', t => {
  const destroy = `failed to destroy network for sandbox "${sandbox}": `
  const table: readonly (readonly [text: string, id: string])[] = [
    ['unexpected end of JSON input', 'json-cut-off'],
    ['plugin type="x" failed (delete): unexpected end of JSON input', 'json-cut-off'],
    [`${destroy}unexpected end of JSON input`, 'cached-result-empty'],
    [`invalid character 's' looking for beginning of value`, 'json-spoilt'],
    [`${destroy}invalid character 's' looking for beginning of value`, 'json-spoilt'],
    [`failed to unmarshal raw result: unexpected end of JSON input`, 'plugin-printed-nothing'],
    [`error parsing configuration list: unexpected end of JSON input`, 'conflist-cut-off'],
  ]
  for (const [text, id] of table) t.strictSame(idsOf(text), [id], text)
  t.end()
})

t.test('the longest code counts, and the code before the words of the reference', t => {
  t.strictSame(idsOf('[IPK_ADDRESS_HELD]'), ['IPK_ADDRESS_HELD'])
  t.strictSame(idsOf('x IPK_POOL_FULL\ny'), ['IPK_POOL_FULL'])
  t.strictSame(
    idsOf(
      'failed to find plugin "x" in path [/a]\n\nplugin type="bridge" failed (add): no IP addresses available in range set: 10.0.0.1-10.0.0.2; [IPK_POOL_FULL, request 1]',
    ),
    ['plugin-missing', 'IPK_POOL_FULL'],
  )
  t.end()
})

t.test('any text is answered, and soon', t => {
  const said = fc.constantFrom(
    ...examples.filter((_, index) => index % 8 === 0).map(({ example }) => example),
  )
  const noise = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    said,
    fc.constantFrom(
      '\\',
      '\\"',
      '"',
      '\n',
      '\u001b[',
      '#033[',
      'IPK_',
      'failed (add): ',
      '&quot;',
      '\u2028',
      'time="',
    ),
  )
  fc.assert(
    fc.property(fc.array(noise, { maxLength: 12 }), parts => {
      const { found, leftOut } = recognise(parts.join(''))
      return (
        leftOut === 0 && found.every(({ times, said: text }) => times > 0 && !/[\p{Cc}\u2028]/u.test(text))
      )
    }),
    { numRuns: 1500 },
  )
  const size = 10 * 1024 * 1024
  const fill = (part: string): string => part.repeat(Math.ceil(size / part.length))
  for (const part of [
    'a',
    '\\',
    '\\"',
    '\n\nx',
    '\u001b[',
    'IPK_POOL_FULL',
    sandbox,
    'name is reserved ',
    ...examples.filter((_, index) => index % 8 === 0).map(({ example }) => example),
  ]) {
    const began = performance.now()
    const { leftOut } = recognise(fill(part))
    t.ok(leftOut >= size - 1024 * 1024, `${part}: the middle is left out`)
    t.ok(performance.now() - began < 20_000, part)
  }
  t.end()
})
