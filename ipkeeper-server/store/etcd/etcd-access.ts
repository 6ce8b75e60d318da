import { Problem } from '../../../shared/problem/problem.ts'
import { FreshFile } from '../../host/fresh-file.ts'
import { checkTls, type TlsMaterial } from '../../host/tls-material.ts'

/** `store.etcd` of the configuration. Files are absolute paths; a certificate has a key, and a user a password. */
export interface EtcdSettings {
  /** Ends with "/". */
  readonly prefix: string
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
  readonly user?: string
  readonly passwordFile?: string
}

/** Where etcd is, and by what it knows us. What files hold is looked at anew within a minute, or at once with `again`. */
export interface EtcdAccess {
  /** "http://10.0.0.1:2379". */
  readonly endpoints: readonly string[]
  tls(again: boolean): TlsMaterial
  /** undefined where certificates are all, or nothing is asked for. */
  login(): { readonly user: string; readonly password: string } | undefined
}

const code = 'IPK_DAEMON_CONFIG'

/**
 * Reads all files once. Throws IPK_DAEMON_CONFIG that names the file.
 *
 * @param monotonic milliseconds of a clock that never jumps
 */
export function openEtcdAccess(
  endpoints: readonly string[],
  settings: EtcdSettings,
  monotonic: () => number,
): EtcdAccess {
  const { caFile, certFile, keyFile, user, passwordFile } = settings
  const open = (path: string | undefined, what: string): FreshFile | undefined =>
    path === undefined ? undefined : new FreshFile(path, what, monotonic, code)
  const given = caFile ?? certFile
  if (given !== undefined && !endpoints.some(endpoint => endpoint.startsWith('https:')))
    throw new Problem(
      code,
      `store.etcd: ${given} has no use: no endpoint of --store etcd: begins with https://`,
    )
  const ca = open(caFile, 'certificate authority')
  const cert = open(certFile, 'client certificate')
  const key = open(keyFile, 'client key')
  const password = open(passwordFile, 'password')
  const tls = (again: boolean): TlsMaterial => ({
    ...(ca && { ca: ca.read(again) }),
    ...(cert && { cert: cert.read(again) }),
    ...(key && { key: key.read(again) }),
  })
  if (given !== undefined) checkTls(tls(false), 'store.etcd', code)
  return {
    endpoints,
    tls,
    login: () =>
      user === undefined || !password
        ? undefined
        : { user, password: password.read(true).replace(/\r?\n$/, '') },
  }
}
