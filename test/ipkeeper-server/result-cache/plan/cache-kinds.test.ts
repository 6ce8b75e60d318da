import t from 'tap'
import { cacheKinds, type CacheKind } from '../../../../ipkeeper-server/result-cache/plan/cache-kinds.ts'
import type { CacheReason } from '../../../../shared/cache-reasons.ts'

const whole = {
  kind: 'cniCacheV1',
  containerId: 'c1',
  config: 'e30=',
  ifName: 'eth0',
  networkName: 'net',
  netns: '/run/netns/a',
  cniArgs: [['K8S_POD_NAME', 'web-0']],
  capabilityArgs: { portMappings: [] },
  result: { cniVersion: '1.0.0', ips: [] },
}
const text = (changes: object = {}): string => JSON.stringify({ ...whole, ...changes })

const cases: readonly (readonly [
  what: string,
  kind: CacheKind,
  text: string,
  reason: CacheReason | undefined,
])[] = [
  ['what libcni writes', 'results', text(), undefined],
  ['without a result, as libcni takes it', 'results', text({ result: undefined }), undefined],
  ['with null for what is absent', 'results', text({ netns: null, cniArgs: null }), undefined],
  ['white space around it', 'results', `\n ${text()} \n`, undefined],
  ['a bare Result of libcni before 0.8', 'results', '{"cniVersion":"0.3.1","ips":[],"dns":{}}', undefined],
  ['a bare Result of 0.2.0', 'results', '{"ip4":{"ip":"10.0.0.2/16"},"dns":{}}', undefined],
  ['bytes that are no UTF-8, which Go replaces', 'results', text({ netns: '\ufffd' }), undefined],
  ['nothing', 'results', '', 'zero-byte'],
  ['a line break alone', 'results', '\n', 'truncated'],
  ['cut in an object', 'results', text().slice(0, 40), 'truncated'],
  ['cut after a comma', 'results', '{"kind":"cniCacheV1",', 'truncated'],
  ['cut in a word', 'results', '{"kind":tru', 'truncated'],
  ['cut in a number', 'results', '{"kind":-', 'truncated'],
  ['cut in an exponent', 'results', '{"mtu":1.5e', 'truncated'],
  ['cut in an escape', 'results', '{"kind":"\\u00', 'truncated'],
  ['a byte order mark', 'results', `\ufeff${text()}`, 'non-json'],
  ['filled up with NUL by a power cut', 'results', '\0'.repeat(64), 'non-json'],
  ['two documents', 'results', text() + text(), 'non-json'],
  ['a trailing comma', 'results', '{"a":1,}', 'non-json'],
  ['an error page', 'results', '<html>', 'non-json'],
  ['a word that is none, at the end', 'results', '{"kind":nulle', 'non-json'],
  ['a list', 'results', '[]', 'wrong-kind'],
  ['null', 'results', 'null', 'wrong-kind'],
  ['a text', 'results', '"cniCacheV1"', 'wrong-kind'],
  ['another kind', 'results', text({ kind: 'cniCacheV2' }), 'wrong-kind'],
  ['a kind that is a number', 'results', text({ kind: 1 }), 'wrong-kind'],
  ['a result that is a list', 'results', text({ result: [] }), 'wrong-kind'],
  ['a config that is no base64', 'results', text({ config: '%%%' }), 'wrong-kind'],
  ['a container ID that is a number', 'results', text({ containerId: 1 }), 'wrong-kind'],
  ['arguments that are no pairs', 'results', text({ cniArgs: ['A=1'] }), 'wrong-kind'],
  ['an object of somebody else', 'results', '{"type":"bridge"}', 'wrong-kind'],
  ["flannel's netconf", 'flannel', '{"type":"bridge","name":"cbr0"}', undefined],
  ["flannel's, empty", 'flannel', '', 'zero-byte'],
  ["flannel's, cut", 'flannel', '{"type":"br', 'truncated'],
  ["flannel's, a list", 'flannel', '[]', 'wrong-kind'],
  ["multus' delegates", 'multus', '[{"Conf":{"type":"macvlan"}}]', undefined],
  ["multus', one object", 'multus', '{"Conf":{}}', undefined],
  ["multus', empty", 'multus', '', 'zero-byte'],
  ["multus', a number", 'multus', '7', 'wrong-kind'],
  ["multus', null", 'multus', 'null', 'wrong-kind'],
  ['a reservation', 'hostLocal', 'c1\r\neth0', undefined],
  ['a reservation of old', 'hostLocal', 'c1', undefined],
  ['a reservation with white space', 'hostLocal', ' c1\neth0\n', undefined],
  ['an empty reservation', 'hostLocal', '', 'zero-byte'],
  ['a reservation of nobody', 'hostLocal', '-\r\neth0', 'wrong-kind'],
  ['a reservation of rubbish', 'hostLocal', '{"a":1}', 'wrong-kind'],
]

t.test('what is wrong with a file of each kind', t => {
  for (const [what, kind, content, reason] of cases)
    t.equal(cacheKinds[kind].read(content, 'name').fault?.reason, reason, `${kind}: ${what}`)
  t.end()
})

t.test('every beginning of a document is truncated, none of them something else', t => {
  const document = '{"a":[1,-2.5e+3,true,null,"\\u00e9\\n"],"b":{}}'
  for (let length = 1; length < document.length; length++) {
    const cut = document.slice(0, length)
    t.equal(cacheKinds.results.read(cut, 'name').fault?.reason, 'truncated', cut)
  }
  t.end()
})

t.test('whose file it is', t => {
  t.strictSame(cacheKinds.results.read(text(), 'any').sandbox, {
    network: 'net',
    containerId: 'c1',
    ifname: 'eth0',
  })
  t.strictSame(cacheKinds.results.read('{"cniVersion":"1.0.0"}', 'any').sandbox, {})
  t.strictSame(cacheKinds.flannel.read('', 'c1').sandbox, { containerId: 'c1' })
  t.strictSame(cacheKinds.multus.read('[]', 'not an ID').sandbox, {})
  t.strictSame(cacheKinds.hostLocal.read('c1\r\neth0', '10.0.0.2').sandbox, {
    containerId: 'c1',
    ifname: 'eth0',
  })
  t.end()
})

t.test("libcni's folder within that of Multus is none of its files", t => {
  const names = ['3f2a91c0d1e2', 'results']
  t.strictSame(
    names.filter(name => cacheKinds.multus.holds(name)),
    ['3f2a91c0d1e2'],
  )
  t.end()
})

t.test("of host-local's folder only reservations count", t => {
  const names = ['10.0.0.2', 'fd00::2', 'lock', 'last_reserved_ip.0', '10.0.0.2.bak']
  t.strictSame(
    names.filter(name => cacheKinds.hostLocal.holds(name)),
    ['10.0.0.2', 'fd00::2'],
  )
  t.end()
})
