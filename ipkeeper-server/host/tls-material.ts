import { createSecureContext } from 'node:tls'
import { Problem } from '../../shared/problem/problem.ts'
import type { ProblemCode } from '../../shared/problem/catalogue.ts'

/** What TLS needs; texts in PEM. */
export interface TlsMaterial {
  /** Authorities that may have signed the server's certificate; those of the system when absent. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  /** Name that the server's certificate has to bear, when it is not that of the URL. */
  readonly servername?: string
  /** The server's certificate is not checked. */
  readonly insecure?: true
}

const parts = {
  ca: 'certificate authority',
  cert: 'client certificate',
  key: 'client key',
} as const

/**
 * Whether TLS can begin with this: said now, by the name of its source, and not at each later connection. Throws a
 * Problem of the code; what OpenSSL says of a key holds nothing of the key.
 */
export function checkTls(tls: TlsMaterial, source: string, code: ProblemCode): void {
  for (const [part, name] of Object.entries(parts)) {
    const text = tls[part as keyof typeof parts]
    if (text !== undefined && !text.includes('-----BEGIN ')) {
      throw new Problem(code, `${source}: the ${name} is not in PEM ("-----BEGIN ...")`)
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
      code,
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
