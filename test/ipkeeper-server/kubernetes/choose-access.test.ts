import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { chooseAccess, type KubernetesSettings } from '../../../ipkeeper-server/kubernetes/choose-access.ts'
import { makeServerCertificate } from '../../rigs/server-certificate.ts'
import { missing } from '../../rigs/requirements.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

const temporary = tempFolder(t)
const skip = missing('openssl')
const nothing = { cert: '', key: '' }
const one = skip === false ? await makeServerCertificate(temporary, 'one', 'DNS:one') : nothing
const two = skip === false ? await makeServerCertificate(temporary, 'two', 'DNS:two') : nothing

const pod = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }

function accessFolder() {
  const folder = tempFolder(t)
  const account = folder.file('account')
  mkdirSync(account)
  writeFileSync(join(account, 'token'), 'tok-1\n')
  writeFileSync(join(account, 'ca.crt'), one.cert)
  const kubeconfig = folder.file('kubeconfig')
  const write = (user: object, cluster: object = {}): void => {
    const text = stringify({
      clusters: [
        {
          name: 'c',
          cluster: { server: 'https://api:6443', 'certificate-authority': 'account/ca.crt', ...cluster },
        },
      ],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    })
    // As kubeadm and others do it: nobody reads half a file.
    writeFileSync(`${kubeconfig}.new`, text)
    renameSync(`${kubeconfig}.new`, kubeconfig)
  }
  write({ token: 'tok-k' })
  const clock = { now: 1_000_000 }
  return {
    account,
    kubeconfig,
    folder,
    write,
    clock,
    choose: (settings: KubernetesSettings, env: Record<string, string> = {}) =>
      chooseAccess(settings, { env, monotonic: () => clock.now, folder: account }),
  }
}

t.test('which way is taken', { skip }, t => {
  const { kubeconfig, choose } = accessFolder()
  const byFile = { server: 'https://api:6443', source: `kubeconfig ${kubeconfig}, context x` }
  const byPod = { server: 'https://10.96.0.1:443' }
  for (const [what, settings, env, expected] of [
    ['off', { mode: 'off', kubeconfig }, pod, undefined],
    ['auto, nothing there', { mode: 'auto' }, {}, undefined],
    ['auto in a pod', { mode: 'auto' }, pod, byPod],
    ['auto in a pod, with a kubeconfig', { mode: 'auto', kubeconfig }, pod, byFile],
    ['in-cluster, with a kubeconfig', { mode: 'in-cluster', kubeconfig }, pod, byPod],
    ['kubeconfig', { mode: 'kubeconfig', kubeconfig, context: 'x' }, {}, byFile],
    [
      'IPv6',
      { mode: 'in-cluster' },
      { ...pod, KUBERNETES_SERVICE_HOST: 'fd00::1' },
      { server: 'https://[fd00::1]:443' },
    ],
  ] as const) {
    const access = choose(settings, env)
    if (expected) t.match(access, expected, what)
    else t.equal(access, undefined, what)
  }
  t.end()
})

t.test('a pod without a token is no pod of ours, unless it is said to be', { skip }, async t => {
  const { account, choose } = accessFolder()
  rmSync(join(account, 'token'))
  t.equal(choose({ mode: 'auto' }, pod), undefined)
  t.match(await thrownProblem(() => choose({ mode: 'in-cluster' }, pod)), {
    message: `${join(account, 'token')}: the token cannot be read (ENOENT)`,
  })
})

t.test('what is named and cannot be used', { skip }, async t => {
  const { account, kubeconfig, folder, choose, write } = accessFolder()
  for (const [what, settings, env, message, before] of [
    ['no file named', { mode: 'kubeconfig' }, {}, /no file is named/, undefined],
    [
      'no such file',
      { mode: 'auto', kubeconfig: '/no/such' },
      pod,
      '/no/such: the kubeconfig cannot be read (ENOENT)',
      undefined,
    ],
    ['no such context', { mode: 'auto', kubeconfig, context: 'y' }, {}, /there is no context "y"/, undefined],
    ['no host', { mode: 'in-cluster' }, {}, /KUBERNETES_SERVICE_HOST is not set/, undefined],
    [
      'no port',
      { mode: 'in-cluster' },
      { KUBERNETES_SERVICE_HOST: 'a' },
      /KUBERNETES_SERVICE_PORT is not set/,
      undefined,
    ],
    [
      'no host at all',
      { mode: 'in-cluster' },
      { ...pod, KUBERNETES_SERVICE_HOST: 'a/b' },
      /are not a host and a port/,
      undefined,
    ],
    [
      'a token file that is not there',
      { mode: 'auto', kubeconfig },
      {},
      /token-x: the token of context "x" cannot be read/,
      () => {
        write({ tokenFile: 'token-x' })
      },
    ],
    [
      'a key of another certificate',
      { mode: 'auto', kubeconfig },
      {},
      /context "x": certificate authority, client certificate and client key do not make a TLS client \(key values mismatch\)/,
      () => {
        write({ 'client-certificate': folder.file('c'), 'client-key': folder.file('k') })
        writeFileSync(folder.file('c'), one.cert)
        writeFileSync(folder.file('k'), two.key)
      },
    ],
    [
      'a certificate that is not in PEM',
      { mode: 'auto', kubeconfig },
      {},
      /context "x": the client key is not in PEM/,
      () => {
        writeFileSync(folder.file('k'), 'SECRET')
      },
    ],
    [
      'no authority',
      { mode: 'in-cluster' },
      pod,
      /ca.crt: the certificate authority is not in PEM/,
      () => {
        writeFileSync(join(account, 'ca.crt'), 'nothing')
      },
    ],
  ] as const satisfies readonly (readonly [
    string,
    KubernetesSettings,
    Record<string, string>,
    string | RegExp,
    (() => void) | undefined,
  ])[]) {
    before?.()
    const problem = await thrownProblem(() => choose(settings, env))
    t.match(problem, { code: 'IPK_KUBERNETES_CONFIG', message }, what)
    t.notMatch(`${problem.message} ${problem.details}`, 'SECRET')
  }
})

t.test('a service account is followed as kubelet renews it', { skip }, t => {
  const { account, choose, clock } = accessFolder()
  const access = choose({ mode: 'in-cluster' }, pod)!
  t.strictSame(access.secrets(false), { token: 'tok-1', tls: { ca: one.cert } })
  writeFileSync(join(account, 'token'), 'tok-2')
  writeFileSync(join(account, 'ca.crt'), two.cert)
  t.equal(access.secrets(false).token, 'tok-1', 'within the minute')
  clock.now += 60_000
  t.strictSame(access.secrets(false), { token: 'tok-2', tls: { ca: two.cert } })
  writeFileSync(join(account, 'token'), 'tok-3')
  t.equal(access.secrets(true).token, 'tok-3', 'at once when the server refuses the old one')
  t.end()
})

t.test('a kubeconfig is followed as it is renewed', { skip }, t => {
  const { kubeconfig, folder, choose, clock, write } = accessFolder()
  const access = choose({ mode: 'auto', kubeconfig })!
  const token = (): string | undefined => {
    clock.now += 60_000
    return access.secrets(false).token
  }
  t.strictSame(access.secrets(false), { token: 'tok-k', tls: { ca: one.cert } })
  write({ token: 'tok-l' })
  t.equal(token(), 'tok-l')
  writeFileSync(folder.file('token'), 'tok-file\n')
  write({ tokenFile: 'token', token: 'tok-m' })
  t.equal(token(), 'tok-file')
  writeFileSync(folder.file('token'), 'tok-file-2')
  t.equal(token(), 'tok-file-2')
  writeFileSync(kubeconfig, 'users: [')
  t.equal(token(), 'tok-file-2', 'a file that is broken now')
  writeFileSync(folder.file('token'), 'tok-file-3')
  t.equal(token(), 'tok-file-3', 'what was good last goes on being followed')
  write({ token: 'of another cluster' }, { server: 'https://other:6443' })
  t.equal(token(), 'tok-file-3', 'no secret goes to another server')
  const material = (text: string): string => Buffer.from(text).toString('base64')
  write(
    { 'client-certificate-data': material(two.cert), 'client-key-data': material(two.key) },
    { 'tls-server-name': 'two', 'certificate-authority-data': material(two.cert) },
  )
  clock.now += 60_000
  t.strictSame(access.secrets(false), {
    token: undefined,
    tls: { ca: two.cert, cert: two.cert, key: two.key, servername: 'two' },
  })
  t.end()
})
