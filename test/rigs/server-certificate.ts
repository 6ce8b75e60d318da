import { readFileSync } from 'node:fs'
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
