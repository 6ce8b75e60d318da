/**
 * Where an episode is played: machines with a daemon each, every one with a disk, a wall clock and a boot of its own; and,
 * where they share their leases, three members of etcd on machines of theirs. Each machine is a network namespace in one
 * L2 network.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { startEtcdSide, type EtcdSide } from '../many-nodes/etcd-side.ts'
import { startLan, type LanHost } from '../rigs/lan.ts'
import { makeLoopDisk, type LoopDisk } from '../rigs/loop-disk.ts'
import { loseNamespaces, makeNamespaces } from '../rigs/many-namespaces.ts'
import { mustRun } from '../rigs/run-program.ts'
import { makeMovedClock, type MovedClock } from '../rigs/moved-clock.ts'
import { makeSharedNode, type SharedNode } from '../rigs/shared-node.ts'
import { tempFolder, type TempFolder } from '../rigs/temp-folder.ts'
import type { Teardown } from '../rigs/teardown.ts'

/** Where leases are: etcd shared by all nodes, or on the disk of the only one. */
export type StoreKind = 'etcd' | 'embedded'

export interface Machine {
  readonly name: string
  readonly host: LanHost
  readonly node: SharedNode
  readonly disk: LoopDisk
  /** Undefined: nobody moves it in this episode. */
  readonly clock: MovedClock | undefined
  /** Of plugins that run on it. */
  readonly env: Readonly<Record<string, string>>
  /** Path of a network namespace that nobody has used; undefined: there are no more. */
  takeNamespace(): string | undefined
  /** Takes network namespaces away, as their runtime does: these, or all that were taken. */
  loseNamespaces(paths?: readonly string[]): Promise<void>
  /** Path of a named pipe into which nobody writes. */
  makePipe(): Promise<string>
  /** From now on it is in another boot: /proc says so. Nothing else happens. */
  nextBoot(): void
}

export interface Stage {
  readonly store: StoreKind
  readonly machines: readonly Machine[]
  /** Absent with the embedded store. */
  readonly engine?: EtcdSide
  readonly folder: TempFolder
}

export interface StageOptions {
  readonly store: StoreKind
  /** Whether wall clocks are moved. */
  readonly clocks: boolean
  /** Folder with the executables. */
  readonly dist: string
  /** Is told of each daemon that is about to be started. */
  readonly starting: (name: string) => void
}

/** Of daemons: what is let go is soon to be had again. A GC that does not say when it began ends nothing that is younger. */
const configuration = {
  cooldown: '1s',
  preferFor: '2s',
  reconcile: { mode: 'repair', interval: '1s', minAge: '1s', minAgeUnproved: '1h', passes: 1 },
} as const

/** Seconds that the plugin is granted for an ADD. */
export const pluginTimeout = 3

/** Addresses that daemons give; few, so that they are given again soon. */
export const pool = { first: 2, last: 61 } as const
export const poolSize = pool.last - pool.first + 1
const ipv4 = (number: number): string => `10.22.0.${number}`
const ipam = {
  ranges: [[{ subnet: '10.22.0.0/24', rangeStart: ipv4(pool.first), rangeEnd: ipv4(pool.last) }]],
  timeout: pluginTimeout,
} as const

/** The machine that calls itself so: a node that was renamed has its first name before a hyphen. */
export const machineOf = (node: string): string => /^host-\d+/.exec(node)?.[0] ?? node

/** The address that pods of this number ask for. */
export const fixedAddress = (number: number): string => ipv4(pool.first + number)

const diskMebibytes = 24
const namespacesEach = 32

/** Starts everything but the daemons. */
export async function startStage(t: Teardown, { store, ...options }: StageOptions): Promise<Stage> {
  const folder = tempFolder(t)
  const nodes = store === 'etcd' ? 3 : 1
  const lan = await startLan({ hosts: store === 'etcd' ? nodes + 3 : nodes })
  t.teardown(() => lan.close())
  const engine = store === 'etcd' ? await startEtcdSide(t, lan.hosts.slice(nodes), folder) : undefined
  const machines: Machine[] = []
  for (const host of lan.hosts.slice(0, nodes)) {
    machines.push(await makeMachine(t, host, folder, { engine, ...options }))
  }
  return { store, machines, folder, ...(engine && { engine }) }
}

async function makeMachine(
  t: Teardown,
  host: LanHost,
  folder: TempFolder,
  { engine, clocks, dist, starting }: Omit<StageOptions, 'store'> & { readonly engine: EtcdSide | undefined },
): Promise<Machine> {
  const { name } = host
  const disk = await makeLoopDisk(host, folder, `${name}-disk`, diskMebibytes)
  const clock = clocks ? makeMovedClock(folder, `${name}-clock`) : undefined
  const bootFile = folder.file(`${name}-boot`)
  let boot = ''
  const nextBoot = (): void => {
    boot = randomUUID()
    writeFileSync(bootFile, `${boot}\n`)
  }
  nextBoot()
  const machineId = folder.file(`${name}-machine-id`)
  writeFileSync(machineId, `${randomUUID().replaceAll('-', '')}\n`)
  // The private host's own /proc shows only what runs inside of it, and a daemon is to find itself.
  await mustRun(...host.become('mount', ['-t', 'proc', 'proc', '/proc']))
  await host.must('sh', [
    '-ec',
    'mount --bind "$1" /proc/sys/kernel/random/boot_id; [ ! -e /etc/machine-id ] || mount --bind "$2" /etc/machine-id',
    ...['sh', bootFile, machineId],
  ])
  const free = [...(await makeNamespaces(host, 'pod', namespacesEach))]
  const taken = new Set<string>()
  const env = { ...clock?.env }
  const node = makeSharedNode(t, {
    ...{
      host,
      folder,
      ipam,
      env,
      config: configuration,
      ledger: engine?.ledger ?? { config: {}, ports: [] },
    },
    ...{ stateDir: `${disk.path}/state`, executable: `${dist}/ipkeeper-server`, bootId: () => boot },
    starting: () => {
      starting(name)
    },
  })
  return {
    ...{ name, host, node, disk, clock, env, nextBoot },
    makePipe: async () => {
      const path = folder.file(`${name}-pipe`)
      await host.run('mkfifo', [path])
      return path
    },
    takeNamespace: () => {
      const path = free.pop()
      if (path !== undefined) taken.add(path)
      return path
    },
    loseNamespaces: async (paths = [...taken]) => {
      const lost = paths.filter(path => taken.delete(path))
      if (lost.length > 0) await loseNamespaces(host, lost, false)
    },
  }
}
