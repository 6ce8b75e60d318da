import { mustRun } from './run-program.ts'
import type { TempFolder } from './temp-folder.ts'

/** Signs certificates by which an API server knows its users. Node can read X.509 and not write it: openssl does. */
export interface ClientAuthority {
  /** PEM of the authority's own certificate. */
  readonly certificateFile: string
  /** A certificate and its key, as files; the user is its common name, the groups are its organisations. */
  issue(user: string, groups: readonly string[]): Promise<{ certificateFile: string; keyFile: string }>
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

export async function makeClientAuthority(folder: TempFolder): Promise<ClientAuthority> {
  const files = (name: string): { certificateFile: string; keyFile: string } => ({
    certificateFile: folder.file(`${name}.crt`),
    keyFile: folder.file(`${name}.key`),
  })
  const sign = (
    { certificateFile, keyFile }: { certificateFile: string; keyFile: string },
    subject: string,
    further: readonly string[],
  ): Promise<string> =>
    mustRun('openssl', [
      ...['req', '-x509', ...newKey, '-days', '1', '-subj', subject],
      ...['-keyout', keyFile, '-out', certificateFile, ...further],
    ])
  const authority = files('client-authority')
  await sign(authority, '/CN=client-authority', [])
  let issued = 0
  return {
    certificateFile: authority.certificateFile,
    issue: async (user, groups) => {
      const client = files(`client-${++issued}`)
      const subject = [...groups.map(group => `/O=${group}`), `/CN=${user}`].join('')
      await sign(client, subject, [
        ...['-CA', authority.certificateFile, '-CAkey', authority.keyFile],
        ...['-addext', 'basicConstraints=critical,CA:FALSE', '-addext', 'extendedKeyUsage=clientAuth'],
      ])
      return client
    },
  }
}
