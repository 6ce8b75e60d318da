import { generateKeyPair } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { openEtcdAccess, type EtcdSettings } from '../../../../ipkeeper-server/store/etcd/etcd-access.ts'
import { EngineAway, type EngineWrite } from '../../../../ipkeeper-server/store/shared/engine.ts'
import { makeClientAuthority } from '../../../rigs/client-authority.ts'
import { startEtcdCluster, type EtcdCluster } from '../../../rigs/etcd.ts'
import { until } from '../../../rigs/poll.ts'
import { missing } from '../../../rigs/requirements.ts'
import { makeServerCertificate } from '../../../rigs/server-certificate.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'
import { connectEtcd, Heard } from './heard.ts'

const write = (key: string): EngineWrite[] => [{ kind: 'pool', key, base: null, text: '{"generation":1}' }]

t.test('what cannot be used is said at the start', async t => {
  const folder = t.testdir({ empty: '', text: 'hello', password: 'secret\n' })
  const rows: readonly (readonly [
    what: string,
    url: string,
    settings: Omit<EtcdSettings, 'prefix'>,
    message: RegExp,
  ])[] = [
    [
      'no such file',
      'https://10.0.0.1:2379',
      { caFile: join(folder, 'none') },
      /none: the certificate authority cannot be read \(ENOENT\)/,
    ],
    [
      'an empty file',
      'https://10.0.0.1:2379',
      { caFile: join(folder, 'empty') },
      /empty: the certificate authority is empty/,
    ],
    [
      'no PEM',
      'https://10.0.0.1:2379',
      { caFile: join(folder, 'text') },
      /the certificate authority is not in PEM/,
    ],
    [
      'no password',
      'http://10.0.0.1:2379',
      { user: 'u', passwordFile: join(folder, 'none') },
      /none: the password cannot be read/,
    ],
    [
      'an authority for nothing',
      'http://10.0.0.1:2379',
      { caFile: join(folder, 'text') },
      /text has no use: no endpoint .* begins with https:/,
    ],
  ]
  for (const [what, url, settings, message] of rows) {
    const problem = await thrownProblem(() => openEtcdAccess([url], { prefix: '/', ...settings }, () => 0))
    t.match(problem, { code: 'IPK_DAEMON_CONFIG', message }, what)
  }
  const access = openEtcdAccess(
    ['http://10.0.0.1:2379'],
    { prefix: '/', user: 'u', passwordFile: join(folder, 'password') },
    () => 0,
  )
  t.strictSame(access.login(), { user: 'u', password: 'secret' })
  writeFileSync(join(folder, 'password'), 'another')
  t.strictSame(access.login(), { user: 'u', password: 'another' })
})

t.test('TLS', { skip: missing('etcd', 'openssl') }, async t => {
  const folder = tempFolder(t)
  const authority = await makeClientAuthority(folder)
  const { certificateFile: certFile, keyFile } = await authority.issue('ipkeeper', [])
  const [serverCert, serverKey] = [folder.file('etcd.crt'), folder.file('etcd.key')]
  const etcd = await startEtcdCluster(t, {
    address: async address => {
      const { cert, key } = await makeServerCertificate(folder, 'etcd', `IP:${address}`)
      writeFileSync(serverCert, cert)
      writeFileSync(serverKey, key)
    },
    tls: { certFile: serverCert, keyFile: serverKey, clientAuthority: authority.certificateFile },
  })

  t.test('both sides show what they have', async t => {
    const engine = connectEtcd(t, etcd.urls, { settings: { caFile: serverCert, certFile, keyFile } })
    const heard = new Heard()
    engine.start(heard)
    await engine.commit(write('a'))
    await until('the news', () => heard.records.size === 1)
  })

  t.test('one without a certificate', async t => {
    const engine = connectEtcd(t, etcd.urls, { settings: { caFile: serverCert }, deadlineMs: 1_000 })
    await t.rejects(engine.commit(write('b')), { name: 'EngineAway' })
  })

  t.test('an authority that did not sign it, until the right one is there', async t => {
    const caFile = folder.file('ca.crt')
    writeFileSync(caFile, readFileSync(authority.certificateFile))
    const engine = connectEtcd(t, etcd.urls, { settings: { caFile, certFile, keyFile }, deadlineMs: 1_000 })
    await t.rejects(engine.commit(write('c')), { name: 'EngineAway', message: /certificate/ })
    writeFileSync(caFile, readFileSync(serverCert))
    await until(
      'it is taken',
      async () =>
        await engine.probe().then(
          () => true,
          () => false,
        ),
    )
    await engine.commit(write('c'))
  })

  t.test('a server that speaks no TLS', async t => {
    const engine = connectEtcd(
      t,
      etcd.urls.map(url => url.replace('https:', 'http:')),
      { deadlineMs: 1_000 },
    )
    await t.rejects(engine.commit(write('d')), { name: 'EngineAway' })
  })
})

/** root, and "ipkeeper" who may do all below /ipkeeper/; then users are switched on. */
async function switchUsersOn(etcd: EtcdCluster): Promise<void> {
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  for (const [name, password] of [
    ['root', 'toor'],
    ['ipkeeper', 'secret'],
  ])
    await etcd.ask('/v3/auth/user/add', { name, password })
  for (const name of ['root', 'ledger']) await etcd.ask('/v3/auth/role/add', { name })
  await etcd.ask('/v3/auth/role/grant', {
    name: 'ledger',
    perm: { permType: 'READWRITE', key: base64('/ipkeeper/'), range_end: base64('/ipkeeper0') },
  })
  await etcd.ask('/v3/auth/user/grant', { user: 'root', role: 'root' })
  await etcd.ask('/v3/auth/user/grant', { user: 'ipkeeper', role: 'ledger' })
  await etcd.ask('/v3/auth/enable', {})
}

t.test('users', { skip: missing('etcd') }, async t => {
  const folder = tempFolder(t)
  const passwordFile = folder.file('password')
  writeFileSync(passwordFile, 'secret\n')
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  writeFileSync(folder.file('jwt.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(folder.file('jwt.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }))
  const jwt = `jwt,pub-key=${folder.file('jwt.pub')},priv-key=${folder.file('jwt.key')},sign-method=RS256,ttl=1s`
  const settings = { user: 'ipkeeper', passwordFile }

  for (const [tokens, flags] of [
    ['tokens that a member keeps', []],
    ['tokens that expire after a second', [`--auth-token=${jwt}`]],
  ] as const)
    t.test(tokens, async t => {
      const etcd = await startEtcdCluster(t, { flags })
      const early = connectEtcd(t, etcd.urls, { settings })
      const heard = new Heard()
      early.start(heard)
      await early.commit(write('before users were switched on'))
      await until('the news', () => heard.records.size === 1)
      await switchUsersOn(etcd)
      await early.commit(write('a'))

      t.test('nobody', async t => {
        const engine = connectEtcd(t, etcd.urls)
        const refused = { code: 'IPK_STORE_FAILED', hint: /"user" and "passwordFile"/ }
        await t.rejects(engine.commit(write('b')), refused)
        await t.rejects(engine.probe(), refused)
      })

      t.test('a wrong password', async t => {
        writeFileSync(folder.file('wrong'), 'wrong')
        const engine = connectEtcd(t, etcd.urls, {
          settings: { user: 'ipkeeper', passwordFile: folder.file('wrong') },
        })
        await t.rejects(engine.commit(write('b')), {
          code: 'IPK_STORE_FAILED',
          message: /authentication failed/,
          hint: /correct "user"/,
        })
      })

      t.test('a prefix that is not theirs', async t => {
        const engine = connectEtcd(t, etcd.urls, { settings, prefix: '/other/' })
        const denied = { code: 'IPK_STORE_FAILED', message: /permission denied/, hint: /grant-permission/ }
        await t.rejects(engine.commit(write('b')), denied)
        await t.rejects(engine.read('pool', 'b'), denied)
        await t.rejects(engine.probe(), denied)
        const told = new Heard()
        engine.start(told)
        await until('trouble', () => told.reason !== undefined)
        t.match(told.reason, /permission denied/)
      })

      t.test('a token that is not known any more', async t => {
        const engine = connectEtcd(t, etcd.urls, { settings, watch: { silence: 300, pauses: [50, 200] } })
        const told = new Heard()
        engine.start(told)
        await engine.commit(write('c'))
        const [member] = etcd.members
        await member?.kill()
        await member?.start()
        // Where tokens expire, this one does meanwhile.
        const began = performance.now()
        await until('a while', () => performance.now() - began > 1_500)
        // Each try has a key of its own: one whose answer was late may have been carried out.
        let tries = 0
        await until('a connection', async () => {
          const error = await engine.commit(write(`d${++tries}`)).catch((error: unknown) => error)
          if (error instanceof EngineAway) return false
          if (error instanceof Error) throw error
          return true
        })
        await until('the news', () => told.text('pool', `d${tries}`) !== undefined)
        await until('no trouble', () => told.reason === undefined)
      })
    })
})

t.test('no room', { skip: missing('etcd') }, async t => {
  const etcd = await startEtcdCluster(t, { flags: [`--quota-backend-bytes=${1024 * 1024}`] })
  const engine = connectEtcd(t, etcd.urls)
  const room = { code: 'IPK_STORE_FAILED', message: /space exceeded/, hint: /etcdctl alarm list.*defrag/ }
  const large = JSON.stringify({ generation: 1, note: 'x'.repeat(400_000) })
  let refused: unknown
  for (let index = 0; index < 20 && refused === undefined; index++)
    await engine
      .commit([{ kind: 'pool', key: `p${index}`, base: null, text: large }])
      .catch((error: unknown) => (refused = error))
  t.match(refused, room)
  await t.rejects(engine.probe(), room)
  t.ok(await engine.read('pool', 'p0'), 'it is still read')
})
