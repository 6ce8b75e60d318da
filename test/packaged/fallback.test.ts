/**
 * `ipam.fallback`: packaged plugin and daemon, with the reference host-local as fallback, and with small programs that
 * behave as no plugin should.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { AttachmentsReply } from '../../shared/api/listing.schema.ts'
import { stateFolders } from '../../shared/paths.ts'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { findReferencePlugins, missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

interface Printed {
  readonly code?: number
  readonly msg?: string
  readonly details?: string
  readonly ips?: readonly { readonly address: string }[]
}

interface Answer {
  readonly exit: number | null
  readonly printed: Printed | undefined
  readonly stderr: string
  readonly ms: number
}

interface RunOptions {
  readonly args?: string
  readonly config?: object
  readonly annotations?: Readonly<Record<string, string>>
  /** CNI_PATH. */
  readonly path?: string
  readonly fallback?: object
}

interface Site {
  daemon: Daemon
  /** Folder of the scripted fallbacks. */
  readonly bin: string
  readonly stateDir: string
  /** Host-local's own records. */
  readonly dataDir: string
  run(verb: string, container: string, options?: RunOptions): Promise<Answer>
  /** Addresses that host-local has given. */
  reserved(): readonly string[]
  attachments(): Promise<readonly [containerId: string, delegatedTo: string | null][]>
  restart(): Promise<void>
  /** Makes a fallback of a shell script. */
  script(name: string, text: string): void
}

async function makeSite(t: Test): Promise<Site> {
  const folder = tempFolder(t)
  const [socket, stateDir, dataDir, bin] = ['s', 'state', 'hl', 'bin'].map(name => folder.file(name)) as [
    string,
    string,
    string,
    string,
  ]
  mkdirSync(bin)
  const start = (): Promise<Daemon> => startDaemon({ socket, stateDir })
  const site: Site = {
    daemon: await start(),
    bin,
    stateDir,
    dataDir,
    run: async (verb, container, options = {}) => {
      const annotations = options.annotations ?? {}
      const fallback = options.fallback ?? {
        type: 'host-local',
        dataDir,
        ranges: [[{ subnet: '10.22.0.0/16', rangeStart: '10.22.8.0', rangeEnd: '10.22.8.99' }]],
      }
      const finished = await runPlugin({
        plugin: testedPlugin,
        command: verb,
        containerId: container,
        netns: '/run/netns/none',
        ifname: 'eth0',
        args: options.args ?? `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${container}`,
        path: options.path ?? `${bin}:${findReferencePlugins() ?? ''}`,
        config: {
          cniVersion: '1.0.0',
          name: 'mixed',
          type: 'bridge',
          runtimeConfig: { 'io.kubernetes.cri.pod-annotations': annotations },
          ipam: {
            type: 'ipkeeper',
            ranges: [[{ subnet: '10.22.0.0/16', rangeEnd: '10.22.7.255' }]],
            fallback,
          },
          ...options.config,
        },
        env: { IPKEEPER_SOCKET: socket, IPKEEPER_STATE_DIR: stateDir },
      })
      const printed = finished.stdout === '' ? undefined : (JSON.parse(finished.stdout) as Printed)
      return { exit: finished.exit, printed, stderr: finished.stderr, ms: finished.ms }
    },
    reserved: () =>
      existsSync(join(dataDir, 'mixed'))
        ? readdirSync(join(dataDir, 'mixed')).filter(name => /^[0-9.]+$/.test(name))
        : [],
    attachments: async () => {
      const reply = await site.daemon.ask('GET', '/v1/attachments')
      const { attachments } = JSON.parse(reply.body) as AttachmentsReply
      return attachments.map(({ containerId, delegatedTo }) => [containerId, delegatedTo])
    },
    restart: async () => {
      await site.daemon.stop()
      site.daemon = await start()
    },
    script: (name, text) => {
      writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
      chmodSync(join(bin, name), 0o755)
    },
  }
  t.teardown(() => site.daemon.stop())
  return site
}

const ipsOf = ({ printed }: Answer): readonly string[] => printed?.ips?.map(ip => ip.address) ?? []

t.test('under host-local', { skip: missing('executables', 'reference-plugins') }, async t => {
  const site = await makeSite(t)

  t.same(ipsOf(await site.run('ADD', 'plain')), ['10.22.8.0/16'], 'a pod that asks for nothing goes there')
  t.same(site.reserved(), ['10.22.8.0'])
  t.same(await site.attachments(), [['plain', 'host-local']], 'and the daemon remembers it')
  t.match(
    (await site.daemon.control('attachments')).stdout,
    /mixed +plain +eth0 +- +shop\/plain .* 10\.22\.8\.0\/16 by host-local/,
  )
  t.same(await site.daemon.leases(), [], 'its address is none of our leases')

  const asked = await site.run('ADD', 'web-0', { annotations: { 'ipkeeper.io/ip': '10.22.0.50' } })
  t.same(ipsOf(asked), ['10.22.0.50/16'], 'one that asks is served here')
  t.same(ipsOf(await site.run('ADD', 'kept', { annotations: { 'ipkeeper.io/retain': '1h' } })), [
    '10.22.0.2/16',
  ])
  t.equal((await site.daemon.control('reserve', '10.22.0.77', 'shop/db-0')).exit, 0)
  t.same(ipsOf(await site.run('ADD', 'db-0')), ['10.22.0.77/16'], 'a reservation is as good as a request')
  t.same(site.reserved(), ['10.22.8.0'], 'host-local has not heard of them')

  const again = await site.run('ADD', 'plain')
  t.match(again, { exit: 1, printed: { code: 110 } }, 'a second ADD without DEL is refused here already')
  t.same(site.reserved(), ['10.22.8.0'])

  await site.restart()
  t.match(await site.run('CHECK', 'plain'), { exit: 0, printed: undefined }, 'CHECK of the fallback')
  t.match(await site.run('CHECK', 'web-0'), { exit: 0 })
  t.match(await site.run('DEL', 'web-0'), { exit: 0, printed: undefined })
  t.match(await site.run('DEL', 'plain'), { exit: 0, printed: undefined })
  t.same(site.reserved(), [], 'DEL reached the fallback, also after a restart of the daemon')
  t.match(await site.run('DEL', 'plain'), { exit: 0 }, 'again')
  t.match(await site.run('DEL', 'never'), { exit: 0 }, 'one that nobody knows')
  t.match(await site.run('CHECK', 'plain'), { exit: 1, printed: { code: 111 } })
})

t.test('with the daemon away', { skip: missing('executables', 'reference-plugins') }, async t => {
  const site = await makeSite(t)
  await site.run('ADD', 'plain')
  await site.daemon.stop()
  t.match(await site.run('DEL', 'plain'), { exit: 0, printed: undefined })
  t.same(site.reserved(), [], "the fallback's DEL is run at once")
  t.equal(readdirSync(join(site.stateDir, stateFolders.deferredDels)).length, 1, 'ours waits')
  const refused = await site.run('ADD', 'other', { config: { timeout: 0.5 } })
  t.match(
    refused,
    { exit: 1, printed: { code: 11 } },
    'an ADD is not left to the fallback: it may be a request',
  )
  t.same(site.reserved(), [])
  await site.restart()
  t.same(await site.attachments(), [], 'and is carried out when the daemon is back')
})

t.test('an address that is ours to give', { skip: missing('executables', 'reference-plugins') }, async t => {
  const site = await makeSite(t)
  const fallback = { type: 'host-local', dataDir: site.dataDir, ranges: [[{ subnet: '10.22.0.0/16' }]] }
  const answer = await site.run('ADD', 'plain', { fallback })
  t.match(answer, {
    exit: 1,
    printed: {
      code: 123,
      msg: /^fallback host-local gave 10\.22\.0\.2\/16, but the ranges of network mixed hold it$/,
    },
  })
  t.same(site.reserved(), [], 'taken back there')
  t.same(await site.attachments(), [], 'and here')
})

/** What a fallback does for ADD, and what comes of it; for every other verb it notes that it was called. */
const misbehaviours: Readonly<
  Record<string, { readonly add: string; readonly code: number; readonly msg: RegExp }>
> = {
  'prints its error': {
    add: `echo '{"code":11,"msg":"no lease from the DHCP server","details":"on eth0"}'; exit 1`,
    code: 11,
    msg: /^fallback fake: no lease from the DHCP server$/,
  },
  'prints an error that tells the runtime to leave the DEL out': {
    add: `echo '{"code":3,"msg":"odd"}'; exit 1`,
    code: 121,
    msg: /^fallback fake: odd$/,
  },
  'fails without a word': { add: 'exit 7', code: 121, msg: /exit status 7: without an error message/ },
  'fails with words on stderr': {
    add: 'echo first >&2; echo last >&2; exit 1',
    code: 121,
    msg: /exit status 1: last/,
  },
  'is killed': { add: 'kill -9 $$', code: 121, msg: /SIGKILL/ },
  'prints nothing and succeeds': { add: 'exit 0', code: 121, msg: /no JSON object/ },
  'prints half a result': {
    add: `printf '{"cniVersion":"1.0.0","ips":[{"addr'`,
    code: 121,
    msg: /no JSON object/,
  },
  'prints two documents': { add: `echo '{}{}'`, code: 121, msg: /no JSON object/ },
  'prints no address': {
    add: `echo '{"cniVersion":"1.0.0","ips":[]}'`,
    code: 121,
    msg: /it gave a result without an address/,
  },
  'prints an address without prefix': {
    add: `echo '{"cniVersion":"1.0.0","ips":[{"address":"192.0.2.7"}]}'`,
    code: 121,
    msg: /it gave a result whose ips\[0\]\.address "192\.0\.2\.7" is no address with a prefix/,
  },
  'answers in another version': {
    add: `echo '{"cniVersion":"0.3.1","ips":[{"version":"4","address":"192.0.2.7/24"}]}'`,
    code: 121,
    msg: /it gave a result of version "0\.3\.1" for a configuration of version "1\.0\.0"/,
  },
  'never answers': { add: 'exec sleep 60', code: 121, msg: /no answer to ADD within/ },
}

t.test('a fallback that misbehaves', { skip: missing('executables') }, async t => {
  const site = await makeSite(t)
  for (const [what, { add, code, msg }] of Object.entries(misbehaviours)) {
    const calls = join(site.bin, 'calls')
    writeFileSync(calls, '')
    site.script('fake', `echo $CNI_COMMAND >>'${calls}'\nif [ "$CNI_COMMAND" = ADD ]; then\n${add}\nfi`)
    const answer = await site.run('ADD', 'plain', {
      fallback: { type: 'fake' },
      config: { timeout: what === 'never answers' ? 1.5 : 60 },
    })
    t.match(answer, { exit: 1, printed: { code, msg } }, what)
    t.equal(readFileSync(calls, 'utf8'), 'ADD\nDEL\n', `${what}: it gets its DEL`)
    t.same(await site.attachments(), [], `${what}: nothing is remembered`)
  }
})

t.test('what a fallback is given', { skip: missing('executables') }, async t => {
  const site = await makeSite(t)
  const seen = join(site.bin, 'seen')
  site.script(
    'fake',
    `cat >'${seen}'; env | grep ^CNI_ | sort >>'${seen}'; echo to the log >&2
if [ "$CNI_COMMAND" = ADD ]; then echo '{"ips":[{"address":"192.0.2.7/24"}]}'; fi`,
  )
  const added = await site.run('ADD', 'plain', { fallback: { type: 'fake', more: [1] } })
  t.same(added.printed, { cniVersion: '1.0.0', ips: [{ address: '192.0.2.7/24' }] }, 'its result, whole')
  t.match(added.stderr, /to the log/, 'its stderr goes to the log')
  const [stdin = '', ...env] = readFileSync(seen, 'utf8')
    .trimEnd()
    .split(/\n|(?<=\})(?=CNI_)/)
  t.match(JSON.parse(stdin), { name: 'mixed', type: 'bridge', ipam: { type: 'fake', more: [1] } })
  t.notOk('fallback' in (JSON.parse(stdin) as { ipam: object }).ipam)
  t.ok(env.includes('CNI_COMMAND=ADD') && env.includes('CNI_CONTAINERID=plain'), env.join())
  t.match(await site.run('DEL', 'plain', { fallback: { type: 'fake', more: [1] } }), { exit: 0 })
  t.match(readFileSync(seen, 'utf8'), /CNI_COMMAND=DEL/)
})

t.test(
  'a process that a fallback leaves behind holds nobody up',
  { skip: missing('executables') },
  async t => {
    const site = await makeSite(t)
    site.script('fake', `(sleep 30) &\necho '{"ips":[{"address":"192.0.2.7/24"}]}'`)
    const added = await site.run('ADD', 'plain', { fallback: { type: 'fake' } })
    t.match(added, { exit: 0 })
    t.ok(added.ms < 15_000, `${Math.round(added.ms)} ms`)
  },
)

t.test('a fallback that the configuration no longer names', { skip: missing('executables') }, async t => {
  const site = await makeSite(t)
  const add = `echo '{"ips":[{"address":"192.0.2.7/24"}]}'`
  for (const name of ['fake', 'other']) {
    site.script(
      name,
      `if [ $CNI_COMMAND = ADD ]; then ${add}; else echo $CNI_COMMAND >>'${site.bin}/calls'; fi`,
    )
  }
  await site.run('ADD', 'plain', { fallback: { type: 'fake' } })
  for (const verb of ['CHECK', 'DEL']) {
    const answer = await site.run(verb, 'plain', { fallback: { type: 'other' } })
    t.match(
      answer,
      { exit: 0, stderr: /plain was left to fallback fake, which the configuration no longer names/ },
      verb,
    )
  }
  t.notOk(existsSync(join(site.bin, 'calls')), 'another plugin is not asked')
  t.same(await site.attachments(), [])
})

t.test('DEL, when the fallback fails', { skip: missing('executables') }, async t => {
  const site = await makeSite(t)
  const fallback = { type: 'fake' }
  site.script('fake', `echo '{"ips":[{"address":"192.0.2.7/24"}]}'`)
  await site.run('ADD', 'plain', { fallback })
  site.script('fake', `echo '{"code":999,"msg":"dhcp: no such file or directory, lease not found"}'; exit 1`)
  for (const what of ['at first', 'again, when the daemon has forgotten the attachment']) {
    const answer = await site.run('DEL', 'plain', { fallback })
    t.match(answer, { exit: 1, printed: { code: 999, msg: /^fallback fake: dhcp/ } }, what)
    t.notMatch(JSON.stringify(answer.printed), /not found|no such file/i, 'no words that runtimes swallow')
  }
  site.script('fake', `echo '{"code":999,"msg":"dhcp is down"}'; exit 1`)
  await site.run('ADD', 'web-0', { annotations: { 'ipkeeper.io/ip': '10.22.0.50' }, fallback })
  for (const what of ['own', 'own, again'])
    t.match(await site.run('DEL', 'web-0', { fallback }), { exit: 0 }, `${what}: the fallback is not asked`)
  t.match(await site.run('DEL', 'unknown', { fallback: {} }), { exit: 0 }, 'one that names no plugin')
  t.match(
    await site.run('DEL', 'unknown', { fallback: { type: 'nowhere' } }),
    { exit: 0, stderr: /failed to find fallback plugin "nowhere"/ },
    'where it is not installed nothing of an unknown attachment can be there',
  )
})

const bad: Readonly<
  Record<string, { readonly fallback: unknown; readonly code: number; readonly msg: RegExp }>
> = {
  'no type': { fallback: {}, code: 7, msg: /"ipam\.fallback\.type" is missing/ },
  'a path': { fallback: { type: '../sh' }, code: 7, msg: /"\.\.\/sh" is no name of a plugin/ },
  ourselves: { fallback: { type: 'ipkeeper' }, code: 7, msg: /cannot be ipkeeper itself/ },
  'no object': { fallback: 'dhcp', code: 7, msg: /"ipam\.fallback" must be an object/ },
  'not installed': {
    fallback: { type: 'nowhere' },
    code: 7,
    msg: /failed to find fallback plugin "nowhere" in path \[/,
  },
}

t.test('a fallback that makes no sense', { skip: missing('executables') }, async t => {
  const site = await makeSite(t)
  for (const [what, { fallback, code, msg }] of Object.entries(bad)) {
    t.match(
      await site.run('ADD', 'plain', { fallback: fallback as object }),
      { exit: 1, printed: { code, msg } },
      what,
    )
    t.same(await site.attachments(), [], what)
  }
})

t.test(
  'an address that somebody still has, outside the present ranges',
  { skip: missing('executables', 'reference-plugins') },
  async t => {
    const site = await makeSite(t)
    const wide = { ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/16' }]] } }
    const asked = { 'ipkeeper.io/ip': '10.22.8.0' }
    t.same(ipsOf(await site.run('ADD', 'web-0', { annotations: asked, config: wide })), ['10.22.8.0/16'])
    const answer = await site.run('ADD', 'plain')
    t.match(answer, {
      exit: 1,
      printed: { code: 123, msg: 'fallback host-local gave 10.22.8.0/16, but shop/web-0 has it' },
    })
    t.same(site.reserved(), [], 'taken back')
    t.same(await site.attachments(), [['web-0', null]])
  },
)

t.test('a DEL that overtakes an ADD while the fallback works', { skip: missing('executables') }, async t => {
  const site = await makeSite(t)
  const calls = join(site.bin, 'calls')
  const go = join(site.bin, 'go')
  site.script(
    'fake',
    `echo $CNI_COMMAND >>'${calls}'
if [ $CNI_COMMAND = ADD ]; then
while [ ! -e '${go}' ]; do sleep 0.05; done; echo '{"ips":[{"address":"192.0.2.7/24"}]}'; fi`,
  )
  const fallback = { type: 'fake' }
  const adding = site.run('ADD', 'plain', { fallback })
  while (!existsSync(calls)) await delay(10)
  t.match(await site.run('DEL', 'plain', { fallback }), { exit: 0 })
  writeFileSync(go, '')
  t.match(await adding, { exit: 1, printed: { code: 113 } }, 'the ADD is void')
  t.equal(readFileSync(calls, 'utf8'), 'ADD\nDEL\nDEL\n', 'and the fallback gets its DEL after its ADD')
  t.same(await site.attachments(), [])
})

t.test('a fallback that hangs, in every verb', { skip: missing('executables') }, async t => {
  const site = await makeSite(t)
  site.script('fake', 'exec sleep 100')
  const fallback = { type: 'fake' }
  const config = { cniVersion: '1.1.0', timeout: 1, 'cni.dev/valid-attachments': [] }
  const within = async (verb: string, seconds: number, printed: object): Promise<void> => {
    const answer = await site.run(verb, `of-${verb}`, { fallback, config })
    t.match(answer, { exit: 1, printed }, verb)
    t.ok(answer.ms < seconds * 1000, `${verb}: ${Math.round(answer.ms)} ms`)
  }
  await Promise.all([
    within('ADD', 20, { code: 121, msg: /no answer to ADD within/ }),
    within('DEL', 20, { code: 121, msg: /no answer to DEL within/ }),
    within('STATUS', 20, { code: 50, msg: /no answer to STATUS within/ }),
  ])
})

t.test(
  'full ranges do not matter to who is left to a fallback',
  { skip: missing('executables') },
  async t => {
    const site = await makeSite(t)
    const full = (fallback?: object): object => ({
      cniVersion: '1.1.0',
      ipam: {
        type: 'ipkeeper',
        subnet: '10.22.0.0/30',
        statusReportsExhaustion: true,
        ...(fallback && { fallback }),
      },
    })
    site.script('fake', `if [ $CNI_COMMAND = ADD ]; then echo '{"ips":[{"address":"192.0.2.7/24"}]}'; fi`)
    t.match(await site.run('ADD', 'only', { config: full() }), { exit: 0 })
    t.match(await site.run('STATUS', '', { config: full() }), { exit: 1, printed: { code: 50 } })
    t.match(await site.run('STATUS', '', { config: full({ type: 'fake' }) }), { exit: 0 })
    t.match(await site.run('ADD', 'more', { config: full({ type: 'fake' }) }), { exit: 0 })
  },
)

t.test('GC and STATUS are forwarded', { skip: missing('executables') }, async t => {
  const site = await makeSite(t)
  const calls = join(site.bin, 'calls')
  const fallback = { type: 'fake' }
  const config = { cniVersion: '1.1.0', 'cni.dev/valid-attachments': [] }
  site.script(
    'fake',
    `echo $CNI_COMMAND >>'${calls}'; if [ $CNI_COMMAND = ADD ]; then echo '{"ips":[{"address":"192.0.2.7/24"}]}'; fi`,
  )
  await site.run('ADD', 'plain', { fallback, config })
  // An attachment of this very millisecond is younger than the list.
  await delay(5)
  t.match(await site.run('GC', '', { fallback, config }), { exit: 0, printed: undefined })
  t.same(await site.attachments(), [])
  t.match(await site.run('STATUS', '', { fallback, config }), { exit: 0, printed: undefined })
  t.equal(readFileSync(calls, 'utf8'), 'ADD\nGC\nSTATUS\n')
  site.script('fake', `echo '{"code":51,"msg":"renewals fail"}'; exit 1`)
  t.match(await site.run('STATUS', '', { fallback, config }), {
    exit: 1,
    printed: { code: 51, msg: 'fallback fake: renewals fail' },
  })
  t.match(await site.run('GC', '', { fallback, config }), { exit: 1, printed: { msg: /renewals fail/ } })
})

t.test(
  'SIGTERM while the fallback works: it does not outlive the run',
  { skip: missing('executables') },
  async t => {
    const site = await makeSite(t)
    const pidFile = join(site.bin, 'pid')
    const calls = join(site.bin, 'calls')
    site.script(
      'fake',
      `echo $CNI_COMMAND >>'${calls}'\nif [ "$CNI_COMMAND" = ADD ]; then echo $$ >'${pidFile}'; exec sleep 60; fi`,
    )
    const child = spawn(testedPlugin, [], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: {
        CNI_COMMAND: 'ADD',
        CNI_CONTAINERID: 'plain',
        CNI_NETNS: '/run/netns/none',
        CNI_IFNAME: 'eth0',
        CNI_PATH: site.bin,
        IPKEEPER_SOCKET: site.daemon.socket,
        IPKEEPER_STATE_DIR: site.stateDir,
      },
    })
    child.stdin.end(
      JSON.stringify({
        cniVersion: '1.0.0',
        name: 'mixed',
        ipam: { type: 'ipkeeper', subnet: '10.22.0.0/16', fallback: { type: 'fake' } },
      }),
    )
    let stdout = ''
    child.stdout.on('data', chunk => (stdout += String(chunk)))
    while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '') await delay(10)
    const pid = readFileSync(pidFile, 'utf8').trim()
    child.kill('SIGTERM')
    await once(child, 'close')
    t.match(JSON.parse(stdout), { code: 11, msg: /interrupted by SIGTERM/ })
    for (let tries = 0; existsSync(`/proc/${pid}`) && tries < 500; tries += 1) await delay(10)
    t.notOk(existsSync(`/proc/${pid}`), 'the fallback is gone')
    t.equal(readFileSync(calls, 'utf8'), 'ADD\nDEL\n', 'it got its DEL')
    t.same(await site.attachments(), [], 'and nothing is remembered')
  },
)
