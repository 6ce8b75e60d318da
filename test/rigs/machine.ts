/**
 * A machine as the packaged daemon and plugin see it: a machine ID and a boot ID of its own, and a state folder. All else, the
 * kernel's namespaces among it, is that of the machine that runs the test. In the role of an IPAM plugin nothing is wired.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Test } from 'tap'
import { stringify } from 'yaml'
import type { AuditReply } from '../../shared/api/audit.schema.ts'
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { startDaemon, type Daemon } from './daemon.ts'
import { startInNewNamespace } from './namespace-process.ts'
import { distFolder, testedPlugin } from './requirements.ts'
import { runPlugin } from './run-plugin.ts'
import { runProgram, type Finished } from './run-program.ts'
import type { TempFolder } from './temp-folder.ts'
import type { PluginError } from './wired-node.ts'

export interface MachineOptions {
  readonly folder: TempFolder
  /** Of the daemon's configuration. */
  readonly config?: object
  /** What `--store` says, at each start; default: nothing. */
  readonly store?: string | (() => string | undefined)
}

/** A sandbox of a pod of namespace shop. */
export interface MachinePod {
  readonly name: string
  readonly containerId: string
  /** Path of its network namespace. */
  readonly netns: string
  /** The packaged plugin's ADD; its first address, or the error. */
  add(): Promise<string>
  /** CHECK and DEL: '' or the error. */
  check(): Promise<string>
  del(): Promise<string>
  /** The namespace goes. */
  die(): Promise<void>
  /** Another sandbox of the same name, of another UID. */
  again(): Promise<MachinePod>
  /** DEL of another machine's sandbox with this one's plugin: a copied runtime has it on its list. */
  delInstead(of: MachinePod): Promise<string>
}

export interface Machine {
  readonly stateDir: string
  readonly machineIdFile: string
  /** Its daemon, which must run. */
  daemon(): Daemon
  /** Starts the daemon under a name; undefined: the hostname, which is to be this. */
  start(name: string, how?: 'by-configuration' | 'by-hostname'): Promise<Daemon>
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Starts a daemon that is to refuse everybody. */
  startRefused(name: string): Promise<Daemon>
  /** A start that is to end by itself, or by SIGKILL after so many milliseconds. */
  startsInVain(name: string, killAfterMs?: number): Promise<Finished>
  /** Content of /etc/machine-id. */
  machineId(text: string): void
  /** Without what is there: as one that was installed afresh. */
  reinstall(): void
  /** Its boot ID is another one from here on: for what is started. */
  reboot(): void
  /** Becomes a copy of another one: of its machine ID, and of its state folder, in which nobody writes at the moment. */
  copyFrom(other: Machine): void
  /** As a version leaves the folder that knew nothing of identities. */
  forgetIdentity(): void
  pod(name: string, asks?: string, retain?: string): Promise<MachinePod>
  status(): Promise<StatusReply>
  audit(): Promise<AuditReply>
  /** "bound n1", by address. */
  leases(): Promise<Readonly<Record<string, string>>>
  /** What the state folder says of its node. */
  identity(): Readonly<Record<string, unknown>>
}

/** What real hardware would say of itself. */
const hardwareFiles = ['/sys/class/dmi/id/product_uuid', '/sys/firmware/devicetree/base/serial-number']

export const newMachineId = (): string => `${randomUUID().replaceAll('-', '')}\n`

/** Becomes a program that sees another machine; its process ID stays. */
const script = `#!/bin/sh
exec unshare --mount --uts -- sh -c '
  home=$1; shift
  mount --bind "$home/etc" /etc
  [ ! -e "$home/boot" ] || mount --bind "$home/boot" /proc/sys/kernel/random/boot_id
  for file in ${hardwareFiles.join(' ')}; do [ ! -e "$file" ] || mount --bind "$home/nothing" "$file"; done
  [ ! -e "$home/hostname" ] || hostname "$(cat "$home/hostname")"
  exec "$@"
' sh HOME PROGRAM "$@"
`

export function makeMachine(t: Test, { folder, config = {}, store }: MachineOptions): Machine {
  const home = folder.file(`m-${randomBytes(3).toString('hex')}`)
  cpSync('/etc', join(home, 'etc'), { recursive: true, verbatimSymlinks: true })
  const file = (name: string): string => join(home, name)
  const storeArgs = (): readonly string[] => {
    const named = typeof store === 'function' ? store() : store
    return named === undefined ? [] : ['--store', named]
  }
  const machineId = (text: string): void => {
    writeFileSync(file('etc/machine-id'), text)
  }
  machineId(newMachineId())
  writeFileSync(file('nothing'), '')
  const wrap = (program: string): string => {
    const path = file(basename(program))
    const text = script.replace('HOME', home).replace('PROGRAM', program)
    writeFileSync(path, text, { mode: 0o755 })
    return path
  }
  const [server, plugin] = [wrap(join(distFolder, 'ipkeeper-server')), wrap(testedPlugin)]
  const [socket, stateDir, configFile] = [file('s'), file('state'), file('config.yaml')]
  const configure = (name: string, how: 'by-configuration' | 'by-hostname'): void => {
    const byHostname = how === 'by-hostname'
    writeFileSync(configFile, stringify({ ...config, ...(!byHostname && { node: name }) }))
    writeFileSync(file('hostname'), byHostname ? name : 'another-host')
  }
  let running: Daemon | undefined
  t.teardown(() => running?.stop('SIGKILL'))
  const daemon = (): Daemon => {
    if (!running) throw new Error('its daemon does not run')
    return running
  }
  const begin = async (readyStatus: number): Promise<Daemon> => {
    running = await startDaemon({
      ...{ socket, stateDir, config: configFile, executable: server, readyStatus, args: storeArgs() },
    })
    return running
  }
  const read = async <Body>(path: string): Promise<Body> =>
    JSON.parse((await daemon().ask('GET', path)).body) as Body

  const makePod = async (
    name: string,
    annotations: Readonly<Record<string, string>>,
  ): Promise<MachinePod> => {
    const { path: netns, end } = await startInNewNamespace(t)
    const ownId = randomBytes(32).toString('hex')
    const uid = randomUUID()
    let prevResult: object | undefined
    const call = async (
      command: string,
      more: object = {},
      containerId = ownId,
    ): Promise<Record<string, unknown>> => {
      const { stdout, stderr } = await runPlugin({
        ...{ plugin, command, containerId, netns, ifname: 'eth0', path: '/opt/cni/bin' },
        args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name};K8S_POD_INFRA_CONTAINER_ID=${containerId};K8S_POD_UID=${uid}`,
        config: {
          ...{ cniVersion: '1.0.0', name: 'fixed', type: 'bridge' },
          ipam: { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.22.0.0/24' }]] },
          runtimeConfig: { 'io.kubernetes.cri.pod-annotations': annotations },
          ...more,
        },
      })
      if (stderr !== '' && !stderr.includes('is queued in')) throw new Error(stderr)
      return stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>)
    }
    const says = (reply: Record<string, unknown>): string => {
      const { code, msg, details } = reply as Partial<PluginError>
      return code === undefined ? '' : `${code} ${msg ?? ''}; ${details ?? ''}`
    }
    return {
      ...{ name, netns },
      containerId: ownId,
      delInstead: async ({ containerId }) => says(await call('DEL', {}, containerId)),
      add: async () => {
        const result = await call('ADD')
        if (result['code'] !== undefined) return says(result)
        prevResult = result
        const [{ address } = { address: '' }] = result['ips'] as { address: string }[]
        return address.replace(/\/.*/, '')
      },
      check: async () => says(await call('CHECK', { prevResult })),
      del: async () => says(await call('DEL')),
      die: end,
      again: () => makePod(name, annotations),
    }
  }
  return {
    stateDir,
    machineIdFile: file('etc/machine-id'),
    daemon,
    startsInVain: (name, killAfterMs) => {
      configure(name, 'by-configuration')
      const args = ['serve', '--socket', socket, '--state-dir', stateDir, '--config', configFile]
      const options = { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }, timeoutMs: killAfterMs ?? 60_000 }
      return runProgram(server, [...args, ...storeArgs()], options)
    },
    start: (name, how = 'by-configuration') => {
      configure(name, how)
      return begin(200)
    },
    startRefused: name => {
      configure(name, 'by-configuration')
      return begin(409)
    },
    stop: async signal => {
      const ending = running
      running = undefined
      await ending?.stop(signal)
    },
    machineId,
    reinstall: () => {
      rmSync(stateDir, { recursive: true })
      machineId(newMachineId())
    },
    reboot: () => {
      writeFileSync(file('boot'), `${randomUUID()}\n`)
    },
    copyFrom: other => {
      copyLive(other.stateDir, stateDir)
      machineId(readFileSync(other.machineIdFile, 'utf8'))
    },
    forgetIdentity: () => {
      rmSync(join(stateDir, 'node.json'))
    },
    pod: (name, asks, retain) =>
      makePod(name, {
        ...(asks !== undefined && { 'ipkeeper.io/ip': asks }),
        ...(retain !== undefined && { 'ipkeeper.io/retain': retain }),
      }),
    status: () => read<StatusReply>('/v1/status'),
    audit: () => read<AuditReply>('/v1/audit'),
    leases: async () =>
      Object.fromEntries(
        (await daemon().leases()).map(({ address, state, node }) => [address, `${state} ${node}`]),
      ),
    identity: () => {
      const path = join(stateDir, 'node.json')
      return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>) : {}
    },
  }
}

/** As a disk is cloned under a daemon that runs: what it removes meanwhile is not in the copy. */
function copyLive(from: string, to: string): void {
  for (let tries = 0; ; tries++) {
    try {
      cpSync(from, to, { recursive: true })
      return
    } catch (error) {
      const hasGone = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!hasGone || tries === 20) throw error
      // The folder itself may be a mount.
      for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true })
    }
  }
}
