import { createSecureContext } from 'node:tls'
import { Problem } from '../../shared/problem/problem.ts'
import type { TlsMaterial } from './api-access.ts'

const parts = {
  ca: 'certificate authority',
  cert: 'client certificate',
  key: 'client key',
} as const

/**
 * Whether TLS can begin with this: said now, by the name of its source, and not at each later connection. Throws
 * IPK_KUBERNETES_CONFIG; what OpenSSL says of a key holds nothing of the key.
 */
export function checkTls(tls: TlsMaterial, source: string): void {
  for (const [part, name] of Object.entries(parts)) {
    const text = tls[part as keyof typeof parts]
    if (text !== undefined && !text.includes('-----BEGIN ')) {
      throw new Problem('IPK_KUBERNETES_CONFIG', `${source}: the ${name} is not in PEM ("-----BEGIN ...")`)
    }
  }
  try {
    createSecureContext({
      ...(tls.ca !== undefined && { ca: tls.ca }),
      ...(tls.cert !== undefined && { cert: tls.cert }),
      ...(tls.key !== undefined && { key: tls.key }),
    })
  } catch (error) {
    const why = error instanceof Error && 'reason' in error ? String(error.reason) : 'OpenSSL refuses it'
    throw new Problem(
      'IPK_KUBERNETES_CONFIG',
      `${source}: certificate authority, client certificate and client key do not make a TLS client (${why})`,
    )
  }
}

/** Whether a connection made with one would be made the same with the other. */
export function sameTls(a: TlsMaterial, b: TlsMaterial): boolean {
  return (
    a.ca === b.ca &&
    a.cert === b.cert &&
    a.key === b.key &&
    a.servername === b.servername &&
    a.insecure === b.insecure
  )
}
