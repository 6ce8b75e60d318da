import { mkdirSync, rmSync } from 'node:fs'
import { Agent, request } from 'undici'
import { startInBackground, type BackgroundProgram } from './background-program.ts'
import { findClusterProgram } from './cluster-programs.ts'
import { findProgram } from './find-program.ts'
import type { LanHost } from './lan.ts'
import { relayOutOf } from './relay.ts'
import { mustRun } from './run-program.ts'
import type { TempFolder } from './temp-folder.ts'
import { hangMs } from './poll.ts'
import type { Scope } from './teardown.ts'

/** A member of an etcd that votes, on a machine of its own. */
export interface EtcdMember {
  readonly host: LanHost
  /** Of its clients, in the LAN. */
  readonly url: string
  /** SIGKILL: what it did not write is lost. */
  kill(): Promise<void>
  /** Starts it again with its data; nothing when it runs. Does not wait for it. */
  start(): void
  /** It takes connections and answers nothing, until `thaw`. */
  freeze(): void
  thaw(): void
  /** Whether it takes part in what the majority decides. */
  isHealthy(): Promise<boolean>
}

export interface EtcdMembers {
  readonly members: readonly EtcdMember[]
  /** A request of etcd's JSON gateway, to whichever member answers. */
  ask(path: string, body: object): Promise<unknown>
  /** Waits until all members take part. */
  healthy(): Promise<void>
  /** Forgets all versions of all keys but the present ones. */
  compact(): Promise<void>
  /** Writes a snapshot of what is in it to a file, by etcdctl. */
  save(path: string): Promise<void>
  /**
   * Takes all members down, gives them the data of a snapshot in place of their own, or none, and starts them. Does not
   * wait for them.
   *
   * @param as name of the cluster that they make from now on. With the same name it has the same ID, also when it is empty
   */
  reset(snapshot: string | undefined, as?: string): Promise<void>
  /** One of several is removed for good; a new member without data takes its place and its name. Does not wait for it. */
  replace(member: EtcdMember): Promise<void>
}

/** What a new cluster is called by etcd itself. */
const usualToken = 'etcd-cluster'

/** Ports of clients, and of members among themselves. */
export const etcdPorts = { client: 2379, peer: 2380 } as const

/** Starts one member on each machine of a LAN, and has them ended with the test. */
export async function startEtcdMembers(
  t: Scope,
  hosts: readonly LanHost[],
  folder: TempFolder,
): Promise<EtcdMembers> {
  const path = findClusterProgram('etcd')
  if (path === undefined) throw new Error("no etcd: ask missing('cluster') first")
  const urlOf = ({ ipv4 }: LanHost, port: number): string => `http://${ipv4}:${port}`
  const cluster = hosts.map(host => `${host.name}=${urlOf(host, etcdPorts.peer)}`).join(',')
  const members: (EtcdMember & { readonly agent: Agent })[] = []
  const dataOf = (host: LanHost): string => folder.file(`etcd-${host.name}`)
  let token = usualToken
  /** Members that join a cluster which is there, instead of making one. */
  const joining = new Set<LanHost>()
  for (const host of hosts) {
    const data = dataOf(host)
    mkdirSync(data)
    const [client, peer] = [urlOf(host, etcdPorts.client), urlOf(host, etcdPorts.peer)]
    const flags = [
      `--name=${host.name}`,
      `--data-dir=${data}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${cluster}`,
      // What is stored need not survive the machine.
      '--unsafe-no-fsync',
      '--heartbeat-interval=50',
      '--election-timeout=500',
    ]
    const socket = folder.file(`etcd-${host.name}.sock`)
    await relayOutOf(t, host, { address: host.ipv4, port: etcdPorts.client, socket })
    const start = (): BackgroundProgram => {
      const state = joining.has(host) ? ['--initial-cluster-state=existing'] : []
      const [program, args] = host.become(path, [...flags, `--initial-cluster-token=${token}`, ...state])
      return startInBackground(program, args, data)
    }
    members.push(memberOn(host, client, socket, start))
  }
  const programs = members
  t.teardown(async () => {
    for (const member of programs) {
      await member.kill()
      await member.agent.destroy()
    }
  })
  for (const member of members) member.start()

  const ask: EtcdMembers['ask'] = async (what, body) => {
    let failure: unknown
    for (const { agent } of members) {
      try {
        return await askMember(agent, what, body)
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }
  const all: EtcdMembers = {
    members,
    ask,
    healthy: async () => {
      const deadline = performance.now() + hangMs
      for (const member of members)
        while (!(await member.isHealthy()))
          if (performance.now() > deadline)
            throw new Error(`etcd: ${member.host.name} is not healthy in time`)
    },
    compact: async () => {
      // Any key will do: every answer says the revision of the whole.
      const { header } = (await ask('/v3/kv/range', { key: btoa('/') })) as { header: { revision: string } }
      await ask('/v3/kv/compaction', { revision: header.revision, physical: true })
    },
    save: async file => {
      let failure: unknown
      for (const { host, url } of members) {
        try {
          await host.must(...etcdctl(`--endpoints=${url}`, 'snapshot', 'save', file), { timeoutMs: 5_000 })
          return
        } catch (error) {
          failure = error
        }
      }
      throw failure
    },
    reset: async (snapshot, as = usualToken) => {
      for (const member of members) await member.kill()
      token = as
      joining.clear()
      for (const { host } of members) {
        const data = dataOf(host)
        rmSync(data, { recursive: true })
        if (snapshot !== undefined)
          await mustRun(
            ...etcdctl(
              ...['snapshot', 'restore', snapshot, `--name=${host.name}`, `--data-dir=${data}`],
              ...[`--initial-cluster=${cluster}`, `--initial-cluster-token=${token}`],
              `--initial-advertise-peer-urls=${urlOf(host, etcdPorts.peer)}`,
            ),
          )
        else mkdirSync(data)
      }
      for (const member of members) member.start()
    },
    replace: async member => {
      const { host } = member
      await member.kill()
      const { members: listed } = (await ask('/v3/cluster/member/list', {})) as {
        readonly members: readonly { readonly ID: string; readonly name?: string }[]
      }
      const former = listed.find(({ name }) => name === host.name)
      if (!former) throw new Error(`etcd: ${host.name} is no member`)
      await ask('/v3/cluster/member/remove', { ID: former.ID })
      await ask('/v3/cluster/member/add', { peerURLs: [urlOf(host, etcdPorts.peer)] })
      rmSync(dataOf(host), { recursive: true })
      mkdirSync(dataOf(host))
      joining.add(host)
      member.start()
    },
  }
  await all.healthy()
  return all
}

/** Program and arguments. */
function etcdctl(...words: readonly string[]): readonly [string, readonly string[]] {
  const program = findProgram('etcdctl')
  if (program === undefined) throw new Error("no etcdctl: ask missing('etcdctl') first")
  return [program, words]
}

function memberOn(
  host: LanHost,
  url: string,
  socketPath: string,
  run: () => BackgroundProgram,
): EtcdMember & { readonly agent: Agent } {
  let program: BackgroundProgram | undefined
  const agent = new Agent({ connect: { socketPath }, headersTimeout: 2000, bodyTimeout: 2000 })
  return {
    host,
    url,
    agent,
    kill: async () => {
      await program?.stop('SIGKILL')
      program = undefined
    },
    start: () => {
      program ??= run()
    },
    freeze: () => program?.signal('SIGSTOP'),
    thaw: () => program?.signal('SIGCONT'),
    isHealthy: async () => {
      try {
        // Linearizable: answered only by one that hears from a leader.
        await askMember(agent, '/v3/kv/range', { key: btoa('/') })
        return true
      } catch {
        return false
      }
    },
  }
}

async function askMember(dispatcher: Agent, path: string, body: object): Promise<unknown> {
  const reply = await request(`http://etcd${path}`, {
    ...{ dispatcher, method: 'POST', body: JSON.stringify(body), reset: true },
  })
  const text = await reply.body.text()
  if (reply.statusCode !== 200) throw new Error(`etcd: ${path}: ${reply.statusCode} ${text}`)
  return JSON.parse(text) as unknown
}
