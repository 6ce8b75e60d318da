import type { TlsMaterial } from '../host/tls-material.ts'

export interface ApiSecrets {
  readonly token: string | undefined
  readonly tls: TlsMaterial
}

/** Where the Kubernetes API is, and by what it knows us. */
export interface ApiAccess {
  /** "https://10.96.0.1:443", or with a path: "https://rancher.example/k8s/clusters/c-1"; no slash at the end. */
  readonly server: string
  /** Where this was learnt, for people: "kubeconfig /etc/ipkeeper/kubeconfig, context prod". Holds no secret. */
  readonly source: string
  /**
   * Tokens and certificates rotate: what is returned was looked at within the last minute, or just now if `again` is
   * set. A file that cannot be read any more leaves what was last read in force.
   */
  secrets(again: boolean): ApiSecrets
}
