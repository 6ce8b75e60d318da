/** Certificates that are written here: openssl and TLS take them for what they are meant to be. */
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:tls'
import t from 'tap'
import { issueCertificate, issuedFor } from '../../../../ipkeeper-server/http/webhook/issue-certificate.ts'
import { missing } from '../../../rigs/requirements.ts'
import { mustRun } from '../../../rigs/run-program.ts'
import { makeAuthority } from '../../../rigs/server-certificate.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'

const skip = missing('openssl')
const host = 'ipkeeper-webhook.ipkeeper-system.svc'

t.test('issued by an authority of each kind', { skip }, async t => {
  const folder = tempFolder(t)
  for (const kind of ['rsa', 'ec'] as const) {
    const ca = await makeAuthority(folder, kind, kind, 10_000)
    const authority = { certificate: new X509Certificate(ca.cert), key: createPrivateKey(ca.key) }
    for (const now of [Date.now(), Date.UTC(2049, 11, 15)]) {
      const { cert, key } = issueCertificate(authority, host, now)
      const issued = new X509Certificate(cert)
      const name = `${kind}, ${new Date(now).getUTCFullYear()}`
      t.ok(issued.checkIssued(authority.certificate) && issued.verify(authority.certificate.publicKey), name)
      t.ok(issued.checkPrivateKey(createPrivateKey(key)), `${name}: its key`)
      t.equal(issued.checkHost(host), host, `${name}: the name`)
      t.equal(issued.ca, false, `${name}: no authority itself`)
      t.equal(
        Date.parse(issued.validTo),
        Math.min(Math.floor((now + issuedFor) / 1000) * 1000, Date.parse(authority.certificate.validTo)),
        `${name}: its end`,
      )
      writeFileSync(folder.file('issued.crt'), cert)
      const at = Math.floor(now / 1000)
      t.match(
        await mustRun('openssl', [
          ...[
            'verify',
            '-x509_strict',
            '-purpose',
            'sslserver',
            '-verify_hostname',
            host,
            '-attime',
            String(at),
          ],
          ...['-CAfile', folder.file(`${kind}.crt`), folder.file('issued.crt')],
        ]),
        /: OK/,
        `${name}: as openssl sees it`,
      )
    }
  }
})

t.test('for an address', { skip }, async t => {
  const ca = await makeAuthority(tempFolder(t), 'ca', 'ec')
  const authority = { certificate: new X509Certificate(ca.cert), key: createPrivateKey(ca.key) }
  for (const address of ['192.0.2.10', '2001:db8::10']) {
    const issued = new X509Certificate(issueCertificate(authority, address, Date.now()).cert)
    t.equal(issued.checkIP(address), address)
    t.equal(issued.checkHost(address), undefined)
  }
})

t.test('a client that trusts the authority connects, and another one does not', { skip }, async t => {
  const folder = tempFolder(t)
  const [ca, other] = [await makeAuthority(folder, 'ca', 'rsa'), await makeAuthority(folder, 'other', 'rsa')]
  const authority = { certificate: new X509Certificate(ca.cert), key: createPrivateKey(ca.key) }
  const server = createServer(issueCertificate(authority, host, Date.now()), socket => socket.end('hello'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const reaches = async (trusted: string): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port, servername: host, ca: trusted })
    const [said] = (await once(socket, 'data').catch((error: unknown) => [
      (error as { code: string }).code,
    ])) as [Buffer | string]
    socket.destroy()
    return said.toString()
  }
  t.equal(await reaches(ca.cert), 'hello')
  t.match(await reaches(other.cert), /UNABLE_TO_VERIFY|SELF_SIGNED|CERT/)
})

t.test('a key that nothing is signed with', { skip }, async t => {
  const { cert } = await makeAuthority(tempFolder(t), 'ca', 'ec')
  const { privateKey: key } = generateKeyPairSync('ed25519')
  const authority = { certificate: new X509Certificate(cert), key }
  t.throws(
    () => issueCertificate(authority, host, Date.now()),
    /the key of the authority is of type ed25519, and not of rsa or ec/,
  )
})
