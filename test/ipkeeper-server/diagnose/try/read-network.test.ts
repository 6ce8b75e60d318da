import t from 'tap'
import {
  chooseConflist,
  declares,
  ipamType,
  readNetwork,
  sinceCheck,
} from '../../../../ipkeeper-server/diagnose/try/read-network.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const list = (extra: object): string =>
  JSON.stringify({ name: 'net', plugins: [{ type: 'bridge' }], ...extra })

t.test('what is read', t => {
  const rows: readonly (readonly [path: string, text: string, network: object])[] = [
    ['/a.conflist', list({ cniVersion: '1.0.0' }), { name: 'net', cniVersion: '1.0.0', disableCheck: false }],
    ['/a.conflist', list({}), { cniVersion: '', plugins: [{ type: 'bridge' }] }],
    ['/a.conflist', list({ cniVersions: ['0.4.0', '1.1.0', '2.0.0'] }), { cniVersion: '1.1.0' }],
    ['/a.conflist', list({ cniVersions: ['0.4.0'], cniVersion: '1.0.0' }), { cniVersion: '1.0.0' }],
    ['/a.conflist', list({ cniVersion: '9.0.0' }), { cniVersion: '9.0.0' }],
    ['/a.conflist', list({ disableCheck: 'True' }), { disableCheck: true }],
    [
      '/a.conf',
      '{"name":"one","type":"ptp","cniVersion":"0.4.0"}',
      { name: 'one', plugins: [{ type: 'ptp' }] },
    ],
    ['/a.json', '{"name":"one","Type":"ptp"}', { plugins: [{ Type: 'ptp' }] }],
  ]
  for (const [path, text, network] of rows) t.match(readNetwork(path, text), network, text)
  t.end()
})

t.test('what is refused, and where', async t => {
  const rows: readonly (readonly [path: string, text: string, message: RegExp])[] = [
    ['/a.conflist', '{\n  "name": "net",\n}', /^\/a\.conflist:2:16: trailing comma/],
    ['/a.conflist', '', /^\/a\.conflist:1:1: unexpected end/],
    ['/a.conflist', '[]', /must be an object, not an array/],
    ['/a.conflist', '{"plugins":[{"type":"x"}]}', /"name" is missing/],
    ['/a.conflist', list({ name: 'a/b' }), /invalid characters found in network name/],
    ['/a.conflist', '{"name":"net"}', /"plugins" must be an array/],
    ['/a.conflist', list({ plugins: [] }), /at least one plugin/],
    ['/a.conflist', list({ plugins: [{}] }), /plugins\[0\]: "type" is missing/],
    ['/a.conflist', list({ plugins: [{ type: '../sh' }] }), /must be the name of a plugin, not "\.\.\/sh"/],
    ['/a.conflist', list({ plugins: [{ type: '..' }] }), /must be the name of a plugin/],
    ['/a.conflist', list({ plugins: ['x'] }), /plugins\[0\]: a plugin must be an object/],
    ['/a.conflist', list({ cniVersion: 1 }), /"cniVersion" must be a string/],
    ['/a.conflist', list({ cniVersions: '1.0.0' }), /"cniVersions" must be an array/],
    [
      '/a.conflist',
      list({ plugins: [{ type: 'x', capabilities: { ips: 'yes' } }] }),
      /"ips" must be true or false/,
    ],
    ['/a.conf', list({}), /only in files whose name ends in \.conflist/],
  ]
  for (const [path, text, message] of rows) {
    const problem = await thrownProblem(() => readNetwork(path, text))
    t.equal(problem.code, 'IPK_CONFLIST_INVALID')
    t.match(problem.message, message)
    t.match(problem.hint, `ipkeeperctl lint ${path}`)
  }
})

t.test('what a plugin asks for', t => {
  t.equal(ipamType({ ipam: { type: 'static' } }), 'static')
  for (const plugin of [{}, { ipam: {} }, { ipam: 'x' }, { ipam: { type: '' } }])
    t.equal(ipamType(plugin), undefined)
  t.ok(declares({ capabilities: { ips: true } }, 'ips'))
  for (const plugin of [{}, { capabilities: { ips: false } }, { capabilities: { mac: true } }])
    t.notOk(declares(plugin, 'ips'))
  for (const [version, since] of Object.entries({ '': false, '0.3.1': false, '0.4.0': true, '1.1.0': true }))
    t.equal(sinceCheck(version), since, version)
  t.end()
})

t.test('the file that containerd takes', async t => {
  const rows: readonly (readonly [names: readonly string[], chosen: string])[] = [
    [['20-b.conflist', '10-a.conflist'], '10-a.conflist'],
    [['10-a.conflist', '.hidden.conf'], '.hidden.conf'],
    [['9-a.json', '10-b.conf'], '10-b.conf'],
    [['10-a.conflist.bak', '10-a.txt', 'z.conflist'], 'z.conflist'],
    [['\u{1f600}.conflist', '\uff5e.conflist'], '\uff5e.conflist'],
  ]
  for (const [names, chosen] of rows) {
    const folder = t.testdir(Object.fromEntries(names.map(name => [name, ''])))
    t.equal(await chooseConflist(folder), `${folder}/${chosen}`)
  }
})

t.test('no file that it would take', async t => {
  const folder = t.testdir({ 'a.conflist': {}, 'b.txt': '' })
  t.match(await thrownProblem(() => chooseConflist(folder)), {
    code: 'IPK_CONFLIST_MISSING',
    message: /has no \.conflist/,
  })
  t.match(await thrownProblem(() => chooseConflist(`${folder}/none`)), {
    code: 'IPK_CONF_DIR_UNREADABLE',
    message: /cannot be read: there is no such folder/,
  })
})
