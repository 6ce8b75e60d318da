/**
 * A node of many on one ledger: the packaged daemon on a machine of its own, which a test kills, freezes and cuts off, and
 * asks over its socket as the plugin would. In the role of an IPAM plugin a network namespace need not exist.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { stringify } from 'yaml'
import type { ErrorReply } from '../../shared/api/cni.schema.ts'
import type { LeaseItem, LeasesReply, StatusReply } from '../../shared/api/listing.schema.ts'
import { cutOff, mend, type Cut } from './cuts.ts'
import { askSocket, startDaemon, type Daemon } from './daemon.ts'
import type { LanHost } from './lan.ts'
import type { TempFolder } from './temp-folder.ts'
import type { Scope } from './teardown.ts'

/** What nodes share, as far as a daemon has to know of it. */
export interface SharedLedger {
  /** What `--store` says; absent: the store of a node that shares with nobody. */
  readonly store?: string
  /** Of the daemon's configuration. */
  readonly config: object
  /** On which the engine listens for daemons. */
  readonly ports: readonly number[]
}

/** One sandbox of a pod, as a runtime names it. */
export interface Sandbox {
  readonly container: string
  /** In namespace shop. */
  readonly pod: string
  readonly uid: string
  /** Addresses that it asks for by annotation. */
  readonly asked: readonly string[]
  /** What becomes of them at its end, by annotation. */
  readonly retain?: string
  /** Path of its network namespace; default: one that is none. */
  readonly netns?: string
  /** What the network configuration's `ipam` says in its calls, beside what it always does. */
  readonly ipam?: object
}

/** What a daemon said; `unknown`: nothing, or nothing that could be understood. */
export type Reply =
  | { readonly kind: 'given'; readonly addresses: readonly string[] }
  | { readonly kind: 'refused'; readonly error: ErrorReply }
  | { readonly kind: 'unknown'; readonly why: string }

/** Of an ADD or DEL that is sent again: the same invocation of the plugin. */
export interface Invocation {
  readonly id: string
  /** Microseconds of CLOCK_MONOTONIC. */
  readonly startedAt: number
  /** Its caller says so when an ADD's answer has arrived, and it counts only then. */
  readonly confirms?: true
}

export interface SharedNode {
  readonly name: string
  readonly host: LanHost
  readonly socket: string
  readonly stateDir: string
  /** The network configuration, as libcni hands it to the plugin for a sandbox, or for none. */
  netconf(sandbox?: Sandbox, more?: object): object
  /** What CNI_ARGS says of a sandbox. */
  args(sandbox: Sandbox): string
  /** Fails when it does not run. */
  daemon(): Daemon
  isUp(): boolean
  /** Signal or exit code with which it ended without having been asked to; undefined: it did not. */
  endedBy(): string | undefined
  start(): Promise<void>
  /** By SIGKILL, or another signal; waits for the end. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** It takes connections and answers nothing, until `thaw`. */
  freeze(): void
  thaw(): void
  /** Empties the state folder of a daemon that does not run. */
  loseJournal(): void
  /** What its configuration calls the node from the next start on. */
  rename(name: string): void
  /** Between this node and the engine. */
  cut(cut: Cut): Promise<void>
  mend(): Promise<void>
  add(sandbox: Sandbox, invocation?: Invocation): Promise<Reply>
  del(sandbox: Sandbox, invocation?: Invocation): Promise<Reply>
  /** CHECK of a sandbox that was given these addresses. */
  check(sandbox: Sandbox, addresses: readonly string[]): Promise<Reply>
  /** GC with the containers that there are; without an invocation it does not say when it began. */
  gc(valid: readonly string[], invocation: Invocation | undefined): Promise<Reply>
  leases(): Promise<readonly LeaseItem[]>
  status(): Promise<StatusReply>
  /** What all its daemons have written so far. */
  log(): string
}

export interface SharedNodeOptions {
  readonly host: LanHost
  readonly ledger: SharedLedger
  readonly folder: TempFolder
  /** Of the daemon's configuration, beside what the ledger needs. */
  readonly config?: object
  /** Of the network configuration's `ipam`. */
  readonly ipam: object
  /** Path in the machine; default: in the folder. */
  readonly stateDir?: string
  /** Of the daemon. */
  readonly env?: Readonly<Record<string, string>>
  /** Executable of the daemon. */
  readonly executable?: string
  /** Is told when its daemon is about to be started. */
  readonly starting?: () => void
  /** Which boot its machine is in; default: the kernel's. */
  readonly bootId?: () => string
}

/** A daemon that is to end answers what is under way, for which the engine may be too slow. */
const stopMs = 30_000

const bootOfKernel = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()

export function newInvocation(): Invocation {
  return { id: randomUUID(), startedAt: Number(process.hrtime.bigint() / 1000n) }
}

/** Makes a node, whose daemon is not started yet, and has it ended with the test. */
export function makeSharedNode(
  t: Scope,
  { host, ledger, folder, config = {}, ipam, env, executable, ...own }: SharedNodeOptions,
): SharedNode {
  const { name } = host
  const home = folder.file(name)
  mkdirSync(home)
  const [socket, configFile] = [folder.file(name, 's'), folder.file(name, 'c')]
  const { stateDir = folder.file(name, 'state'), bootId = () => bootOfKernel } = own
  const rename = (node: string): void => {
    writeFileSync(configFile, stringify({ node, ...ledger.config, ...config }))
  }
  rename(name)
  let running: Daemon | undefined
  let log = ''
  t.teardown(async () => {
    await running?.stop('SIGKILL')
  })
  const daemon = (): Daemon => {
    if (!running) throw new Error(`the daemon of ${name} does not run`)
    return running
  }
  const netconf: SharedNode['netconf'] = (sandbox, more = {}) => {
    const { asked = [], retain, ipam: special } = sandbox ?? {}
    const annotations = {
      ...(asked.length > 0 && { 'ipkeeper.io/ip': asked.join(',') }),
      ...(retain !== undefined && { 'ipkeeper.io/retain': retain }),
    }
    return {
      ...{ cniVersion: '1.1.0', name: 'fixed', type: 'bridge' },
      ipam: { type: 'ipkeeper', socket, stateDir, ...ipam, ...special },
      ...(sandbox && { runtimeConfig: { 'io.kubernetes.cri.pod-annotations': annotations } }),
      ...more,
    }
  }
  const args = ({ container, pod, uid }: Sandbox): string =>
    `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod};K8S_POD_INFRA_CONTAINER_ID=${container};K8S_POD_UID=${uid}`
  const ask = async (
    verb: string,
    sandbox: Sandbox | undefined,
    invocation: Invocation | undefined,
    more: object,
  ): Promise<Reply> => {
    const body = {
      ...(invocation && {
        ...{ invocationId: invocation.id, startedAt: invocation.startedAt, bootId: bootId() },
        ...(invocation.confirms && { confirms: true }),
      }),
      containerId: sandbox?.container ?? '',
      netns: sandbox ? netnsOf(sandbox) : '',
      ifname: sandbox ? 'eth0' : '',
      args: sandbox ? args(sandbox) : '',
      path: '/opt/cni/bin',
      config: netconf(sandbox, more),
    }
    try {
      const { status, body: text } = await askSocket(socket, 'POST', `/v1/cni/${verb}`, body)
      const reply = JSON.parse(text) as ErrorReply & { result?: { ips?: { address: string }[] } }
      if (status !== 200) return { kind: 'refused', error: reply }
      return { kind: 'given', addresses: (reply.result?.ips ?? []).map(({ address }) => bare(address)) }
    } catch (error) {
      return { kind: 'unknown', why: String(error) }
    }
  }
  const read = async <Body>(path: string): Promise<Body> =>
    JSON.parse((await daemon().ask('GET', path)).body) as Body
  return {
    ...{ name, host, socket, stateDir, netconf, args, daemon, rename },
    isUp: () => running !== undefined,
    endedBy: () => running?.endedBy(),
    start: async () => {
      if (running) return
      own.starting?.()
      running = await startDaemon({
        ...{ socket, stateDir, config: configFile, host, become: true },
        args: ledger.store === undefined ? [] : ['--store', ledger.store],
        ...(env && { env }),
        ...(executable !== undefined && { executable }),
      })
    },
    kill: async (signal = 'SIGKILL') => {
      const ending = running
      running = undefined
      if (!ending) return
      ending.kill('SIGCONT')
      const ended = ending.stop(signal)
      const inTime = await Promise.race([ended, delay(stopMs, 'late' as const, { ref: false })])
      log += ending.log()
      if (inTime !== 'late') return
      ending.kill('SIGKILL')
      await ended
      throw new Error(
        `the daemon of ${name} did not end within ${stopMs} ms of ${signal}:\n${log.slice(-4000)}`,
      )
    },
    freeze: () => running?.kill('SIGSTOP'),
    thaw: () => running?.kill('SIGCONT'),
    loseJournal: () => {
      if (running) throw new Error(`the daemon of ${name} runs`)
      rmSync(stateDir, { recursive: true })
    },
    cut: cut => cutOff(host, ledger.ports, cut),
    mend: () => mend(host),
    add: (sandbox, invocation = newInvocation()) => ask('add', sandbox, invocation, {}),
    del: (sandbox, invocation = newInvocation()) => ask('del', sandbox, invocation, {}),
    check: (sandbox, addresses) =>
      ask('check', sandbox, newInvocation(), {
        prevResult: {
          cniVersion: '1.1.0',
          ips: addresses.map(address => ({ address: `${address}/${address.includes(':') ? 64 : 24}` })),
        },
      }),
    gc: (valid, invocation) =>
      ask('gc', undefined, invocation, {
        'cni.dev/valid-attachments': valid.map(containerID => ({ containerID, ifname: 'eth0' })),
      }),
    leases: async () => (await read<LeasesReply>('/v1/leases')).leases,
    status: () => read<StatusReply>('/v1/status'),
    log: () => log + (running?.log() ?? ''),
  }
}

/** Where a runtime says that a sandbox has its network namespace. */
export const netnsOf = ({ netns, container }: Sandbox): string => netns ?? `/run/netns/${container}`

const bare = (address: string): string => address.replace(/\/.*/, '')
