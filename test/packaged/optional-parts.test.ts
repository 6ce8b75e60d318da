/** Parts that no pod needs: one that cannot begin, or breaks, is told and tried again, and pods come and go meanwhile. */
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import t, { type Test } from 'tap'
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { configuredDaemon, type ConfiguredDaemon } from '../rigs/configured-daemon.ts'
import { encodeReply, startCriDouble, type CriDouble } from '../rigs/cri-double.ts'
import { freePort } from '../rigs/free-port.ts'
import { readPage, valueOf } from '../rigs/metrics-page.ts'
import { until } from '../rigs/poll.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { runProgram } from '../rigs/run-program.ts'
import { makeExpiredCertificate, makeServerCertificate } from '../rigs/server-certificate.ts'
import { tempFolder, type TempFolder } from '../rigs/temp-folder.ts'
import { webhookSite, type WebhookSite } from '../rigs/webhook.ts'

const skip = missing('executables')
// Most of the time they wait.
t.jobs = 2

/** One way to break a part, and to mend it. */
interface Accident {
  /** Of the configuration, besides a pool. */
  readonly config: string
  /** As `status` names the part. */
  readonly part: string
  readonly code: string
  readonly message: RegExp
  /** Both may happen before the daemon starts. */
  readonly breaks: () => Promise<void>
  readonly mends: () => Promise<void>
  /** Whether the part does what it is for. */
  readonly works: (site: ConfiguredDaemon) => Promise<boolean>
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ status }) => status === 200,
    () => false,
  )

/** A port that another program takes and gives back. */
function takenPort(t: Test, host: string, port: number): Pick<Accident, 'breaks' | 'mends'> {
  const server = createServer()
  const mends = async (): Promise<void> => {
    if (server.listening) await once(server.close(), 'close')
  }
  t.teardown(mends)
  return {
    mends,
    breaks: async () => {
      await once(server.listen({ host, port }), 'listening')
    },
  }
}

async function metricsPort(t: Test): Promise<Accident> {
  const port = await freePort()
  return {
    ...takenPort(t, '127.0.0.1', port),
    ...{ config: `metrics: { listen: "127.0.0.1:${port}" }`, part: 'metrics', code: 'IPK_METRICS_LISTEN' },
    message: /^metrics\.listen: another program listens on 127\.0\.0\.1:/,
    works: () => answers(`http://127.0.0.1:${port}/metrics`),
  }
}

async function pagePort(t: Test): Promise<Accident> {
  const port = await freePort()
  return {
    ...takenPort(t, '127.0.0.1', port),
    ...{ config: `page: { listen: "127.0.0.1:${port}" }`, part: 'page', code: 'IPK_PAGE_LISTEN' },
    message: /^page\.listen: another program listens on 127\.0\.0\.1:/,
    works: () => answers(`http://127.0.0.1:${port}/v1/pools`),
  }
}

interface Webhook {
  readonly folder: TempFolder
  readonly site: WebhookSite
  readonly config: string
}

function webhook(t: Test): Webhook {
  const folder = tempFolder(t)
  const site = webhookSite(folder)
  return { folder, site, config: `webhook: ${JSON.stringify(site.config)}` }
}

/** Whether the webhook shows a certificate to whoever connects. */
async function shows(address: string): Promise<boolean> {
  const socket = connectTls({ host: address, port: 9443, rejectUnauthorized: false })
  return await new Promise(resolve => {
    const end = (worked: boolean): void => {
      socket.destroy()
      resolve(worked)
    }
    socket.once('secureConnect', () => {
      end(true)
    })
    socket.once('error', () => {
      end(false)
    })
  })
}

async function webhookPort(t: Test): Promise<Accident> {
  const { folder, site, config } = webhook(t)
  site.install(await makeServerCertificate(folder, 'good', `IP:${site.address}`))
  return {
    ...takenPort(t, site.address, 9443),
    ...{ config, part: 'webhook', code: 'IPK_WEBHOOK_LISTEN' },
    message: /^webhook\.listen: another program listens on /,
    works: () => shows(site.address),
  }
}

/** The files of the webhook, spoilt in one way. */
function certificate(
  spoil: (webhook: Webhook) => Promise<void>,
  message: RegExp,
): (t: Test) => Promise<Accident> {
  return async t => {
    const made = webhook(t)
    const { folder, site, config } = made
    const good = await makeServerCertificate(folder, 'good', `IP:${site.address}`)
    site.install(good)
    return {
      ...{ config, part: 'certificate', code: 'IPK_WEBHOOK_CERTIFICATE', message },
      breaks: () => spoil(made),
      mends: () => {
        site.install(good)
        return Promise.resolve()
      },
      works: () => shows(site.address),
    }
  }
}

const noCertificate = certificate(({ site }) => {
  rmSync(site.config.certFile)
  return Promise.resolve()
}, /tls\.crt cannot be read \(ENOENT\)/)

const brokenKey = certificate(({ site }) => {
  writeFileSync(site.config.keyFile, 'no key')
  return Promise.resolve()
}, /tls\.key make no server certificate/)

const otherKey = certificate(async ({ folder, site }) => {
  const { key } = await makeServerCertificate(folder, 'other', `IP:${site.address}`)
  writeFileSync(site.config.keyFile, key)
}, /make no server certificate \(key values mismatch\)/)

const expired = certificate(async ({ folder, site }) => {
  site.install(await makeExpiredCertificate(folder, 'old', `IP:${site.address}`))
}, /tls\.crt ended at 2020-01-02T00:00:00/)

/** A runtime whose socket is not there. */
function runtimeSocket(t: Test): Promise<Accident> {
  const folder = tempFolder(t)
  const socket = folder.file('cri.sock')
  let runtime: CriDouble | undefined
  const breaks = (): Promise<void> => {
    runtime?.close()
    rmSync(socket, { force: true })
    return Promise.resolve()
  }
  t.teardown(() => breaks())
  return Promise.resolve({
    ...{ config: `runtime: { sockets: [ "${socket}" ] }\nreconcile: { interval: 1s }`, breaks },
    ...{ part: 'runtime', code: 'IPK_RUNTIME_UNREACHABLE', message: /cri\.sock: there is no such socket/ },
    mends: async () => {
      runtime = await startCriDouble(socket, method =>
        method === 'ListPodSandbox' ? encodeReply('ListPodSandbox', { items: [] }) : undefined,
      )
    },
    works: async ({ daemon }) => {
      const { stdout } = await daemon.control('audit', '-o', 'json')
      const { witnesses } = JSON.parse(stdout) as { witnesses: { name: string; state: string }[] }
      return witnesses.some(({ name, state }) => name.includes('cri.sock') && state === 'asked')
    },
  })
}

const pool = 'pools: [ { name: net, subnet: 10.22.0.0/24 } ]\n'

interface Seen {
  readonly status: NonNullable<StatusReply['parts']>[number] | undefined
  readonly metric: number | undefined
  readonly text: string
  readonly doctor: string
}

/** What is said of a part at each place. */
async function seen({ daemon }: ConfiguredDaemon, part: string): Promise<Seen> {
  const { parts } = JSON.parse((await daemon.ask('GET', '/v1/status')).body) as StatusReply
  const page = readPage((await daemon.ask('GET', '/metrics')).body)
  const { stdout } = await daemon.control('doctor', '-o', 'json')
  const { checks } = JSON.parse(stdout) as { checks: { id: string; state: string; says: string }[] }
  const check = checks.find(({ id }) => id === 'optional-parts')
  return {
    status: parts?.find(({ name }) => name === part),
    metric: valueOf(page, 'ipkeeper_optional_part_up', { part }),
    text: (await daemon.control('status')).stdout,
    doctor: `${check?.state}: ${check?.says}`,
  }
}

const problemOf = async ({ daemon }: ConfiguredDaemon, part: string): Promise<unknown> =>
  (JSON.parse((await daemon.ask('GET', '/v1/status')).body) as StatusReply).parts?.find(
    ({ name }) => name === part,
  )?.problem

async function podComesAndGoes(t: Test, site: ConfiguredDaemon, name: string): Promise<void> {
  t.match(await site.add(name, 'net'), /^10\.22\.0\.[0-9]+\/24$/, `${name} is added`)
  await site.del(name)
}

/** It is broken: everybody says so, and pods come and go. */
async function isTold(t: Test, site: ConfiguredDaemon, accident: Accident, when: string): Promise<void> {
  const { part, code, message } = accident
  await until(`${part} is told, ${when}`, async () => Boolean(await problemOf(site, part)))
  await podComesAndGoes(t, site, `while-broken-${when}`)
  const { status, metric, text, doctor } = await seen(site, part)
  t.match(status, { problem: { code, message, hint: /./ }, since: /^20/ })
  t.equal(metric, 0)
  t.match(text, new RegExp(`^part {4}${part}: .*\n {8}next: `, 'm'))
  t.match(doctor, new RegExp(`^warn: ${part}: `))
}

/** It works again, and nobody says anything any more. */
async function isWell(t: Test, site: ConfiguredDaemon, accident: Accident): Promise<void> {
  const { part } = accident
  await until(`${part} works`, () => accident.works(site))
  await until(`${part} is told no more`, async () => (await problemOf(site, part)) === null)
  const { metric, text, doctor } = await seen(site, part)
  t.equal(metric, 1)
  t.notMatch(text, /^part /m)
  t.match(doctor, /^ok: /)
}

const linesOf = (site: ConfiguredDaemon, part: string): readonly { code?: string; msg: string }[] =>
  site.daemon
    .log()
    .split('\n')
    .filter(line => line.includes(`"part":"${part}"`))
    .map(line => JSON.parse(line) as { code?: string; msg: string })

/** Whether it may break while it works: a port that is listened on is nobody else's. */
const accidents: readonly [name: string, make: (t: Test) => Promise<Accident>, breaksLater: boolean][] = [
  ['the port of metrics is taken', metricsPort, false],
  ['the port of the page is taken', pagePort, false],
  ['the port of the webhook is taken', webhookPort, false],
  ['the certificate is not there', noCertificate, true],
  ['the key cannot be used', brokenKey, true],
  ['the key is that of another certificate', otherKey, true],
  ['the certificate has ended', expired, true],
  ['the socket of the runtime is not there', runtimeSocket, true],
]

for (const [name, make, breaksLater] of accidents)
  t.test(name, { skip, buffered: true }, async t => {
    const accident = await make(t)
    await accident.breaks()
    const site = await configuredDaemon(t, `${pool}${accident.config}\n`)
    await isTold(t, site, accident, 'at-start')
    await accident.mends()
    await isWell(t, site, accident)
    if (breaksLater) {
      await accident.breaks()
      await isTold(t, site, accident, 'later')
      await accident.mends()
      await isWell(t, site, accident)
    }
    const { code, part } = accident
    const told = linesOf(site, part).map(line => line.code ?? line.msg)
    const once = [code, 'works again']
    t.same(told, breaksLater ? [...once, ...once] : once, 'the log has a line for each change')
    t.equal(await site.daemon.stop(), 0)
  })

t.test('a daemon ends while a part is still tried', { skip }, async t => {
  const accident = await metricsPort(t)
  await accident.breaks()
  const site = await configuredDaemon(t, `${pool}${accident.config}\n`)
  t.equal(await site.daemon.stop(), 0)
  t.equal(
    (await runProgram(join(distFolder, 'ipkeeperctl'), ['alive', '--socket', site.daemon.socket])).exit,
    1,
  )
})
