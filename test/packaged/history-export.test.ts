/** The history of a packaged daemon, sent to a real rsyslogd that comes and goes. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { StatusReply } from '../../shared/api/listing.schema.ts'
import { configuredDaemon, type ConfiguredDaemon } from '../rigs/configured-daemon.ts'
import { freePort } from '../rigs/free-port.ts'
import { readPage, valueOf } from '../rigs/metrics-page.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { makeRsyslog, type Rsyslog, type RsyslogOptions } from '../rigs/rsyslog.ts'
import { makeServerCertificate } from '../rigs/server-certificate.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables', 'rsyslog')
t.jobs = 2

const configFor = (receiver: string): string =>
  `pools: [ { name: net, subnet: 10.22.0.0/24 } ]\nhistory: { export: { syslog: "${receiver}" } }\n`

/** Bytes that the kernel has taken for whoever listens on a port of loopback. */
function unread(port: number): number {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const established = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([, from, , state]) => from === local && state !== '0A')
  return established.reduce(
    (sum, [, , , , queues = '']) => sum + parseInt(queues.split(':')[1] ?? '0', 16),
    0,
  )
}

interface Site {
  readonly port: number
  readonly rsyslog: Rsyslog
  readonly site: ConfiguredDaemon
  readonly receiver: string
}

/** @param begun whether the receiver is there before the daemon */
async function exportSite(
  t: Test,
  begun: boolean,
  options: Omit<RsyslogOptions, 'port'> = {},
  extra = '',
): Promise<Site> {
  const port = await freePort()
  const rsyslog = makeRsyslog(t, tempFolder(t), { port, ...options })
  if (begun) await rsyslog.start()
  const receiver = `${options.protocol ?? 'tcp'}://127.0.0.1:${port}`
  const config = configFor(receiver).replace('" } }', `"${extra} } }`)
  return { port, rsyslog, receiver, site: await configuredDaemon(t, config) }
}

async function comeAndGo(t: Test, { site }: Pick<Site, 'site'>, ...pods: readonly string[]): Promise<void> {
  for (const pod of pods) {
    t.match(await site.add(pod, 'net'), /^10\.22\.0\./, `${pod} is added`)
    await site.del(pod)
  }
}

const statusOf = async ({ site }: Pick<Site, 'site'>): Promise<StatusReply> =>
  JSON.parse((await site.daemon.ask('GET', '/v1/status')).body) as StatusReply

const problemOf = async (one: Pick<Site, 'site'>): Promise<string | undefined> =>
  (await statusOf(one)).parts?.find(({ name }) => name === 'history-export')?.problem?.message

/** The lines of ipkeeperctl history --export. */
async function exportedLines({ site }: Site): Promise<string[]> {
  const { exit, stdout, stderr } = await site.daemon.control('history', '--export')
  if (exit !== 0) throw new Error(stderr)
  return stdout.split('\n').slice(0, -1)
}

/** The entries that rsyslog has, each as often as it has it. */
const taken = ({ rsyslog }: Site): string[] =>
  rsyslog.messages().flatMap(({ structuredData }) => {
    const text = / entry="((?:[^"\\\]]|\\.)*)"/.exec(structuredData)?.[1]
    return text === undefined ? [] : text.replace(/\\(["\\\]])/g, '$1')
  })

/** Waits until rsyslog has all there is. Returns whether each entry came once, in order. */
async function allHasCome(t: Test, site: Site, entries: number): Promise<void> {
  await until('all entries are there', () => new Set(taken(site)).size >= entries)
  await until('the daemon knows it', async () => (await statusOf(site)).historyExport?.unsent === 0)
  t.strictSame(
    [...new Set(taken(site))],
    await exportedLines(site),
    'all of it, in order, as it is on the node',
  )
  const checked = await site.site.daemon.control('history', '--verify', '--file', site.rsyslog.file)
  t.equal(checked.exit, 0)
  t.match(checked.stdout, new RegExp(`^node \\S+: ${entries} entries, as they were written\n`))
}

t.test('entries come once each and in order, and rsyslog understands them', { skip }, async t => {
  const one = await exportSite(t, true)
  await comeAndGo(t, one, 'web-0', 'web-1')
  await allHasCome(t, one, 4)
  t.equal(taken(one).length, 4, 'once each')
  const [bound, cooling] = one.rsyslog.messages()
  const { node } = await statusOf(one)
  t.match(bound, {
    ...{ priority: '134', host: node, program: 'ipkeeper', process: '-', kind: 'bound' },
    structuredData:
      /^\[ipkeeper@32473 id="1" event="bound" address="10\.22\.0\.2" .* namespace="shop" pod="web-0" uid="u-web-0" .*\]$/,
    text: `10.22.0.2 was given to shop/web-0 on node ${node}`,
  })
  t.match(cooling, { kind: 'cooling', structuredData: / by="del" / })
  t.match(
    (await one.site.daemon.control('status')).stdout,
    `export  ${one.receiver}, all of the history is sent\n`,
  )
  const page = readPage((await one.site.daemon.ask('GET', '/metrics')).body)
  t.equal(valueOf(page, 'ipkeeper_history_sent_entries_total', {}), 4)
  t.equal(valueOf(page, 'ipkeeper_history_unsent_entries', {}), 0)
  t.equal(await one.site.daemon.stop(), 0)
})

t.test('a receiver that is away gets all of it, also from another run of the daemon', { skip }, async t => {
  const one = await exportSite(t, false)
  await comeAndGo(t, one, 'web-0')
  await until('its absence is told', async () => (await problemOf(one)) !== undefined)
  t.equal(await problemOf(one), `${one.receiver}: nobody listens there`)
  const { stdout } = await one.site.daemon.control('status')
  t.match(stdout, /^part {4}history-export: tcp:.*\n {8}next: see whether the receiver listens/m)
  t.match(stdout, /^export {2}tcp:\S+, 2 entries of the history not sent yet, the oldest for /m)
  t.match((await one.site.daemon.control('doctor')).stdout, /history-export: tcp:\S+: nobody listens there/)
  const page = readPage((await one.site.daemon.ask('GET', '/metrics')).body)
  t.equal(valueOf(page, 'ipkeeper_history_unsent_entries', {}), 2)
  t.equal(valueOf(page, 'ipkeeper_optional_part_up', { part: 'history-export' }), 0)
  const failures = one.site.daemon
    .log()
    .split('\n')
    .filter(line => line.includes('nobody listens there'))
  t.equal(failures.length, 1, 'the log has it once')
  await one.site.restart()
  await comeAndGo(t, one, 'web-1')
  await one.rsyslog.start()
  await allHasCome(t, one, 4)
  t.equal(await problemOf(one), undefined)

  await one.rsyslog.stop('SIGKILL')
  await comeAndGo(t, one, 'web-2', 'web-3')
  one.site.daemon.kill('SIGKILL')
  await until('it has ended', () => one.site.daemon.endedBy() !== undefined)
  await one.site.restart()
  await one.rsyslog.start()
  await comeAndGo(t, one, 'web-4')
  await allHasCome(t, one, 10)
})

t.test('what was pruned meanwhile is told, also to the receiver', { skip }, async t => {
  const one = await exportSite(t, false)
  await comeAndGo(t, one, 'web-0', 'web-1', 'web-2')
  await until('its absence is told', async () => (await problemOf(one)) !== undefined)
  one.site.write(configFor(one.receiver).replace('{ export', '{ maxEntries: 2, export'))
  await one.site.restart()
  await one.site.logged('the oldest entries of the history were removed')
  await one.rsyslog.start()
  await until('all entries are there', () => taken(one).length === 4)
  t.strictSame(
    one.rsyslog.messages().map(({ kind }) => kind),
    ['pruned', 'cooling', 'pruned', 'cooling', 'bound', 'cooling'],
    'of an address whose cool-down lasts, the newest entry stays',
  )
  t.match(one.rsyslog.messages()[0], {
    ...{ priority: '132', structuredData: '[ipkeeper@32473 from="1" to="1" entries="1"]' },
    text: /^1 entry \(ID 1\) was pruned from the history of node /,
  })
  t.match(await one.site.logged('were pruned before they could be sent'), { entries: 1, level: 'error' })
  t.match(
    (await one.site.daemon.control('status')).stdout,
    /^ {8}PRUNED BEFORE THEY COULD BE SENT: 2 entries$/m,
  )
  t.match(
    (await one.site.daemon.control('doctor')).stdout,
    /history-export: pruned before tcp:\S+ took them: 2 entries; raise history\.maxAge or history\.maxEntries/,
  )
  const page = readPage((await one.site.daemon.ask('GET', '/metrics')).body)
  t.equal(valueOf(page, 'ipkeeper_history_pruned_unsent_entries_total', {}), 2)
  const checked = await one.site.daemon.control('history', '--verify', '--file', one.rsyslog.file)
  t.equal(checked.exit, 0)
  t.match(checked.stdout, /\npruned by the node before they could be copied: 1 entry\n/)
})

t.test('a receiver that does not read holds up nobody', { skip }, async t => {
  const one = await exportSite(t, true)
  await comeAndGo(t, one, 'web-0')
  await allHasCome(t, one, 2)
  one.rsyslog.freeze()
  await comeAndGo(t, one, 'web-1', 'web-2', 'web-3')
  t.equal((await statusOf(one)).historyExport?.unsent, 6, 'what the kernel has taken for it does not count')
  one.rsyslog.thaw()
  await allHasCome(t, one, 8)
  one.rsyslog.freeze()
  await comeAndGo(t, one, 'web-4')
  await until('lines wait in the kernel', () => unread(one.port) > 0)
  await one.rsyslog.stop('SIGKILL')
  await one.rsyslog.start()
  await allHasCome(t, one, 10)
  one.rsyslog.freeze()
  await comeAndGo(t, one, 'web-5')
  await until('lines wait in the kernel', () => unread(one.port) > 0)
  t.equal(await one.site.daemon.stop(), 0, 'nor does it keep the daemon from ending')
  t.notMatch(one.site.daemon.log(), /given up/)
})

t.test('a program that is no receiver is told', { skip }, async t => {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.write('220 mail ESMTP\r\n')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await once(server.close(), 'close')
  })
  const { port } = server.address() as AddressInfo
  const site = await configuredDaemon(t, configFor(`tcp://127.0.0.1:${port}`))
  await comeAndGo(t, { site }, 'web-0')
  await until('it is told', async () => (await problemOf({ site })) !== undefined)
  t.match(await problemOf({ site }), /: it answers, and syslog knows no answers/)
  await comeAndGo(t, { site }, 'web-1')
  t.equal((await statusOf({ site })).historyExport?.sent, 0)
})

t.test('another receiver is taken from the file while the daemon runs', { skip }, async t => {
  const one = await exportSite(t, false)
  const port = await freePort()
  const other = makeRsyslog(t, tempFolder(t), { port })
  await other.start()
  await comeAndGo(t, one, 'web-0')
  await until('its absence is told', async () => (await problemOf(one)) !== undefined)
  const receiver = `tcp://127.0.0.1:${port}`
  one.site.write(configFor(receiver))
  await allHasCome(t, { ...one, rsyslog: other, receiver }, 2)
  t.notMatch((await one.site.daemon.control('status')).stdout, /^part/m)
  one.site.write('pools: [ { name: net, subnet: 10.22.0.0/24 } ]\n')
  await until('nobody gets any more', async () => (await statusOf(one)).historyExport === undefined)
  await comeAndGo(t, one, 'web-1')
  one.site.write(configFor(receiver))
  await allHasCome(t, { ...one, rsyslog: other, receiver }, 4)
  t.equal(taken({ ...one, rsyslog: other }).length, 4, 'once each')
})

t.test('by UDP', { skip }, async t => {
  const one = await exportSite(t, true, { protocol: 'udp' })
  await comeAndGo(t, one, 'web-0')
  await allHasCome(t, one, 2)
})

t.test(
  'by TLS, with certificates of both sides',
  { skip: skip || missing('rsyslog-tls', 'openssl') },
  async t => {
    const folder = tempFolder(t)
    await makeServerCertificate(folder, 'good', 'IP:127.0.0.1')
    await makeServerCertificate(folder, 'other', 'IP:127.0.0.1')
    const [cert, key] = [folder.file('good.crt'), folder.file('good.key')]
    const ofBoth = `, certFile: ${cert}, keyFile: ${key}`
    const tls = { ca: cert, cert, key }
    const one = await exportSite(
      t,
      true,
      { protocol: 'tls', tls },
      `, caFile: ${folder.file('other.crt')}${ofBoth}`,
    )
    await comeAndGo(t, one, 'web-0')
    await until('it is told', async () => (await problemOf(one)) !== undefined)
    t.equal(
      await problemOf(one),
      `${one.receiver}: its certificate is signed by nobody whom "caFile" names`,
      'another authority',
    )
    one.site.write(configFor(one.receiver).replace('" } }', `", caFile: ${cert}${ofBoth} } }`))
    await allHasCome(t, one, 2)
  },
)
