import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { CertificateFiles } from '../../../../ipkeeper-server/http/webhook/certificate-files.ts'
import { X509Certificate } from 'node:crypto'
import {
  makeAuthority,
  makeExpiredCertificate,
  makeServerCertificate,
  type ServerCertificate,
} from '../../../rigs/server-certificate.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const folder = tempFolder(t)
const made = await makeServerCertificate(folder, 'first', 'DNS:ipkeeper')
const renewed = await makeServerCertificate(folder, 'second', 'DNS:ipkeeper')
const expired = await makeExpiredCertificate(folder, 'old', 'DNS:ipkeeper')
const [certFile, keyFile] = [folder.file('tls.crt'), folder.file('tls.key')]

/** As whoever renews them does: the files are others, and never half written. */
function put({ cert, key }: ServerCertificate): void {
  for (const [path, text] of [
    [certFile, cert],
    [keyFile, key],
  ] as const) {
    rmSync(path, { recursive: true, force: true })
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
}

function files(now = Date.now()) {
  const read: string[] = []
  const certificate = new CertificateFiles({
    ...{ certFile, keyFile, now: () => now },
    onRead: ({ cert }) => read.push(cert),
  })
  return { certificate, read }
}

t.test('they are read when they are others, and only then', t => {
  put(made)
  const { certificate, read } = files()
  for (let time = 0; time < 3; time++) t.match(certificate.current(), made)
  t.strictSame(read, [made.cert])
  put(renewed)
  t.match(certificate.current(), renewed)
  t.strictSame(read, [made.cert, renewed.cert])
  t.end()
})

const faults: readonly (readonly [what: string, spoil: () => void, message: RegExp])[] = [
  [
    'no certificate',
    () => {
      rmSync(certFile)
    },
    /^the webhook: \S+tls\.crt cannot be read \(ENOENT\)$/,
  ],
  [
    'no key',
    () => {
      rmSync(keyFile)
    },
    /^the webhook: \S+tls\.key cannot be read \(ENOENT\)$/,
  ],
  [
    'a folder',
    () => {
      rmSync(certFile)
      mkdirSync(certFile)
    },
    /^the webhook: \S+tls\.crt cannot be read \(/,
  ],
  [
    'a link that leads nowhere',
    () => {
      rmSync(keyFile)
      symlinkSync('nowhere', keyFile)
    },
    /^the webhook: \S+tls\.key cannot be read \(ENOENT\)$/,
  ],
  [
    'no certificate in it',
    () => {
      writeFileSync(certFile, 'nothing')
    },
    /tls\.crt and \S+tls\.key make no server certificate \(/,
  ],
  [
    'the key of another one',
    () => {
      put({ cert: made.cert, key: renewed.key })
    },
    /make no server certificate \(key values mismatch\)$/,
  ],
]
for (const [what, spoil, message] of faults)
  t.test(`${what}: it is told, and what was read before stays in force`, async t => {
    put(made)
    const { certificate, read } = files()
    certificate.look()
    spoil()
    const problem = await thrownProblem(() => {
      certificate.look()
    })
    t.match(problem, { code: 'IPK_WEBHOOK_CERTIFICATE', message })
    t.notMatch(`${problem.message} ${problem.hint}`, /PRIVATE KEY/)
    t.match(certificate.current(), made)
    t.strictSame(read, [made.cert])
    t.equal(files().certificate.current(), undefined, 'after a start there is none')
    put(made)
    t.doesNotThrow(() => {
      certificate.look()
    })
  })

t.test('one whose time is over', async t => {
  put(expired)
  const { certificate } = files()
  t.match(
    await thrownProblem(() => {
      certificate.look()
    }),
    {
      code: 'IPK_WEBHOOK_CERTIFICATE',
      message: /^the webhook: the certificate in \S+tls\.crt ended at 2020-01-02T00:00:00\.000Z$/,
      hint: /^renew it; see: openssl x509 -noout -dates -in \S+tls\.crt$/,
    },
  )
  t.doesNotThrow(() => {
    files(Date.parse('2020-01-01T12:00:00Z')).certificate.look()
  }, 'while its time is not over')
})

t.test('of an authority a certificate is issued, kept, and renewed before its end', async t => {
  const day = 24 * 60 * 60 * 1000
  put(await makeAuthority(folder, 'authority', 'rsa', 100))
  let now = Date.now()
  const read: string[] = []
  const certificate = new CertificateFiles({
    ...{ certFile, keyFile, issueFor: 'a.b.svc', now: () => now },
    onRead: ({ cert }) => read.push(cert),
  })
  const first = certificate.current()
  now += 19 * day
  t.equal(certificate.current(), first, 'the same while there is time')
  now += 2 * day
  const second = certificate.current()
  t.not(second, first, 'another one ten days before its end')
  t.equal(new X509Certificate(second?.cert ?? '').checkHost('a.b.svc'), 'a.b.svc')

  put(await makeAuthority(folder, 'next', 'ec', 100))
  t.not(certificate.current(), second, 'and at once of another authority')

  now = Date.now() + 95 * day
  const last = certificate.current()
  t.equal(last?.validTo, last?.authorityEnds, 'none outlives its authority')
  t.equal(certificate.current(), last, 'and is not issued again and again for that')
  now += 6 * day
  t.match(
    await thrownProblem(() => {
      certificate.look()
    }),
    { message: /ended at/ },
  )
  t.equal(read.length, 4)
})

t.test('what is no authority issues nothing', async t => {
  const authority = await makeAuthority(folder, 'own', 'ec')
  const other = await makeAuthority(folder, 'other', 'ec')
  const rows: readonly (readonly [name: string, pair: ServerCertificate, why: RegExp])[] = [
    ['the key of another', { cert: authority.cert, key: other.key }, /key values mismatch/],
    ['no certificate', { cert: 'x', key: authority.key }, /make no authority/],
    ['no key', { cert: authority.cert, key: 'x' }, /make no authority/],
  ]
  for (const [name, pair, why] of rows) {
    put(pair)
    const certificate = new CertificateFiles({
      ...{ certFile, keyFile, issueFor: 'a', now: Date.now },
      onRead: () => undefined,
    })
    t.match(
      await thrownProblem(() => {
        certificate.look()
      }),
      { code: 'IPK_WEBHOOK_CERTIFICATE', message: why },
      name,
    )
    t.equal(certificate.current(), undefined)
  }
})
