/** The packaged daemon and plugin on a wall clock that is set while they run, and while they do not (libfaketime). */
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { makeMovedClock, type MovedClock } from '../rigs/moved-clock.ts'
import { startProcess } from '../rigs/plugin-process.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables', 'faketime')
const [hour, day] = [3600, 86_400]
const twoYears = 730 * day

const named = '10.23.0.50'
const kept = '10.23.0.60'
const long = '10.23.0.70'

class Site {
  readonly clock: MovedClock
  readonly socket: string
  readonly stateDir: string
  readonly #config: string
  #running: Daemon | undefined
  #log = ''

  constructor(t: Test) {
    const folder = tempFolder(t)
    t.teardown(() => this.#running?.stop('SIGKILL'))
    this.clock = makeMovedClock(folder, 'clock')
    this.socket = folder.file('s')
    this.stateDir = folder.file('state')
    this.#config = folder.file('config.yaml')
    writeFileSync(this.#config, 'cooldown: 2s\npreferFor: 3s\n')
  }

  get daemon(): Daemon {
    if (!this.#running) throw new Error('no daemon')
    return this.#running
  }

  get log(): string {
    return this.#log + (this.#running?.log() ?? '')
  }

  async start(): Promise<void> {
    const { socket, stateDir, clock } = this
    const options = { socket, stateDir, config: this.#config, env: clock.env }
    this.#running = await startDaemon(options)
  }

  async stop(signal?: NodeJS.Signals): Promise<void> {
    await this.daemon.stop(signal)
    this.#log += this.daemon.log()
    this.#running = undefined
  }

  /** What a verb of the plugin exits with. */
  async run(
    verb: string,
    pod: string,
    annotations: object = {},
  ): Promise<{ exit: number | null; stdout: string }> {
    const { socket, stateDir, clock } = this
    const config = {
      ...{ cniVersion: '1.1.0', name: 'fixed', type: 'bridge' },
      ipam: { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.23.0.0/24' }]] },
      runtimeConfig: { 'io.kubernetes.cri.pod-annotations': annotations },
    }
    const args = `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod};K8S_POD_UID=uid-${pod}`
    const env = { ...clock.env, CNI_CONTAINERID: pod, CNI_ARGS: args }
    return await startProcess(verb, config, { env }).finished
  }

  /** A pod comes and goes: its address rests, or is kept. */
  async live(t: Test, pod: string, annotations: object): Promise<void> {
    const { exit, stdout } = await this.run('ADD', pod, annotations)
    t.equal(exit, 0, stdout)
    t.equal((await this.run('DEL', pod, annotations)).exit, 0)
  }

  /** "10.23.0.50 cooling" for each lease that there is. */
  async leases(): Promise<string[]> {
    return (await this.daemon.leases()).map(({ address, state }) => `${address} ${state}`).sort()
  }

  /** Who asks for an address by name: "given", or the code of the problem. */
  async ask(pod: string, address: string): Promise<string> {
    const { exit, stdout } = await this.run('ADD', pod, { 'ipkeeper.io/ip': address })
    return exit === 0 ? 'given' : (/\bIPK_[A-Z_]+/.exec(stdout)?.[0] ?? stdout)
  }
}

/** One rests for 3 s, since it was asked for by name; one is kept for 4 s, one for half an hour. */
async function releaseThree(t: Test, site: Site): Promise<void> {
  await site.live(t, 'a', { 'ipkeeper.io/ip': named })
  await site.live(t, 'b', { 'ipkeeper.io/ip': kept, 'ipkeeper.io/retain': '4s' })
  await site.live(t, 'c', { 'ipkeeper.io/ip': long, 'ipkeeper.io/retain': '30m' })
}

t.test(
  'set back by two years while it runs: all ends after its time',
  { skip, timeout: 120_000 },
  async t => {
    const site = new Site(t)
    await site.start()
    await releaseThree(t, site)
    site.clock.move(-twoYears)
    t.equal(await site.ask('x', long), 'IPK_ADDRESS_KEPT', 'what is kept is kept')
    await until('the short ones are free', async () => (await site.leases()).join() === `${long} held`)
    const [lease] = await site.daemon.leases()
    t.ok(
      Math.abs(Date.parse(lease?.until ?? '') - (Date.now() - twoYears * 1000) - 30 * 60_000) < 60_000,
      lease?.until ?? '',
    )
    t.equal(await site.ask('y', kept), 'given')

    t.equal(site.log.split('the clock was set back by 730 days').length, 2, 'told once')
    const status = JSON.parse((await site.daemon.ask('GET', '/v1/status')).body) as StatusReply
    t.match(status.clock, { jumps: 1, last: { says: 'the clock was set back by 730 days' } })
    t.ok(Math.abs((status.clock?.last?.seconds ?? 0) + twoYears) < 5, String(status.clock?.last?.seconds))
    t.match((await site.daemon.control('status')).stdout, /^clock +the clock was set back by 730 days, 20/m)
    const { body } = await site.daemon.ask('GET', '/metrics')
    t.match(body, /^ipkeeper_clock_jumps_total\{direction="back"\} 1$/m)
    t.match(body, /^ipkeeper_clock_jumps_total\{direction="forward"\} 0$/m)

    await site.stop()
    await site.start()
    t.equal(await site.ask('z', long), 'IPK_ADDRESS_KEPT', 'after a restart too')
  },
)

t.test(
  'set back by two years while it is down: all ends after its time',
  { skip, timeout: 120_000 },
  async t => {
    const site = new Site(t)
    await site.start()
    await releaseThree(t, site)
    await site.stop('SIGKILL')
    site.clock.move(-twoYears)
    await site.start()
    for (const { until: end } of await site.daemon.leases())
      t.ok(Date.parse(end ?? '') <= Date.now() - twoYears * 1000 + 30 * 60_000 + 1000, end ?? '')
    await until('the short ones are free', async () => (await site.leases()).join() === `${long} held`)
    t.equal(await site.ask('x', long), 'IPK_ADDRESS_KEPT')
    t.equal(await site.ask('y', named), 'given')
  },
)

t.test(
  'set forward while it runs: what is kept is kept, an overtaken ADD stays so',
  { skip, timeout: 120_000 },
  async t => {
    const site = new Site(t)
    await site.start()
    await site.live(t, 'c', { 'ipkeeper.io/ip': long, 'ipkeeper.io/retain': '30m' })
    const request = (containerId: string, startedAt: number): object => ({
      ...{ containerId, netns: '/run/netns/none', ifname: 'eth0', args: '', path: '/opt/cni/bin', startedAt },
      config: {
        ...{ cniVersion: '1.1.0', name: 'fixed', type: 'bridge' },
        ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.23.0.0/24' }]] },
      },
    })
    t.match(await site.daemon.ask('POST', '/v1/cni/del', request('late', 200)), { status: 200 })
    site.clock.move(hour)
    t.match(await site.daemon.ask('POST', '/v1/cni/del', request('other', 300)), { status: 200 })
    t.match(await site.daemon.ask('POST', '/v1/cni/add', request('late', 100)), { body: /IPK_DEL_OVERTOOK/ })
    t.equal(await site.ask('x', long), 'IPK_ADDRESS_KEPT', 'half an hour is not over')
    t.match(site.log, /the clock was set forward by 60 min/)
    await site.stop()
    await site.start()
    t.equal(await site.ask('y', long), 'IPK_ADDRESS_KEPT', 'after a restart neither')
    site.clock.move(0)
    t.equal(await site.ask('z', long), 'IPK_ADDRESS_KEPT', 'and when it is set right again')
  },
)

t.test('STATUS has its 30 s, whatever the clock says', { skip, timeout: 120_000 }, async t => {
  const site = new Site(t)
  t.equal((await site.run('STATUS', '')).exit, 1, 'nobody has ever answered')
  await site.start()
  t.equal((await site.run('STATUS', '')).exit, 0)
  await site.stop('SIGKILL')
  for (const ahead of [0, hour, -hour, -twoYears]) {
    site.clock.move(ahead)
    t.equal((await site.run('STATUS', '')).exit, 0, String(ahead))
  }
})
