import { mkdirSync } from 'node:fs'
import { request } from 'undici'
import { startInBackground, type BackgroundProgram } from './background-program.ts'
import { findClusterProgram } from './cluster-programs.ts'

export interface Etcd {
  readonly program: BackgroundProgram
  /** Of its clients. */
  readonly url: string
  /** Forgets all versions of all keys but the present one. */
  compact(): Promise<void>
}

/**
 * Starts a store of one member and waits until it answers.
 *
 * @param folder for its data; made when it is not there
 * @param address loopback address that nobody else uses: the ports are etcd's usual ones
 */
export async function startEtcd(folder: string, address: string): Promise<Etcd> {
  const path = findClusterProgram('etcd')
  if (path === undefined) throw new Error("no etcd: ask missing('cluster') first")
  mkdirSync(folder, { recursive: true })
  const url = `http://${address}:2379`
  const peerUrl = `http://${address}:2380`
  const flags = [
    '--name=only',
    `--data-dir=${folder}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=only=${peerUrl}`,
    // What is stored need not survive the machine, and who votes alone needs no second to be elected.
    '--unsafe-no-fsync',
    '--heartbeat-interval=10',
    '--election-timeout=100',
  ]
  const program = startInBackground(path, flags, folder)
  const ask = async (path: string, body?: unknown): Promise<unknown> => {
    const sent = body === undefined ? {} : ({ method: 'POST', body: JSON.stringify(body) } as const)
    const reply = await request(`${url}${path}`, { ...sent, reset: true })
    const text = await reply.body.text()
    if (reply.statusCode !== 200) throw new Error(`etcd: ${path}: ${reply.statusCode} ${text}`)
    return JSON.parse(text) as unknown
  }
  try {
    await program.until('healthy', async () => {
      const { health } = (await ask('/health')) as { health: string }
      return health === 'true'
    })
  } catch (error) {
    await program.stop('SIGKILL')
    throw error
  }
  return {
    program,
    url,
    compact: async () => {
      // Any key will do: every answer says the revision of the whole.
      const { header } = (await ask('/v3/kv/range', { key: btoa('/') })) as { header: { revision: string } }
      await ask('/v3/kv/compaction', { revision: header.revision, physical: true })
    },
  }
}
