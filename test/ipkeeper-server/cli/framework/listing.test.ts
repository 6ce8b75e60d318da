import t from 'tap'
import { csvOnly, listing, wideOnly } from '../../../../ipkeeper-server/cli/framework/listing.ts'
import { noPaint } from '../../../../ipkeeper-server/cli/framework/terminal-text.ts'

interface Row {
  readonly address: string
  readonly since: string
  readonly node: string | null
}

const command = listing<{ readonly items: readonly Row[] }, Row>({
  ...{ name: 'things', arguments: [], summary: 'List things', options: {} },
  examples: [{ line: 'ipkeeperctl things', does: 'List them' }],
  run: () => Promise.resolve({ items: [] }),
  rows: ({ items }) => items,
  columns: [
    { title: 'ADDRESS', key: 'address', value: ({ address }) => address },
    {
      title: 'SINCE',
      key: 'since',
      value: ({ since }) => since,
      text: () => ({ text: '5m', tone: 'faint' }),
    },
    { title: 'NODE', key: 'node', value: ({ node }) => node, in: wideOnly },
    { title: '', key: 'length', value: ({ address }) => address.length, in: csvOnly },
  ],
  nameOf: ({ address }) => address,
  empty: 'no things',
})

const items: readonly Row[] = [
  { address: '10.22.0.2', since: '2026-01-01', node: null },
  { address: '10.22.0.2', since: '2026-01-02', node: 'n\u001b1' },
]

t.test('every listing takes the same formats', t => {
  for (const [format, headers, text] of [
    ['table', true, 'ADDRESS    SINCE\n10.22.0.2  5m\n10.22.0.2  5m\n'],
    ['table', false, '10.22.0.2  5m\n10.22.0.2  5m\n'],
    ['wide', true, 'ADDRESS    SINCE  NODE\n10.22.0.2  5m     -\n10.22.0.2  5m     n?1\n'],
    ['csv', true, 'address,since,node,length\r\n10.22.0.2,2026-01-01,,9\r\n10.22.0.2,2026-01-02,n?1,9\r\n'],
    ['csv', false, '10.22.0.2,2026-01-01,,9\r\n10.22.0.2,2026-01-02,n?1,9\r\n'],
    ['name', true, '10.22.0.2\n'],
  ] as const) {
    const show = command.formats?.[format] ?? command.print
    t.equal(show({ items }, noPaint, headers), text, `${format} ${headers}`)
  }
  t.end()
})

t.test('nothing to list', t => {
  for (const [format, headers, text] of [
    ['table', true, 'no things\n'],
    ['table', false, ''],
    ['wide', true, 'no things\n'],
    ['csv', true, 'address,since,node,length\r\n'],
    ['csv', false, ''],
    ['name', true, ''],
  ] as const) {
    const show = command.formats?.[format] ?? command.print
    t.equal(show({ items: [] }, noPaint, headers), text, `${format} ${headers}`)
  }
  t.end()
})
