import t from 'tap'
import {
  isSecretName,
  secretsIn,
  secretsInText,
  withoutSecrets,
} from '../../../../ipkeeper-server/cli/bundle/without-secrets.ts'

const key = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEINq\n-----END EC PRIVATE KEY-----'
const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl'

t.test('what goes', t => {
  const rows: readonly [before: string, after: string, isLoose?: true][] = [
    ['{"etcd_password":"hun\\"ter2"}', '{"etcd_password":"(removed)"}'],
    [
      '{"msg":"sent {\\"token\\":\\"hunter2\\",\\"a\\":1}"}',
      '{"msg":"sent {\\"token\\":\\"(removed)\\",\\"a\\":1}"}',
    ],
    ['{"pwd": 4711}', '{"pwd": "(removed)"}'],
    ['clientSecret: hunter2 or 3\na: 1', 'clientSecret: (removed)\na: 1'],
    ['- token: |\n    hunter2\n    hunter3\n  a: 1', '- token: (removed)\n  a: 1'],
    [
      'https://ipkeeper:hunter2@10.0.0.1:2379,https://a:b@c/',
      'https://(removed)@10.0.0.1:2379,https://(removed)@c/',
    ],
    ['--store etcd:https://u:p%40ss@h', '--store etcd:https://(removed)@h'],
    ['run --password hunter2 --token=hunter3 now', 'run --password (removed) --token=(removed) now'],
    ['GET /x?api_key=hunter2&a=1', 'GET /x?api_key=(removed)&a=1'],
    ['Authorization: Basic aHVudGVyMg==', 'Authorization: (removed)'],
    ['sent Bearer aHVudGVyMg.aHVudGVyMg', 'sent Bearer (removed)'],
    [`the token is ${jwt}`, 'the token is (removed)'],
    [`a\n${key}\nb`, 'a\n-----BEGIN EC PRIVATE KEY----- (removed) -----END EC PRIVATE KEY-----\nb'],
    [
      JSON.stringify({ pem: key }),
      '{"pem":"-----BEGIN EC PRIVATE KEY----- (removed) -----END EC PRIVATE KEY-----"}',
    ],
    ['"password: "hunter2", "a": 1', '"password: "(removed)", "a": 1', true],
    ['"password" = \'hunter2\n"a": 1', '"password" = \'(removed)\'\n"a": 1', true],
    ['{ a: 1, password: hunter2 }', '{ a: 1, password: (removed)}', true],
  ]
  for (const [before, after, isLoose] of rows) {
    const once = withoutSecrets(before, [], isLoose)
    t.equal(once, after)
    t.equal(withoutSecrets(once, [], isLoose), after, 'nothing is done twice')
  }
  t.end()
})

t.test('what stays', t => {
  for (const text of [
    '{"passwordFile":"/etc/ipkeeper/etcd/password","tokenFile":"/t","secretName":"a","passes":2}',
    'store.etcd.passwordFile: "x" is not an absolute path',
    'error: unexpected token in line 3',
    '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
    'https://10.0.0.1:2379/a@b',
    'ipkeeper_requests_total{verb="ADD"} 3',
    'basic configuration, no bearer of news',
  ])
    t.equal(withoutSecrets(text, []), text)
  t.end()
})

t.test('a value that is known as a secret goes wherever it stands', t => {
  const secrets = ['hunter"2x', 'abc', 'hunter"2xyz']
  t.equal(
    withoutSecrets('hunter"2xyz, hunter"2x, abcd, "abc"; {"m":"hunter\\"2x"} hunter%222x', secrets),
    '(removed), (removed), abcd, "(removed)"; {"m":"(removed)"} (removed)',
  )
  t.equal(withoutSecrets('password=hunter2extra', ['hunter2']), 'password=(removed)')
  t.end()
})

t.test('what is known by its key', t => {
  t.strictSame(
    secretsIn({ a: [{ apiKey: 'one' }, { credentials: { user: 'two', pin: 3, on: true } }], b: 'four' }),
    ['one', 'two', '3'],
  )
  t.strictSame(secretsInText('{"token": "one\n"pwd" \'two\', secret: three }\na: b'), ['one', 'three'])
  t.ok(isSecretName('k8s_auth_token') && isSecretName('client-key-data') && isSecretName('privateKey'))
  t.notOk(
    isSecretName('passes') || isSecretName('keyFile') || isSecretName('tokenFile') || isSecretName('key'),
  )
  t.end()
})

t.test('large texts are no work of minutes', t => {
  const began = performance.now()
  for (const text of ['a', 'a.', '-', '"', '\\"', 'eyJ', 'a=', '{"a":', 'x://', ' ', '\n '])
    withoutSecrets(text.repeat(500_000 / text.length), [], true)
  t.ok(performance.now() - began < 30_000)
  t.end()
})
