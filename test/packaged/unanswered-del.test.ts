/**
 * The packaged daemon and plugin: the DEL of an ADD that nobody has the answer of gives what that ADD had taken over back to the
 * older sandbox; that of one that was answered does not, from the moment on at which its plugin has left its mark.
 */
import { readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { startProcess, type PluginProcess } from '../rigs/plugin-process.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { listenScripted } from '../rigs/scripted-socket.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')
const folder = tempFolder(t)

const address = '10.23.0.50'

/** A socket before the daemon's that passes requests on and keeps the answers to itself. */
async function swallowAnswers(t: Test, path: string, daemon: string): Promise<() => number> {
  let swallowed = 0
  const server = await listenScripted(path, (_connection, { head, body }) => {
    // Open until the test ends: to the daemon the answer has arrived.
    const upstream = connect(daemon, () => upstream.write(`${head}\r\n\r\n${body}`))
    upstream.once('data', () => swallowed++)
    t.teardown(() => upstream.destroy())
  })
  t.teardown(() => server.close())
  return () => swallowed
}

class Site {
  readonly socket: string
  readonly stateDir: string
  #running: Daemon | undefined

  constructor(t: Test, name: string) {
    this.socket = folder.file(`${name}.sock`)
    this.stateDir = folder.file(name)
    t.teardown(() => this.#running?.stop('SIGKILL'))
  }

  async start(): Promise<void> {
    this.#running = await startDaemon({ socket: this.socket, stateDir: this.stateDir })
  }

  get daemon(): Daemon {
    if (!this.#running) throw new Error('no daemon')
    return this.#running
  }

  config(socket = this.socket): object {
    return {
      ...{ cniVersion: '1.1.0', name: 'fixed', type: 'bridge' },
      ipam: {
        ...{ type: 'ipkeeper', socket, stateDir: this.stateDir, timeout: 50 },
        ranges: [[{ subnet: '10.23.0.0/24' }]],
      },
      runtimeConfig: { 'io.kubernetes.cri.pod-annotations': { 'ipkeeper.io/ip': address } },
    }
  }

  args = 'K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0;K8S_POD_UID=uid-web-0'

  /** A run of the plugin for the pod web-0. */
  run(verb: string, container: string, socket?: string, more: object = {}): PluginProcess {
    const env = { CNI_CONTAINERID: container, CNI_ARGS: this.args }
    return startProcess(verb, { ...this.config(socket), ...more }, { env })
  }

  /** One that has to succeed. */
  async mustRun(t: Test, verb: string, container: string, more: object = {}): Promise<void> {
    const { exit, stdout, stderr } = await this.run(verb, container, undefined, more).finished
    t.equal(exit, 0, `${verb} ${container}: ${stdout}${stderr}`)
  }

  /** An ADD as the plugin sends it, of a caller that leaves no mark unless the test does. */
  async addAs(t: Test, container: string): Promise<void> {
    const reply = await this.daemon.ask('POST', '/v1/cni/add', {
      ...{ containerId: container, netns: '/some/where', ifname: 'eth0', path: '/opt/cni/bin' },
      ...{ args: this.args, config: this.config(), confirms: true, invocationId: `run-of-${container}` },
      startedAt: Number(process.hrtime.bigint() / 1000n),
    })
    t.match(reply, { status: 200, body: new RegExp(`${address}/24`) }, container)
  }

  mark(container: string): void {
    writeFileSync(join(this.stateDir, 'answered', `run-of-${container}`), '', { flag: 'wx', mode: 0o600 })
  }

  /** "bound older" or "cooling". */
  async state(): Promise<string> {
    const lease = (await this.daemon.leases()).find(one => one.address === address)
    return lease ? [lease.state, lease.containerId ?? ''].join(' ').trim() : 'free'
  }
}

interface Row {
  readonly name: string
  readonly story: (t: Test, site: Site) => Promise<unknown>
  readonly comesTo: string
}

const rows: readonly Row[] = [
  {
    name: 'its plugin is killed before it has the answer',
    story: async (t, site) => {
      const path = `${site.socket}.swallow`
      const swallowed = await swallowAnswers(t, path, site.socket)
      const killed = site.run('ADD', 'newer', path)
      await until('it was answered', () => swallowed() === 1)
      t.equal(await site.state(), 'bound newer')
      killed.child.kill('SIGKILL')
      await killed.finished
      await site.mustRun(t, 'DEL', 'newer')
    },
    comesTo: 'bound older',
  },
  {
    name: 'its plugin finds no room for its Result',
    story: async (t, site) => {
      const env = { CNI_CONTAINERID: 'newer', CNI_ARGS: site.args }
      const by = ['/bin/sh', '-c', 'exec "$0" >/dev/full'] as const
      t.match(await startProcess('ADD', site.config(), { env, by }).finished, { exit: 1, stderr: /ENOSPC/ })
    },
    comesTo: 'bound older',
  },
  {
    name: 'it was answered',
    story: async (t, site) => {
      await site.mustRun(t, 'ADD', 'newer')
      await site.mustRun(t, 'DEL', 'newer')
    },
    comesTo: 'cooling',
  },
  {
    name: 'it has its mark, and the DEL comes at once',
    story: async (t, site) => {
      await site.addAs(t, 'newer')
      site.mark('newer')
      await site.mustRun(t, 'DEL', 'newer')
    },
    comesTo: 'cooling',
  },
  {
    name: 'its DEL comes by the queue, after a restart',
    story: async (t, site) => {
      await site.addAs(t, 'newer')
      await site.daemon.stop('SIGKILL')
      await site.mustRun(t, 'DEL', 'newer')
      t.equal(readdirSync(join(site.stateDir, 'deferred-dels')).length, 1)
      await site.start()
    },
    comesTo: 'bound older',
  },
  {
    name: 'it has its mark, and its DEL comes by the queue, after a restart',
    story: async (t, site) => {
      await site.addAs(t, 'newer')
      site.mark('newer')
      await site.daemon.stop('SIGKILL')
      await site.mustRun(t, 'DEL', 'newer')
      await site.start()
    },
    comesTo: 'cooling',
  },
  {
    name: 'a GC ends it',
    story: async (t, site) => {
      await site.addAs(t, 'newer')
      const list = { 'cni.dev/valid-attachments': [{ containerID: 'older', ifname: 'eth0' }] }
      await site.mustRun(t, 'GC', '', list)
    },
    comesTo: 'bound older',
  },
  {
    name: 'the older one is deleted first',
    story: async (t, site) => {
      await site.addAs(t, 'newer')
      await site.mustRun(t, 'DEL', 'older')
      t.equal(await site.state(), 'bound newer')
      await site.mustRun(t, 'DEL', 'newer')
    },
    comesTo: 'cooling',
  },
]

for (const [index, { name, story, comesTo }] of rows.entries()) {
  t.test(`an ADD takes over; ${name}: ${comesTo}`, { skip, timeout: 120_000 }, async t => {
    const site = new Site(t, `s${index}`)
    await site.start()
    await site.mustRun(t, 'ADD', 'older')
    await story(t, site)
    t.equal(await site.state(), comesTo)
    if (comesTo === 'cooling') return
    const prevResult = { cniVersion: '1.1.0', ips: [{ address: `${address}/24` }] }
    await site.mustRun(t, 'CHECK', 'older', { prevResult })
    await site.mustRun(t, 'DEL', 'older')
    t.equal(await site.state(), 'cooling', 'what it has back it gives up itself')
  })
}
