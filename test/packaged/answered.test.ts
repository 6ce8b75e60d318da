/**
 * Daemon and plugins are killed (SIGKILL) together, again and again. After each restart the pods that have an address are
 * those whose plugin had come to its answer, and no others.
 */
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import type { AttachmentRecord } from '../../ipkeeper-server/ipam/records/records.ts'
import { changeRecords } from '../rigs/change-records.ts'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { logs } from '../rigs/logs.ts'
import { failsProperly } from '../rigs/plugin-under-fault.ts'
import { startProcess } from '../rigs/plugin-process.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const rounds = 15
const plugins = 8

const skip = missing('executables')
const folder = tempFolder(t)

interface Site {
  readonly socket: string
  readonly stateDir: string
  readonly marks: string
  readonly config: { readonly ipam: object } & Readonly<Record<string, unknown>>
  readonly start: () => Promise<Daemon>
}

function placesOf(name: string): Site {
  const [socket, stateDir, config] = [
    folder.file(`${name}.sock`),
    folder.file(name),
    folder.file(`${name}.yaml`),
  ]
  // Containers of these tests have no namespace, which on a busy machine the sweeper would take for their death in time.
  writeFileSync(config, 'reconcile: { mode: report }\n')
  return {
    socket,
    stateDir,
    marks: join(stateDir, 'answered'),
    config: {
      cniVersion: '1.0.0',
      name,
      type: 'bridge',
      ipam: { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.23.0.0/16' }]] },
    },
    start: () => startDaemon({ socket, stateDir, config }),
  }
}

/** The attachments in the store of a daemon that has ended, by container. */
function recorded({ stateDir }: Site): ReadonlyMap<string, AttachmentRecord> {
  const database = new DatabaseSync(join(stateDir, 'leases.db'))
  try {
    const rows = database.prepare("SELECT body FROM record WHERE kind = 'attachment'").all()
    const records = rows.map(({ body }) => JSON.parse(String(body)) as AttachmentRecord)
    return new Map(records.map(record => [record.containerId, record]))
  } finally {
    database.close()
  }
}

const containersWithLease = async (daemon: Daemon): Promise<readonly string[]> =>
  (await daemon.boundLeases()).map(({ containerId }) => containerId ?? '').sort()

/** Within 10 s of its start the daemon has leases of these containers alone. */
async function comesTo(daemon: Daemon, expected: readonly string[], what: string): Promise<void> {
  const wanted = JSON.stringify([...expected].sort())
  let last = ''
  await until(
    what,
    async () => (last = JSON.stringify(await containersWithLease(daemon))) === wanted,
    10_000,
  ).catch((error: unknown) => {
    throw new Error(`${what}: leases of ${last}, expected ${wanted}\n${daemon.log()}`, { cause: error })
  })
}

t.test(
  `${rounds} times ${plugins} plugins and their daemon, killed together`,
  { skip, timeout: 600_000 },
  async t => {
    const own = placesOf('together')
    const printed = new Set<string>()
    /** The plugin had left its mark, and was killed before it printed: how many they are is a matter of the machine. */
    let betweenMarkAndResult = 0
    let undone = 0
    let daemon = await own.start()
    t.teardown(() => daemon.stop('SIGKILL'))
    for (let round = 0; round < rounds; round++) {
      const runs = Array.from({ length: plugins }, (_, number) => {
        const container = `r${round}p${number}`
        const args = `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${container};K8S_POD_UID=uid-${container}`
        const env = { CNI_CONTAINERID: container, CNI_ARGS: args }
        return { container, process: startProcess('ADD', own.config, { env }) }
      })
      // The first answers are just going out, or some more of them.
      const begun = 1 + randomInt(plugins)
      const before = daemon.log().split('"msg":"added"').length
      await until('ADDs are served', () => daemon.log().split('"msg":"added"').length >= before + begun)
      const victims = [
        () => {
          daemon.kill('SIGKILL')
        },
        ...runs.map(
          ({ process }) =>
            () =>
              process.child.kill('SIGKILL'),
        ),
      ]
      if (randomInt(2) === 0) victims.reverse()
      for (const kill of victims) kill()
      await daemon.stop('SIGKILL')
      const ended = await Promise.all(runs.map(({ process }) => process.finished))
      for (const [index, { exit, signal, stdout }] of ended.entries()) {
        const { container = '' } = runs[index] ?? {}
        if (exit === 0 || stdout.endsWith('}\n')) {
          if (!('ips' in (JSON.parse(stdout) as object))) continue
          printed.add(container)
        } else if (signal !== 'SIGKILL') t.fail(`${container} ended by itself: ${stdout}`)
      }

      const records = recorded(own)
      const marks = new Set(readdirSync(own.marks))
      for (const container of printed) if (!records.has(container)) t.fail(`${container} is not recorded`)
      const answered = [...records].filter(
        ([, { unanswered, invocationId }]) => !unanswered || marks.has(invocationId ?? ''),
      )
      const expected = answered.map(([container]) => container)
      const unprinted = expected.filter(container => !printed.has(container))
      betweenMarkAndResult += unprinted.length
      // They have their mark: leases of theirs end by a DEL, as those of any pod that was answered.
      for (const container of unprinted) printed.add(container)
      undone += records.size - expected.length
      t.strictSame([...printed].sort(), expected.sort(), `round ${round}: what was printed was marked`)

      daemon = await own.start()
      await comesTo(daemon, [...printed], `round ${round}`)
    }
    t.ok(printed.size > 0 && undone > 0, `${printed.size} answered, ${undone} undone`)
    t.comment(`${betweenMarkAndResult} killed between mark and result`)
    await daemon.stop()
    daemon = await own.start()
    await until('nothing is left to settle', () =>
      readdirSync(own.marks, { withFileTypes: true }).every(entry => entry.isDirectory()),
    )
    await daemon.stop('SIGKILL')
    const records = [...recorded(own).values()]
    t.strictSame(records.map(({ containerId }) => containerId).sort(), [...printed].sort())
    t.strictSame(
      records.filter(({ unanswered }) => unanswered),
      [],
      'of every pod it is known that it was answered',
    )
  },
)

t.test(
  'between its mark and its Result the plugin waits for nothing',
  { skip: missing('executables', 'strace'), timeout: 120_000 },
  async t => {
    const own = placesOf('window')
    const daemon = await own.start()
    t.teardown(() => daemon.stop('SIGKILL'))
    for (let run = 0; run < 5; run++) {
      const trace = folder.file(`trace-${run}`)
      const container = `w${run}`
      const { finished } = startProcess('ADD', own.config, {
        env: { CNI_CONTAINERID: container },
        by: ['strace', '-f', '-o', trace],
      })
      t.match(await finished, { exit: 0, stdout: /"ips"/ })
      const lines = readFileSync(trace, 'latin1').split('\n')
      // strace(1): the first word is the thread's ID, and the first thread is the one that runs JavaScript.
      const [first = ''] = lines[0]?.split(' ') ?? []
      const calls = lines
        .filter(line => line.startsWith(`${first} `))
        .map(line => line.slice(first.length).trim())
      const mark = calls.findIndex(call => call.startsWith('openat(') && call.includes(`"${own.marks}/`))
      const print = calls.findIndex(call => call.startsWith('write(1,'))
      t.ok(mark >= 0 && print > mark, 'it marks, then prints')
      t.strictSame(
        calls.slice(mark + 1, print).filter(call => waits.test(call)),
        [],
        'no file, socket, process or timer in between',
      )
    }
  },
)

/** System calls that wait for somebody else, or may: disks, processes, timers, the event loop. */
const waits =
  /^(open|openat|read|readv|pread64|getdents64|fsync|fdatasync|rename|unlink|mkdir|utimensat|connect|sendmsg|recvmsg|poll|ppoll|select|pselect6|epoll_wait|epoll_pwait|epoll_pwait2|io_uring_enter|nanosleep|clock_nanosleep|clone|clone3|fork|vfork|execve|wait4)\(/

interface Row {
  readonly container: string
  /** Keys of the request, besides those of every ADD. */
  readonly body?: object
  /** Makes the file of this name once it is answered. */
  readonly mark?: string
  /** What is sent after the restart. */
  readonly then?: 'the same ADD' | 'its DEL'
  readonly survives: boolean
}

const rows: readonly Row[] = [
  { container: 'plain', survives: true },
  { container: 'plain-run', body: { invocationId: 'run-0' }, survives: true },
  { container: 'marked', body: { confirms: true, invocationId: 'run-1' }, mark: 'run-1', survives: true },
  { container: 'unmarked', body: { confirms: true, invocationId: 'run-2' }, survives: false },
  { container: 'no-run', body: { confirms: true }, survives: true },
  { container: 'no-mark', body: { confirms: true, invocationId: '../../run-3' }, survives: true },
  {
    container: 'again',
    body: { confirms: true, invocationId: 'run-4' },
    then: 'the same ADD',
    survives: true,
  },
  { container: 'deleted', body: { confirms: true, invocationId: 'run-5' }, then: 'its DEL', survives: false },
]

t.test('who is believed to have the answer after a kill, row by row', { skip, timeout: 120_000 }, async t => {
  const own = placesOf('rows')
  const request = ({ container, body }: Row): object => ({
    ...{ containerId: container, netns: '/run/netns/none', ifname: 'eth0', args: '', path: '/opt/cni/bin' },
    ...body,
    config: own.config,
  })
  let daemon = await own.start()
  t.teardown(() => daemon.stop('SIGKILL'))
  for (const row of rows) {
    t.match(await daemon.ask('POST', '/v1/cni/add', request(row)), { status: 200 }, row.container)
    if (row.mark !== undefined) writeFileSync(join(own.marks, row.mark), '', { flag: 'wx', mode: 0o600 })
  }
  await daemon.stop('SIGKILL')
  daemon = await own.start()
  for (const row of rows) {
    if (row.then === undefined) continue
    const verb = row.then === 'its DEL' ? 'del' : 'add'
    t.match(await daemon.ask('POST', `/v1/cni/${verb}`, request(row)), { status: 200 }, row.container)
  }
  const surviving = rows.filter(({ survives }) => survives).map(({ container }) => container)
  await comesTo(daemon, surviving, 'after the kill')
  await logs(t, daemon, /"containerId":"unmarked".*never answered.*undone/)
  t.ok(statSync(join(own.marks, 'run-2')).isDirectory(), 'a plugin that comes late finds that it is too late')

  t.comment('somebody takes the marks away while the daemon is down')
  const late: Row = { container: 'late', body: { confirms: true, invocationId: 'run-9' }, survives: true }
  t.match(await daemon.ask('POST', '/v1/cni/add', request(late)), { status: 200 })
  await daemon.stop('SIGKILL')
  rmSync(own.marks, { recursive: true })
  for (const start of ['first', 'second']) {
    daemon = await own.start()
    await comesTo(daemon, [...surviving, 'late'], `${start} start: nobody can say what was not answered`)
    await daemon.stop('SIGKILL')
  }
  t.strictSame(
    [...recorded(own).values()].filter(({ unanswered }) => unanswered).map(({ containerId }) => containerId),
    [],
  )
})

t.test('a reboot leaves the question to the proof of death', { skip, timeout: 60_000 }, async t => {
  const own = placesOf('reboot')
  let daemon = await own.start()
  t.teardown(() => daemon.stop('SIGKILL'))
  const request = (container: string): object => ({
    ...{ containerId: container, netns: '/none', ifname: 'eth0', args: '', path: '/p', config: own.config },
    ...{ confirms: true, invocationId: `run-of-${container}` },
  })
  for (const container of ['before', 'after'])
    t.match(await daemon.ask('POST', '/v1/cni/add', request(container)), { status: 200 })
  await daemon.stop('SIGKILL')
  await changeRecords(join(own.stateDir, 'leases.db'), 'attachment', record =>
    record.containerId === 'before' ? { ...record, bootId: 'earlier' } : undefined,
  )
  daemon = await own.start()
  await comesTo(daemon, ['before'], 'only what was added in this boot is undone')
  await daemon.stop('SIGKILL')
  t.match([...recorded(own).values()], [{ containerId: 'before', unanswered: { confirms: true } }])
})

const privileged = missing('executables', 'namespaces')

t.test(
  'one path, two folders: the plugin sees another mount',
  { skip: privileged, timeout: 60_000 },
  async t => {
    const own = placesOf('mounts')
    const daemon = await own.start()
    t.teardown(() => daemon.stop('SIGKILL'))
    const run = (verb: string, mounts: string, stateDir: string) => {
      const config = { ...own.config, cniVersion: '1.1.0', ipam: { ...own.config.ipam, stateDir } }
      return startProcess(verb, config, {
        by: ['unshare', '--mount', '/bin/sh', '-c', `${mounts} && exec "$0"`],
      }).finished
    }
    for (const [verb, code] of [
      ['ADD', 7],
      ['STATUS', 50],
    ] as const) {
      const finished = await run(verb, `mount -t tmpfs tmpfs ${own.stateDir}`, own.stateDir)
      failsProperly(t, verb, finished, { code, msg: /^state folders differ: .* is another folder for / })
    }
    t.strictSame(await containersWithLease(daemon), [], 'the ADD was undone')
    const bound = folder.file('bound')
    const finished = await run('ADD', `mkdir ${bound} && mount --bind ${own.stateDir} ${bound}`, bound)
    t.equal(finished.exit, 0, 'another mount of the same folder is the same folder')
    t.strictSame(await containersWithLease(daemon), ['c1'])
  },
)
