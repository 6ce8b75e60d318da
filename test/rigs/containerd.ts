/**
 * A real containerd with CRI in a private host: own root, state, sockets, plugin and configuration folders. It comes up
 * in about half a second and takes nothing from the network: the pause image is made here.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { installedContainerd, type ContainerdRelease } from './containerd-release.ts'
import { openCri, type Cri } from './cri.ts'
import { pauseImage } from './pause-image.ts'
import { onlyChildOf, type PrivateHost } from './private-host.ts'
import type { TempFolder } from './temp-folder.ts'
import { hangMs } from './poll.ts'

export interface ContainerdOptions {
  readonly host: PrivateHost
  readonly folder: TempFolder
  /** Network configuration list, written before containerd starts. */
  readonly conflist: unknown
  /** Further plugins for its bin_dir (the reference ones are there): name to path. */
  readonly plugins?: Readonly<Record<string, string>>
  /** Further text of its config.toml. */
  readonly settings?: string
  /** Default: what is installed on the machine. */
  readonly release?: ContainerdRelease
}

export interface Containerd {
  readonly cri: Cri
  /** Its CNI bin_dir and conf_dir. */
  readonly binDir: string
  readonly confDir: string
  /** Writes the conflist anew; containerd watches the folder and takes it up within a second. */
  writeConflist(conflist: unknown): void
  /** Kills a sandbox's process behind the runtime's back: no CNI DEL is sent. */
  killSandbox(id: string): Promise<void>
  /**
   * Kills a sandbox's process and takes it out of the records: the next containerd does not know it, nobody sends a DEL, and
   * its namespace stays.
   */
  forgetSandbox(id: string): Promise<void>
  /** SIGKILL, as for an upgrade that goes wrong: sandboxes run on. */
  kill(): Promise<void>
  /** Starts it again after that. `empty`: with nothing of what it knew, not even its images. */
  start(options?: { readonly empty?: boolean }): Promise<void>
  log(): string
  /** Stops and removes every sandbox, then containerd itself. The host's end does the same with less courtesy. */
  close(): Promise<void>
}

const imageName = 'localhost/ipkeeper-pause:1'

/** Starts containerd and waits until CRI answers, has its pause image and reports the network ready. */
export async function startContainerd(options: ContainerdOptions): Promise<Containerd> {
  const { host, folder, release = installedContainerd() } = options
  const binDir = folder.file('cni-bin')
  const confDir = folder.file('cni-conf')
  for (const path of [binDir, confDir, folder.file('containerd')]) mkdirSync(path, { recursive: true })
  for (const name of readdirSync(release.referencePlugins))
    symlinkSync(join(release.referencePlugins, name), join(binDir, name))
  for (const [name, path] of Object.entries(options.plugins ?? {})) symlinkSync(path, join(binDir, name))
  const writeConflist = (conflist: unknown): void => {
    writeFileSync(join(confDir, '10-test.conflist'), JSON.stringify(conflist, undefined, 2))
  }
  writeConflist(options.conflist)

  const configPath = folder.file('containerd', 'config.toml')
  const socket = folder.file('containerd.sock')
  let lives = 0
  let log = ''
  const launch = (): { readonly child: ChildProcess; readonly ended: Promise<unknown> } => {
    const [root, state] = [`root-${lives}`, `state-${lives}`].map(name =>
      folder.file('containerd', name),
    ) as [string, string]
    const text = release.configuration({ root, state, socket, binDir, confDir, pauseImage: imageName })
    writeFileSync(configPath, `${text}\n${options.settings ?? ''}`)
    const [program, args] = host.command(release.containerd, ['--config', configPath])
    const child = spawn(program, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      // containerd finds its shim and runc on PATH.
      env: { PATH: release.path },
    })
    child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
    // Its shims keep its stderr open.
    return { child, ended: once(child, 'exit') }
  }
  let { child, ended } = launch()

  const cri = openCri(socket, { cgroupParent: host.cgroup, logDirectory: folder.file('pod-logs') })

  const until = async (what: string, met: () => Promise<boolean>): Promise<void> => {
    const deadline = performance.now() + hangMs
    let reason: unknown
    while (!(await met().catch((error: unknown) => ((reason = error), false)))) {
      if (child.exitCode !== null || child.signalCode !== null || performance.now() > deadline) {
        throw new Error(`containerd: ${what} did not come (${String(reason)})\n${log}`)
      }
      await delay(20)
    }
  }
  const ctr = (...words: readonly string[]): Promise<string> =>
    host.must(release.ctr, ['--address', socket, '--namespace', 'k8s.io', ...words])

  const archive = folder.file('pause.tar')
  writeFileSync(archive, pauseImage(imageName))
  const untilReady = async (): Promise<void> => {
    await until('an answer', async () => (await cri.version()) !== '')
    if (!(await cri.hasImage(imageName))) await ctr('image', 'import', archive)
    await until('the pause image', () => cri.hasImage(imageName))
    await until('the network', async () => (await cri.conditions())['NetworkReady']?.status === true)
  }
  await untilReady()

  const killSandbox = async (id: string): Promise<void> => {
    await ctr('task', 'kill', '--signal', 'SIGKILL', id)
    await until('the end of the sandbox', async () => !(await cri.status(id)).ready)
  }

  return {
    cri,
    binDir,
    confDir,
    writeConflist,
    killSandbox,
    forgetSandbox: async id => {
      await killSandbox(id)
      // It is refused as long as the task of its process is there.
      await until('the end of its record', async () => (await ctr('container', 'delete', id), true))
    },
    kill: async () => {
      process.kill(onlyChildOf(child), 'SIGKILL')
      await ended
    },
    start: async ({ empty = false } = {}) => {
      if (empty) lives++
      ;({ child, ended } = launch())
      await untilReady()
    },
    log: () => log,
    close: async () => {
      for (const { id } of await cri.list().catch(() => [])) {
        await cri.stop(id).catch(() => undefined)
        await cri.remove(id).catch(() => undefined)
      }
      cri.close()
      const runs = child.exitCode === null && child.signalCode === null
      if (runs) process.kill(onlyChildOf(child), 'SIGTERM')
      await ended
    },
  }
}
