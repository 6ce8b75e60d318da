/**
 * A real Kubernetes API server on a real etcd: authentication, RBAC, admission, watches and everything that the server
 * itself does. No node, no scheduler and, unless asked for, no controllers: objects are what the test makes them. With real nodes:
 * kubelet-cluster/.
 *
 * With Debian 12's etcd 3.4 the server refuses `sendInitialEvents`, unless it runs with `--watch-cache=false`. A short
 * watch has its bookmark 2 s before its `timeoutSeconds` are over, if anything of the kind was written since it began.
 *
 * It is ready in two to three seconds. Each cluster has a loopback address of its own, so that well-known ports serve
 * for all and a server that comes back finds its port free.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { startInBackground, type BackgroundProgram } from './background-program.ts'
import { makeClientAuthority, type ClientAuthority } from './client-authority.ts'
import { openClusterClient, type ClusterClient, type Credentials } from './cluster-client.ts'
import { findClusterProgram, type ClusterProgram } from './cluster-programs.ts'
import { etcdPort, loopbackAddress, restoreEtcd, startEtcd, type EnterHost } from './etcd.ts'
import type { PrivateHost } from './private-host.ts'
import { hangMs } from './poll.ts'
import { relayAtSameAddress, relayInto } from './relay.ts'
import { makeServerCertificate } from './server-certificate.ts'
import { tempFolder, type TempFolder } from './temp-folder.ts'
import type { Scope } from './teardown.ts'

export interface ClusterOptions {
  /** Further flags of kube-apiserver, such as `--event-ttl=5s` or `--watch-cache=false`. */
  readonly flags?: readonly string[]
  /** Names of controllers that run, see `workloadControllers`; none when absent. */
  readonly controllers?: readonly string[]
  /** Has a scheduler, and a server that kubelets reach. Default: no node ever comes. */
  readonly site?: ClusterSite
}

/** Where a cluster is that has nodes. */
export interface ClusterSite {
  /** All programs run in it; on this machine the server is reached by a relay. */
  readonly host: PrivateHost
  /** The server's own in there. */
  readonly address: string
}

/** What makes pods of StatefulSets, Deployments, DaemonSets and Jobs, and removes what belongs to something deleted. */
export const workloadControllers: readonly string[] = [
  'statefulset-controller',
  'deployment-controller',
  'replicaset-controller',
  'daemonset-controller',
  'job-controller',
  'garbage-collector-controller',
  'namespace-controller',
]

/** Requests of the cluster itself are those of its administrator. */
export interface Cluster extends ClusterClient {
  readonly url: string
  /** PEM of the authority that signed the server's certificate. */
  readonly caFile: string
  readonly adminToken: string
  /** Path of the authority's certificate by which the server knows clients. */
  readonly clientCaFile: string
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string
  /** Requests as somebody else. */
  as(credentials: Credentials): ClusterClient
  /** Writes a kubeconfig and gives its path. */
  kubeconfigFor(credentials: Credentials): string
  /**
   * A token of a service account that exists, as kubelet would ask for it.
   *
   * @param expirationSeconds at least 600: the API refuses less
   */
  serviceAccountToken(namespace: string, name: string, expirationSeconds?: number): Promise<string>
  /** A certificate by which the server knows a user. */
  clientCertificate(
    user: string,
    ...groups: readonly string[]
  ): Promise<{ readonly certificateFile: string; readonly keyFile: string }>
  /**
   * Makes the server reachable inside a private host, by the same URL and kubeconfigs. While it is stopped, connections
   * from there are taken and break; others are refused.
   */
  exposeIn(host: PrivateHost): Promise<void>
  /** Ends the server. Its data stay, and so do etcd and the controllers. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Starts it again, at the same address and with the same data, and waits until it is ready. */
  start(): Promise<void>
  /** The server takes connections and answers nothing, until `thaw`. */
  freeze(): void
  thaw(): void
  /**
   * Forgets all versions of all objects but the present one. A server keeps the latest versions in memory: going on
   * from an old one, by a watch or by `continue` of a list, is answered with 410 only by a server that was started after
   * this, or runs with `--watch-cache=false`.
   */
  compact(): Promise<void>
  /** Saves all that the API has; gives the file. */
  snapshot(): Promise<string>
  /** Ends the server and etcd, takes etcd back to a snapshot, and starts both. */
  restore(snapshot: string): Promise<void>
  /** What kube-apiserver has written so far. */
  log(): string
}

const port = 6443

/** Starts etcd and kube-apiserver, waits until it is ready, and has all of it removed when the test ends. */
export async function startCluster(t: Scope, options: ClusterOptions = {}): Promise<Cluster> {
  const folder = tempFolder(t)
  const running: BackgroundProgram[] = []
  t.teardown(async () => {
    for (const program of running.reverse()) await program.stop('SIGKILL')
  })

  const address = loopbackAddress()
  const { site } = options
  const enter: EnterHost = (program, args) => site?.host.become(program, args) ?? [program, args]
  let sockets = 0
  if (site) {
    for (const served of [etcdPort, port])
      await relayAtSameAddress(t, site.host, {
        ...{ address, port: served, socket: folder.file(`relay-${++sockets}.sock`) },
      })
  }
  let etcd = await startEtcd(folder.file('etcd'), address, enter)
  let snapshots = 0
  let restored = 0
  running.push(etcd.program)

  const adminToken = randomBytes(16).toString('hex')
  const credentials = { token: adminToken }
  writeFileSync(folder.file('tokens.csv'), `${adminToken},admin,admin,system:masters\n`)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signingKey = folder.file('service-accounts.key')
  writeFileSync(signingKey, privateKey.export({ type: 'sec1', format: 'pem' }))
  const authority = await makeClientAuthority(folder)
  const serverFlags = [
    `--etcd-servers=${etcd.url}`,
    `--secure-port=${port}`,
    `--cert-dir=${folder.file('certificates')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${signingKey}`,
    `--service-account-signing-key-file=${signingKey}`,
    `--token-auth-file=${folder.file('tokens.csv')}`,
    `--client-ca-file=${authority.certificateFile}`,
    ...(site ? await flagsForNodes(folder, authority, site.address, address) : flagsWithoutNodes(address)),
    ...(options.flags ?? []),
  ]

  const url = `https://${address}:${port}`
  const caFile = folder.file('ca.crt')
  const startProgram = (name: ClusterProgram, flags: readonly string[]) => {
    const path = findClusterProgram(name)
    if (path === undefined) throw new Error(`no ${name}: ask missing('cluster', 'controllers') first`)
    const program = startInBackground(...enter(path, flags), folder.path)
    running.push(program)
    return program
  }
  const startServer = async (): Promise<BackgroundProgram> => {
    const program = startProgram('kube-apiserver', serverFlags)
    const isReady = async (): Promise<boolean> => {
      const ca = lastCertificate(readFileSync(folder.file('certificates', 'apiserver.crt'), 'utf8'))
      // Daemons that begin meanwhile read it.
      writeFileSync(`${caFile}.new`, ca)
      renameSync(`${caFile}.new`, caFile)
      await openClusterClient({ url, ca, credentials }).readText('/readyz')
      return true
    }
    await program.until('ready', isReady, 3 * hangMs)
    return program
  }
  let server = await startServer()
  const ca = readFileSync(caFile, 'utf8')
  const as = (presented: Credentials): ClusterClient => openClusterClient({ url, ca, credentials: presented })
  const admin = as(credentials)

  let kubeconfigs = 0
  const kubeconfigFor = (presented: Credentials): string => {
    const path = folder.file(`kubeconfig-${++kubeconfigs}.yaml`)
    writeFileSync(path, kubeconfigText(url, caFile, presented))
    return path
  }
  const kubeconfig = kubeconfigFor(credentials)
  if (options.controllers !== undefined) {
    const names = options.controllers.join(',')
    const flags = [`--kubeconfig=${kubeconfig}`, `--controllers=${names}`, '--leader-elect=false']
    const tokens = [`--service-account-private-key-file=${signingKey}`, `--root-ca-file=${caFile}`]
    startProgram('kube-controller-manager', [...flags, ...(site ? tokens : []), '--secure-port=0'])
  }
  if (site)
    startProgram('kube-scheduler', [
      `--kubeconfig=${kubeconfig}`,
      ...['--leader-elect=false', '--secure-port=0'],
    ])

  return {
    ...admin,
    url,
    caFile,
    clientCaFile: authority.certificateFile,
    adminToken,
    kubeconfig,
    as,
    kubeconfigFor,
    serviceAccountToken: async (namespace, name, expirationSeconds = 3600) => {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
      const spec = { expirationSeconds }
      const reply = await admin.request('POST', path, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec,
      })
      return reply['status'].token as string
    },
    clientCertificate: (user, ...groups) => authority.issue(user, groups),
    exposeIn: host => relayInto(t, host, { address, port, socket: folder.file(`relay-${++sockets}.sock`) }),
    stop: (signal = 'SIGTERM') => server.stop(signal),
    start: async () => {
      server = await startServer()
    },
    freeze: () => {
      server.signal('SIGSTOP')
    },
    thaw: () => {
      server.signal('SIGCONT')
    },
    compact: () => etcd.compact(),
    snapshot: async () => {
      const file = folder.file(`snapshot-${++snapshots}.db`)
      await etcd.save(file)
      return file
    },
    restore: async file => {
      await server.stop('SIGKILL')
      await etcd.program.stop('SIGKILL')
      const data = folder.file(`etcd-${++restored}`)
      await restoreEtcd(file, data, address)
      etcd = await startEtcd(data, address, enter)
      running.push(etcd.program)
      server = await startServer()
    },
    log: () => server.log(),
  }
}

/** Of the server, where no node ever comes. */
const flagsWithoutNodes = (address: string): readonly string[] => [
  `--bind-address=${address}`,
  `--advertise-address=${address}`,
  // The service of the server itself has no endpoints then: a loopback address cannot be one.
  '--endpoint-reconciler-type=none',
  '--authorization-mode=RBAC',
  // It wants a service account in each namespace, which a controller would make.
  '--disable-admission-plugins=ServiceAccount',
]

/** Of a server that nodes reach by one address and this machine by another. */
async function flagsForNodes(
  folder: TempFolder,
  authority: ClientAuthority,
  address: string,
  loopback: string,
): Promise<readonly string[]> {
  const addresses = [address, loopback, '10.96.0.1'].map(one => `IP:${one}`)
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'].map(one => `DNS:${one}`)
  const { cert, key } = await makeServerCertificate(folder, 'kubernetes', ...addresses, ...names)
  // The server makes one of its own unless these are there.
  mkdirSync(folder.file('certificates'), { recursive: true })
  writeFileSync(folder.file('certificates', 'apiserver.crt'), cert)
  writeFileSync(folder.file('certificates', 'apiserver.key'), key, { mode: 0o600 })
  const client = await authority.issue('kube-apiserver-kubelet-client', ['system:masters'])
  return [
    ...['--bind-address=0.0.0.0', `--advertise-address=${address}`],
    ...['--authorization-mode=Node,RBAC', '--enable-admission-plugins=NodeRestriction'],
    ...['--allow-privileged=true', '--kubelet-preferred-address-types=InternalIP'],
    `--kubelet-client-certificate=${client.certificateFile}`,
    `--kubelet-client-key=${client.keyFile}`,
    // So that webhooks are called on the addresses of their pods: the server's machine has no way to those of services.
    '--enable-aggregator-routing=true',
  ]
}

/** The server signs its certificate itself, at its first start, and puts that of the authority behind it. */
function lastCertificate(pem: string): string {
  return pem.slice(pem.lastIndexOf('-----BEGIN CERTIFICATE-----'))
}

function kubeconfigText(server: string, caFile: string, credentials: Credentials): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority': caFile } }],
    users: [{ name: 'user', user: userOf(credentials) }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'user' } }],
    'current-context': 'test',
  })
}

function userOf(credentials: Credentials): Readonly<Record<string, string>> {
  if ('token' in credentials) return { token: credentials.token }
  if ('tokenFile' in credentials) return { tokenFile: credentials.tokenFile }
  return { 'client-certificate': credentials.certificateFile, 'client-key': credentials.keyFile }
}
