import { readFileSync } from 'node:fs'
import t from 'tap'
import { stringify } from 'yaml'
import { parseKubeconfig } from '../../../ipkeeper-server/kubernetes/kubeconfig.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

const path = '/etc/ipkeeper/kubeconfig'
const secret = 'S3CR3T'
const base64 = (text: string): string => Buffer.from(text).toString('base64')

interface Parts {
  readonly cluster?: object
  readonly user?: object
  readonly rest?: object
}

const config = ({ cluster = {}, user = {}, rest = {} }: Parts = {}): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'other', cluster: { server: 'https://other:6443' } },
      { name: 'prod', cluster: { server: 'https://10.0.0.1:6443', ...cluster } },
    ],
    users: [{ name: 'ipkeeper', user: { ...user } }],
    contexts: [
      { name: 'main', context: { cluster: 'prod', user: 'ipkeeper', namespace: 'x' } },
      { name: 'anonymous', context: { cluster: 'other' } },
    ],
    'current-context': 'main',
    preferences: {},
    ...rest,
  })

t.test('what a context says', t => {
  const nothing = {
    context: 'main',
    server: 'https://10.0.0.1:6443',
    authority: undefined,
    servername: undefined,
    insecure: false,
    certificate: undefined,
    key: undefined,
    token: undefined,
    tokenFile: undefined,
  }
  for (const [what, text, context, expected] of [
    ['nothing', config(), undefined, {}],
    ['a token', config({ user: { token: secret } }), undefined, { token: secret }],
    [
      'files, relative to the kubeconfig',
      config({
        cluster: { 'certificate-authority': 'pki/ca.crt' },
        user: { 'client-certificate': '../tls.crt', 'client-key': '/run/tls.key', tokenFile: 'token' },
      }),
      undefined,
      {
        authority: { file: '/etc/ipkeeper/pki/ca.crt' },
        certificate: { file: '/etc/tls.crt' },
        key: { file: '/run/tls.key' },
        tokenFile: '/etc/ipkeeper/token',
      },
    ],
    [
      'data win over files',
      config({
        cluster: { 'certificate-authority': 'ca.crt', 'certificate-authority-data': base64('CA') },
        user: {
          'client-certificate-data': `${base64('CERT')}\n`,
          'client-key': 'x',
          'client-key-data': base64('KEY'),
        },
      }),
      undefined,
      { authority: { text: 'CA' }, certificate: { text: 'CERT' }, key: { text: 'KEY' } },
    ],
    [
      'another name in the certificate',
      config({ cluster: { 'tls-server-name': 'kubernetes' } }),
      undefined,
      {
        servername: 'kubernetes',
      },
    ],
    ['unchecked', config({ cluster: { 'insecure-skip-tls-verify': true } }), undefined, { insecure: true }],
    [
      'a path in the URL',
      config({ cluster: { server: 'https://r.example/k8s/clusters/c-1/' } }),
      undefined,
      {
        server: 'https://r.example/k8s/clusters/c-1',
      },
    ],
    [
      'IPv6',
      config({ cluster: { server: 'https://[fd00::1]:6443' } }),
      undefined,
      { server: 'https://[fd00::1]:6443' },
    ],
    [
      'kubectl proxy',
      config({ cluster: { server: 'http://127.0.0.1:8001' }, user: { token: 'x' } }),
      undefined,
      {
        server: 'http://127.0.0.1:8001',
        token: 'x',
      },
    ],
    [
      'a context by name, without user',
      config(),
      'anonymous',
      {
        context: 'anonymous',
        server: 'https://other:6443',
      },
    ],
    [
      'JSON is YAML',
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: 'https://c' } }],
        contexts: [{ name: 'x', context: { cluster: 'c' } }],
        'current-context': 'x',
      }),
      undefined,
      { context: 'x', server: 'https://c' },
    ],
  ] as const) {
    t.strictSame(parseKubeconfig(text, path, context), { ...nothing, ...expected }, what)
  }
  t.end()
})

t.test('what cannot be used is named: file, section, key, and never a secret', async t => {
  const user = (values: object): string => config({ user: values })
  const cluster = (values: object): string => config({ cluster: values })
  for (const [what, text, context, message] of [
    ['empty', '', undefined, `${path}: current-context is missing`],
    ['no mapping', '- a', undefined, `${path}: expected a mapping, not an array`],
    [
      'cut off',
      `users:\n  - name: "x\n    token: ${secret}`,
      undefined,
      /^\/etc\/ipkeeper\/kubeconfig:\d+:\d+: no YAML \([a-z ]+\)$/,
    ],
    ['an unclosed list', `a: [${secret}`, undefined, /kubeconfig:1:\d+: no YAML/],
    ['no such context', config(), 'mian', `${path}: there is no context "mian"; did you mean "main"?`],
    ['no such cluster', config({ rest: { clusters: [] } }), undefined, `${path}: there is no cluster "prod"`],
    [
      'no such user',
      config({ rest: { users: [{ name: 'ipkeper', user: { token: secret } }] } }),
      undefined,
      `${path}: there is no user "ipkeeper"; did you mean "ipkeper"?`,
    ],
    [
      'a list that is none',
      config({ rest: { users: { ipkeeper: secret } } }),
      undefined,
      `${path}: users: expected a list, not an object`,
    ],
    ['no server', cluster({ server: '' }), undefined, `${path}: cluster "prod": server is missing`],
    [
      'no URL',
      cluster({ server: '10.0.0.1:6443' }),
      undefined,
      /cluster "prod": server: expected a URL such as/,
    ],
    ['another scheme', cluster({ server: 'ftp://10.0.0.1' }), undefined, /server: expected a URL/],
    ['a query', cluster({ server: 'https://a/?x=1' }), undefined, /server: expected a URL/],
    [
      'a password in the URL',
      cluster({ server: `https://admin:${secret}@a` }),
      undefined,
      /server: a URL with a user name or password is not supported/,
    ],
    [
      'a token for everybody to read',
      config({ cluster: { server: 'http://10.0.0.1' }, user: { token: secret } }),
      undefined,
      /cluster "prod": server: expected https/,
    ],
    [
      'a proxy',
      cluster({ 'proxy-url': `http://u:${secret}@p` }),
      undefined,
      `${path}: cluster "prod": proxy-url: proxies are not supported`,
    ],
    [
      'both',
      cluster({ 'insecure-skip-tls-verify': true, 'certificate-authority': 'x' }),
      undefined,
      /insecure-skip-tls-verify and certificate-authority exclude each other/,
    ],
    [
      'a flag that is none',
      cluster({ 'insecure-skip-tls-verify': 'yes' }),
      undefined,
      `${path}: cluster "prod": insecure-skip-tls-verify: expected true or false, not a string`,
    ],
    [
      'no base64',
      user({ 'client-key-data': `-----BEGIN ${secret}` }),
      undefined,
      `${path}: user "ipkeeper": client-key-data: expected base64 of a PEM text`,
    ],
    [
      'a certificate without key',
      user({ 'client-certificate': 'x' }),
      undefined,
      /client-certificate needs client-key/,
    ],
    [
      'a key without certificate',
      user({ 'client-key': 'x' }),
      undefined,
      /client-key needs client-certificate/,
    ],
    [
      'a token that is no text',
      user({ token: { a: secret } }),
      undefined,
      `${path}: user "ipkeeper": token: expected a string, not an object`,
    ],
    [
      'a program',
      user({ exec: { command: 'aws', env: [{ name: 'K', value: secret }] } }),
      undefined,
      `${path}: user "ipkeeper": exec: credentials from a program (exec) are not supported`,
    ],
    [
      'auth-provider',
      user({ 'auth-provider': { name: 'gcp' } }),
      undefined,
      /auth-provider: auth-provider is not supported/,
    ],
    [
      'a password',
      user({ username: 'a', password: secret }),
      undefined,
      /username: user name and password are not supported/,
    ],
    ['impersonation', user({ as: 'admin' }), undefined, /as: impersonation is not supported/],
  ] as const) {
    const problem = await thrownProblem(() => parseKubeconfig(text, path, context))
    t.match(problem, { code: 'IPK_KUBERNETES_CONFIG', message }, what)
    t.notMatch(`${problem.message} ${problem.details} ${problem.hint}`, secret, `${what}: no secret`)
  }
})

t.test('the manifest that grants our rights is what the hint names', async t => {
  const problem = await thrownProblem(() => parseKubeconfig(config({ user: { exec: {} } }), path, undefined))
  t.match(problem.hint, 'deploy/rbac/rbac.yaml')
  t.match(readFileSync('deploy/rbac/rbac.yaml', 'utf8'), 'kind: ServiceAccount')
})
