import { readFileSync, writeFileSync } from 'node:fs'
import { mustRun } from './run-program.ts'
import type { TempFolder } from './temp-folder.ts'

/** PEM texts of a server's certificate, which is its own authority, and its key. */
export interface ServerCertificate {
  readonly cert: string
  readonly key: string
}

/** A certificate for these names, such as "DNS:kubernetes" or "IP:127.0.0.1". Node can read X.509 and not write it. */
export async function makeServerCertificate(
  folder: TempFolder,
  name: string,
  ...names: readonly string[]
): Promise<ServerCertificate> {
  const [key, cert] = [folder.file(`${name}.key`), folder.file(`${name}.crt`)]
  await mustRun('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
    ...['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names.join(',')}`, '-keyout', key, '-out', cert],
  ])
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}

/** An authority and its key, valid for so many days. */
export async function makeAuthority(
  folder: TempFolder,
  name: string,
  kind: 'rsa' | 'ec',
  days = 1,
): Promise<ServerCertificate> {
  const [key, cert] = [folder.file(`${name}.key`), folder.file(`${name}.crt`)]
  const algorithm = kind === 'rsa' ? ['rsa:2048'] : ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  await mustRun('openssl', [
    ...[
      'req',
      '-x509',
      '-newkey',
      ...algorithm,
      '-nodes',
      '-days',
      String(days),
      '-subj',
      `/O=tests/CN=${name}`,
    ],
    ...['-addext', 'keyUsage=critical,keyCertSign', '-keyout', key, '-out', cert],
  ])
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}

const authorityConfig = `[ca]
default_ca = own
[own]
database = index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
copy_extensions = copy
[any]
commonName = supplied
`

/** Like makeServerCertificate, but its time was over long ago. */
export async function makeExpiredCertificate(
  folder: TempFolder,
  name: string,
  ...names: readonly string[]
): Promise<ServerCertificate> {
  const [key, request, cert] = ['key', 'csr', 'crt'].map(kind => `${name}.${kind}`) as [
    string,
    string,
    string,
  ]
  const own = { cwd: folder.path }
  writeFileSync(folder.file('ca.cnf'), authorityConfig)
  writeFileSync(folder.file('index'), '')
  await mustRun(
    'openssl',
    [
      ...['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...[
        '-subj',
        `/CN=${name}`,
        '-addext',
        `subjectAltName=${names.join(',')}`,
        '-keyout',
        key,
        '-out',
        request,
      ],
    ],
    own,
  )
  await mustRun(
    'openssl',
    [
      ...['ca', '-batch', '-notext', '-config', 'ca.cnf', '-selfsign', '-keyfile', key, '-in', request],
      ...['-startdate', '20200101000000Z', '-enddate', '20200102000000Z', '-out', cert],
    ],
    own,
  )
  return { cert: readFileSync(folder.file(cert), 'utf8'), key: readFileSync(folder.file(key), 'utf8') }
}
