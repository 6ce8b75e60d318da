import { randomInt } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { request } from 'undici'
import { startInBackground, type BackgroundProgram } from './background-program.ts'
import { findClusterProgram } from './cluster-programs.ts'
import { findProgram } from './find-program.ts'
import { until } from './poll.ts'
import { mustRun } from './run-program.ts'
import { tempFolder, type TempFolder } from './temp-folder.ts'
import type { Scope } from './teardown.ts'

export interface Etcd {
  readonly program: BackgroundProgram
  /** Of its clients. */
  readonly url: string
  /** Forgets all versions of all keys but the present one. */
  compact(): Promise<void>
  /** Writes all that there is into a file. */
  save(file: string): Promise<void>
}

export interface EtcdMember {
  /** Of its clients. */
  readonly url: string
  /** It takes connections and answers nothing, until `thaw`. */
  freeze(): void
  thaw(): void
  /** Ends it at once; its data stay. */
  kill(): Promise<void>
  /** Starts it again, at the same address and with the same data, and waits until it has a leader. */
  start(): Promise<void>
  /** What it has written so far. */
  log(): string
}

export interface EtcdCluster {
  readonly members: readonly EtcdMember[]
  readonly urls: readonly string[]
  /** A request to the JSON gateway of the first member that answers; not of a cluster with TLS. */
  ask(path: string, body: object, token?: string): Promise<Readonly<Record<string, unknown>>>
  /** Forgets all versions of all keys but the present one. */
  compact(): Promise<void>
  /** Puts a value, past every engine. */
  put(key: string, value: string): Promise<void>
  remove(key: string): Promise<void>
  /** Values by key. */
  all(prefix: string): Promise<ReadonlyMap<string, string>>
  leader(): Promise<EtcdMember>
}

export interface EtcdClusterOptions {
  readonly members?: 1 | 3
  /** Paths; clients have to show a certificate that `clientAuthority` signed, where it is given. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string; readonly clientAuthority?: string }
  /** Told of the address of each member before it is started, for its certificate. */
  readonly address?: (address: string) => Promise<void>
  /** Further flags of etcd. */
  readonly flags?: readonly string[]
}

/** Milliseconds; who votes alone needs no second to be elected. */
const alone = ['--heartbeat-interval=10', '--election-timeout=100']
/** Three on a machine that is busy with other things. */
const amongOthers = ['--heartbeat-interval=50', '--election-timeout=500']

/** What is stored need not survive the machine. */
const unsafe = ['--unsafe-no-fsync']

function etcdProgram(): string {
  const path = findClusterProgram('etcd')
  if (path === undefined) throw new Error("no etcd: ask missing('etcd') first")
  return path
}

async function post(
  url: string,
  path: string,
  body: object,
  token?: string,
): Promise<Record<string, unknown>> {
  const reply = await request(`${url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    reset: true,
    headersTimeout: 5_000,
    bodyTimeout: 5_000,
    ...(token !== undefined && { headers: { authorization: token } }),
  })
  const text = await reply.body.text()
  if (reply.statusCode !== 200) throw new Error(`etcd: ${path}: ${reply.statusCode} ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}

async function isHealthy(url: string): Promise<boolean> {
  const reply = await request(`${url}/health`, { reset: true, headersTimeout: 5_000 })
  const { health } = (await reply.body.json()) as { readonly health: string }
  return health === 'true'
}

async function compactAt(url: string): Promise<void> {
  // Any key will do: every answer says the revision of the whole.
  const { header } = await post(url, '/v3/kv/range', { key: btoa('/') })
  await post(url, '/v3/kv/compaction', {
    revision: (header as { revision: string }).revision,
    physical: true,
  })
}

/** Of clients. */
export const etcdPort = 2379

/** The words that run a program in another place, such as a private host. */
export type EnterHost = (program: string, args: readonly string[]) => readonly [string, readonly string[]]

/**
 * Starts a store of one member and waits until it answers.
 *
 * @param folder for its data; made when it is not there
 * @param address loopback address that nobody else uses: the ports are etcd's usual ones
 * @param enter where it runs; clients of this machine have to reach it at the same address
 */
export async function startEtcd(
  folder: string,
  address: string,
  enter: EnterHost = (program, args) => [program, args],
): Promise<Etcd> {
  mkdirSync(folder, { recursive: true })
  const url = `http://${address}:${etcdPort}`
  const peerUrl = `http://${address}:2380`
  const flags = [
    '--name=only',
    `--data-dir=${folder}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=only=${peerUrl}`,
    ...unsafe,
    ...alone,
  ]
  const program = startInBackground(...enter(etcdProgram(), flags), folder)
  try {
    await program.until('healthy', () => isHealthy(url))
  } catch (error) {
    await program.stop('SIGKILL')
    throw error
  }
  return {
    program,
    url,
    compact: () => compactAt(url),
    save: async file => {
      await mustRun(etcdctl(), [`--endpoints=${url}`, 'snapshot', 'save', file])
    },
  }
}

/** Makes the data of a member that starts with what was saved, as the documentation of etcd has it. */
export async function restoreEtcd(file: string, folder: string, address: string): Promise<void> {
  const peerUrl = `http://${address}:2380`
  await mustRun(etcdctl(), [
    ...['snapshot', 'restore', file, '--name=only', `--data-dir=${folder}`],
    ...[`--initial-cluster=only=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
  ])
}

function etcdctl(): string {
  const path = findProgram('etcdctl')
  if (path === undefined) throw new Error("no etcdctl: ask missing('etcdctl') first")
  return path
}

/** A loopback address that no other test is likely to have. */
export function loopbackAddress(): string {
  return `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`
}

export interface RestorableEtcd {
  readonly url: string
  save(file: string): Promise<void>
  /** What was saved is all that there is. */
  restore(file: string): Promise<void>
}

/** A store of one member that goes back to what was saved, and ends with the test. */
export async function startRestorableEtcd(t: Scope, folder: TempFolder): Promise<RestorableEtcd> {
  const address = loopbackAddress()
  let restored = 0
  let etcd = await startEtcd(folder.file('etcd'), address)
  t.teardown(() => etcd.program.stop('SIGKILL'))
  return {
    url: etcd.url,
    save: file => etcd.save(file),
    restore: async file => {
      await etcd.program.stop('SIGKILL')
      const data = folder.file(`etcd-${++restored}`)
      await restoreEtcd(file, data, address)
      etcd = await startEtcd(data, address)
    },
  }
}

/** Starts one member or three, each with a loopback address of its own, and ends them with the test. */
export async function startEtcdCluster(
  t: Scope,
  { members: count = 1, tls, address: told, flags = [] }: EtcdClusterOptions = {},
): Promise<EtcdCluster> {
  const program = etcdProgram()
  const folder = tempFolder(t)
  const places = Array.from({ length: count }, (_, index) => ({
    name: `m${index}`,
    address: loopbackAddress(),
    data: folder.file(`m${index}`),
  }))
  const peers = places.map(({ name, address }) => `${name}=http://${address}:2380`).join(',')
  const scheme = tls ? 'https' : 'http'
  const running = new Map<string, BackgroundProgram>()
  const stopped = new Set<BackgroundProgram>()
  t.teardown(async () => {
    for (const one of running.values()) if (!stopped.has(one)) await one.stop('SIGKILL')
  })
  const healthUrl = (address: string): string => `http://${address}:2381`
  const begin = ({ name, address, data }: (typeof places)[number]): BackgroundProgram => {
    mkdirSync(data, { recursive: true })
    const [url, peerUrl] = [`${scheme}://${address}:2379`, `http://${address}:2380`]
    const begun = startInBackground(
      program,
      [
        ...[`--name=${name}`, `--data-dir=${data}`],
        ...[`--listen-client-urls=${url}`, `--advertise-client-urls=${url}`],
        ...[`--listen-peer-urls=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
        ...[`--initial-cluster=${peers}`, `--listen-metrics-urls=${healthUrl(address)}`],
        ...(tls ? [`--cert-file=${tls.certFile}`, `--key-file=${tls.keyFile}`] : []),
        ...(tls?.clientAuthority === undefined
          ? []
          : ['--client-cert-auth', `--trusted-ca-file=${tls.clientAuthority}`]),
        ...unsafe,
        ...(count === 1 ? alone : amongOthers),
        ...flags,
      ],
      data,
    )
    running.set(name, begun)
    return begun
  }
  const ready = async (place: (typeof places)[number]): Promise<void> => {
    await running.get(place.name)?.until('healthy', () => isHealthy(healthUrl(place.address)))
  }
  for (const { address } of places) await told?.(address)
  for (const place of places) begin(place)
  await Promise.all(places.map(ready))

  const members = places.map((place): EtcdMember => {
    const signal = (name: NodeJS.Signals): void => running.get(place.name)?.signal(name)
    return {
      url: `${scheme}://${place.address}:2379`,
      freeze: () => {
        signal('SIGSTOP')
      },
      thaw: () => {
        signal('SIGCONT')
      },
      kill: async () => {
        const one = running.get(place.name)
        if (!one) return
        stopped.add(one)
        await one.stop('SIGKILL')
      },
      start: async () => {
        begin(place)
        await ready(place)
      },
      log: () => running.get(place.name)?.log() ?? '',
    }
  })
  const ask: EtcdCluster['ask'] = async (path, body, token) => {
    let last: unknown
    for (const { url } of members) {
      try {
        return await post(url, path, body, token)
      } catch (error) {
        last = error
      }
    }
    throw last
  }
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const text = (encoded: string): string => Buffer.from(encoded, 'base64').toString()
  return {
    members,
    urls: members.map(({ url }) => url),
    ask,
    compact: async () => {
      await compactAt(members[0]?.url ?? '')
    },
    put: async (key, value) => {
      await ask('/v3/kv/put', { key: base64(key), value: base64(value) })
    },
    remove: async key => {
      await ask('/v3/kv/deleterange', { key: base64(key) })
    },
    all: async prefix => {
      const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
      const { kvs = [] } = await ask('/v3/kv/range', { key: base64(prefix), range_end: base64(end) })
      const pairs = kvs as readonly { readonly key: string; readonly value?: string }[]
      return new Map(pairs.map(({ key, value = '' }) => [text(key), text(value)]))
    },
    leader: async () => {
      let found: EtcdMember | undefined
      await until('a leader', async () => {
        for (const member of members) {
          const { leader, header } = await post(member.url, '/v3/maintenance/status', {})
          if (leader === (header as { readonly member_id: string }).member_id) found = member
        }
        return found !== undefined
      })
      if (!found) throw new Error('no leader')
      return found
    },
  }
}
