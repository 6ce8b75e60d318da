import t from 'tap'
import { loadedNetworks } from '../../../../ipkeeper-server/diagnose/lint/loaded-networks.ts'

const ipam = { type: 'ipkeeper' }

const read = (name: string, text: string | undefined) =>
  loadedNetworks([{ path: `/net.d/${name}`, name, text }])

t.test('what a file gives', t => {
  const single = { cniVersion: '1.0.0', name: 'net', type: 'bridge', ipam }
  const rows: readonly (readonly [what: string, file: string, document: object, expected: object])[] = [
    [
      'a list: its name and version are those of its plugins',
      'a.conflist',
      {
        cniVersion: '0.4.0',
        name: 'net',
        plugins: [
          { type: 'x', name: 'own' },
          { type: 'bridge', ipam },
        ],
      },
      {
        name: 'net',
        cniVersion: '0.4.0',
        plugins: [
          { type: 'x', name: 'net', cniVersion: '0.4.0' },
          { type: 'bridge', ipam, name: 'net', cniVersion: '0.4.0' },
        ],
      },
    ],
    [
      'no version is the first one',
      'a.conflist',
      { name: 'net', plugins: [{ type: 'x' }] },
      { cniVersion: '0.1.0', plugins: [{ type: 'x', name: 'net' }] },
    ],
    [
      'a version that is none',
      'a.conflist',
      { cniVersion: '9.9.9', name: 'net', plugins: [{ type: 'x' }] },
      { name: 'net', cniVersion: undefined },
    ],
    [
      'a single plugin becomes a list',
      'a.conf',
      single,
      { plugins: [single], list: JSON.stringify({ cniVersion: '1.0.0', name: 'net', plugins: [single] }) },
    ],
    ['a single plugin without a name', 'a.json', { type: 'bridge' }, { name: '', cniVersion: '0.1.0' }],
    [
      'keys of a plugin as Go folds them',
      'a.conf',
      { CNIVersion: '0.4.0', Name: 'net', Type: 'ipkeeper' },
      { name: 'net', cniVersion: '0.4.0' },
    ],
  ]
  for (const [what, file, document, expected] of rows) {
    const text = JSON.stringify(document, null, 2)
    const networks = read(file, text)
    t.equal(networks.length, 1, what)
    t.match(networks[0], { path: `/net.d/${file}`, ...expected }, what)
    if (file.endsWith('.conflist')) t.equal(networks[0]?.list, text)
  }
  t.end()
})

t.test('what libcni refuses, or no runtime reads, is no network', t => {
  const list = '{ "cniVersion": "1.0.0", "name": "net", "plugins": [{ "type": "x" }] }'
  t.equal(read('a.conflist', list).length, 1)
  for (const [what, name, text] of [
    ['unread', 'a.conflist', undefined],
    ['empty', 'a.conflist', ''],
    ['no JSON', 'a.conflist', list.replace(' }]', ', }]')],
    ['no object', 'a.conflist', '[]'],
    ['no name', 'a.conflist', '{"cniVersion": "1.0.0", "plugins": [{ "type": "x" }]}'],
    ['plugins that are no list', 'a.conflist', '{"name": "net", "plugins": {}}'],
    ['no plugins', 'a.conflist', '{"name": "net", "plugins": []}'],
    ['keys of a list in other letters', 'a.conflist', list.replace('plugins', 'Plugins')],
    ['a list in a file for one plugin', 'a.conf', list],
    ['put aside', 'a.conflist.bak', list],
    ['YAML', 'a.yaml', `config: |\n  ${list}\n`],
  ] as const)
    t.strictSame(read(name, text), [], what)
  t.end()
})

t.test('the order is that of the runtime', t => {
  const files = ['\u{1f600}.conf', '20.conf', '.z.conf', '\uff5e.conf'].map(name => ({
    ...{ path: name, name },
    text: '{ "type": "x" }',
  }))
  t.strictSame(
    loadedNetworks(files).map(({ path }) => path),
    ['.z.conf', '20.conf', '\uff5e.conf', '\u{1f600}.conf'],
  )
  t.end()
})
