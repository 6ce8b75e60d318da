/** The dispatcher and the verbs with every edge replaced: what is asked, printed, undone, and how the run ends. */
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { ExchangeError, type ExchangeRequest, type HttpReply } from '../../plugin/exchange.ts'
import { startPlugin, type ExitCode, type PluginRun } from '../../plugin/run-plugin.ts'
import { Flight } from '../../shared/api/flight.schema.ts'
import { supportedVersions } from '../../shared/cni/versions.ts'
import { Problem } from '../../shared/problem/problem.ts'

const environment = {
  CNI_CONTAINERID: 'c1',
  CNI_NETNS: '/run/netns/a',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
  CNI_ARGS: 'IgnoreUnknown=1',
}

interface Request {
  readonly path: string
  readonly timeoutMs: number
  readonly body: Record<string, unknown>
}

type Daemon = (request: Request, nth: number) => readonly [status: number, body: unknown] | ExchangeError

interface Scene {
  readonly env?: Readonly<Record<string, string>>
  /** A text, or the problem that reading has. */
  readonly stdin?: string | Error
  readonly daemon?: Daemon
  /** What writing the document throws. */
  readonly stdout?: Error
  readonly ownNetns?: boolean
  readonly sameFolder?: boolean
  /** What writing to the queue throws. */
  readonly queue?: Error
  /** What leaving the mark of an answered ADD throws. */
  readonly mark?: Error
  /** For how many milliseconds the daemon has not answered. */
  readonly answeredFor?: number
  /** What writing to the flight record throws. */
  readonly flightLog?: Error
  /** Milliseconds that writing to the flight record takes. */
  readonly flightMs?: number
}

type RecordedFlight = Flight & { readonly stateDir: string }

interface Ended {
  readonly code: ExitCode
  readonly documents: readonly Record<string, unknown>[]
  readonly stderr: readonly string[]
  readonly requests: readonly Request[]
  /** Entries of the queue, as "FOLDER/NAME" and text; those that were taken back are not there. */
  readonly queued: ReadonlyMap<string, string>
  readonly flights: readonly RecordedFlight[]
  /** State folders in which it was remembered that the daemon has answered. */
  readonly stamped: readonly string[]
  /** Marks of answered ADDs, as "FOLDER/RUN". */
  readonly marks: readonly string[]
}

interface Running {
  readonly run: PluginRun
  readonly ended: Promise<Ended>
}

const done = { requestId: 'r-1', stateDir: '/var/lib/ipkeeper' }
const resultFor = (request: Request): readonly [number, unknown] => {
  const { cniVersion = '0.1.0' } = request.body['config'] as { cniVersion?: string }
  const v1 = { cniVersion, ips: [{ address: '10.22.0.50/16', gateway: '10.22.0.1' }] }
  const v0 = { cniVersion, ip4: { ip: '10.22.0.50/16' }, dns: {} }
  return [200, { ...done, result: cniVersion < '0.3.0' ? v0 : v1 }]
}
const goodDaemon: Daemon = request => (request.path.endsWith('/add') ? resultFor(request) : [200, done])

const config = (cniVersion = '1.1.0', more: object = {}): string =>
  JSON.stringify({ cniVersion, name: 'fixed', type: 'bridge', ipam: { type: 'ipkeeper' }, ...more })

function start(verb: string, scene: Scene = {}): Running {
  const { env = {}, stdin = config(), daemon = goodDaemon, stdout } = scene
  const documents: Record<string, unknown>[] = []
  const stderr: string[] = []
  const requests: Request[] = []
  const queued = new Map<string, string>()
  const flights: RecordedFlight[] = []
  const stamped: string[] = []
  const marks: string[] = []
  let nowMs = 1_000_000.5
  const run = startPlugin({
    env: { ...environment, CNI_COMMAND: verb, ...env },
    readStdin: () => (typeof stdin === 'string' ? Promise.resolve(stdin) : Promise.reject(stdin)),
    deliver: text => {
      if (!text.endsWith('}\n')) throw new Error('not one document and one newline')
      documents.push(JSON.parse(text) as Record<string, unknown>)
      if (stdout) throw stdout
    },
    note: line => stderr.push(line),
    exchange: ({ path, timeoutMs, body }: ExchangeRequest): Promise<HttpReply> => {
      const request = { path, timeoutMs, body: JSON.parse(body) as Record<string, unknown> }
      requests.push(request)
      nowMs += 1
      const answer = daemon(request, requests.length - 1)
      if (answer instanceof ExchangeError) return Promise.reject(answer)
      const text = typeof answer[1] === 'string' ? answer[1] : JSON.stringify(answer[1])
      return Promise.resolve({ status: answer[0], body: Buffer.from(text) })
    },
    now: () => nowMs,
    sleep: ms => {
      nowMs += ms
      return Promise.resolve()
    },
    startedMs: nowMs,
    identity: () => ({ invocationId: 'run-1', startedAt: 1_000_000_500, bootId: 'boot-1' }),
    wallClock: () => 1_700_000_000_000,
    pid: 4711,
    appendFlight: (stateDir, line) => {
      flights.push({ stateDir, ...(JSON.parse(line) as Flight) })
      if (scene.flightLog) throw scene.flightLog
      return scene.flightMs === undefined ? undefined : delay(scene.flightMs)
    },
    stampAnswer: stateDir => stamped.push(stateDir),
    sinceAnswer: () => scene.answeredFor,
    leaveMark: (stateDir, invocationId) => {
      if (scene.mark) throw scene.mark
      if (documents.length > 0) throw new Error('the mark comes before the document')
      marks.push(`${stateDir}/${invocationId}`)
    },
    withdrawMark: (stateDir, invocationId) => {
      if (requests.some(({ path }) => path === '/v1/cni/del')) throw new Error('the DEL comes after it')
      const made = marks.indexOf(`${stateDir}/${invocationId}`)
      if (made >= 0) marks.splice(made, 1)
    },
    queueDel: (stateDir, { name, text }) => {
      if (scene.queue) throw scene.queue
      queued.set(`${stateDir}/${name}`, text)
      return {
        withdraw: () => {
          queued.delete(`${stateDir}/${name}`)
        },
      }
    },
    runChild: () => Promise.reject(new Error('no fallback in this scene')),
    isOwnNetns: () => scene.ownNetns ?? false,
    isSameFolder: () => scene.sameFolder ?? false,
    inodeOf: () => '1:2',
  })
  return {
    run,
    ended: run.finished.then(code => ({
      code,
      documents,
      stderr,
      requests,
      queued,
      flights,
      stamped,
      marks,
    })),
  }
}

const runPlugin = (verb: string, scene?: Scene): Promise<Ended> => start(verb, scene).ended

t.test('ADD prints the result, in every version', async t => {
  for (const version of supportedVersions) {
    const { code, documents, stderr, requests } = await runPlugin('ADD', { stdin: config(version) })
    t.equal(code, 0, version)
    t.equal(documents.length, 1, version)
    t.equal(documents[0]?.['cniVersion'], version)
    t.same(stderr, [])
    t.equal(requests.length, 1)
  }
  const bare = await runPlugin('ADD', { stdin: '{"name":"fixed","ipam":{"type":"ipkeeper"}}' })
  t.match(bare.documents, [{ cniVersion: '0.1.0' }], 'no cniVersion means 0.1.0')
})

t.test('what is sent', async t => {
  const text = '{ "cniVersion":"1.1.0", "name":"fixed", "big": 12345678901234567890, "ipam":{"timeout":7} }'
  const { requests } = await runPlugin('ADD', { stdin: text })
  t.match(requests, [{ path: '/v1/cni/add', timeoutMs: 7000 }])
  t.same(requests[0]?.body, {
    invocationId: 'run-1',
    startedAt: 1_000_000_500,
    bootId: 'boot-1',
    containerId: 'c1',
    netns: '/run/netns/a',
    ifname: 'eth0',
    args: 'IgnoreUnknown=1',
    path: '/opt/cni/bin',
    confirms: true,
    config: JSON.parse(text) as object,
  })
})

t.test('the other verbs print nothing when all is well', async t => {
  for (const verb of ['CHECK', 'DEL', 'GC', 'STATUS']) {
    const { code, documents, stderr, requests } = await runPlugin(verb)
    t.same([code, documents, stderr], [0, [], []], verb)
    t.match(requests, [{ path: `/v1/cni/${verb.toLowerCase()}` }])
  }
})

t.test('VERSION asks nobody', async t => {
  const cases: readonly [stdin: string | Error, version: string][] = [
    ['{"cniVersion":"0.4.0"}', '0.4.0'],
    ['{"cniVersion":"9.9.9"}', '9.9.9'],
    ['{"cniVersion":1}', '1.1.0'],
    ['{"cniVersion":""}', '1.1.0'],
    ['{}', '1.1.0'],
    ['', '1.1.0'],
    ['[]', '1.1.0'],
    ['\u0000', '1.1.0'],
    [new Problem('IPK_INPUT_UNREADABLE', 'x'), '1.1.0'],
  ]
  for (const [stdin, cniVersion] of cases) {
    const dummies = { CNI_CONTAINERID: '', CNI_NETNS: 'dummy', CNI_IFNAME: 'a/b', CNI_PATH: 'dummy' }
    const { code, documents, requests } = await runPlugin('VERSION', { stdin, env: dummies })
    t.same([code, documents, requests], [0, [{ cniVersion, supportedVersions }], []])
  }
})

t.test('without CNI_COMMAND: about text on stderr: A15', async t => {
  const { code, documents, stderr } = await runPlugin('', { stdin: new Error('stdin must not be read') })
  t.same([code, documents], [0, []])
  t.match(stderr[0], /^CNI ipkeeper plugin v\d+\.\d+\.\d+/)
  t.equal(stderr[1], 'CNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0')
})

t.test('errors in the order of the reference', async t => {
  const noName = '{"cniVersion":"9.9.9"}'
  const unreadable = new Problem('IPK_INPUT_UNREADABLE', 'error reading from stdin: x')
  const cases: readonly [name: string, verb: string, scene: Scene, document: object][] = [
    ['environment first', 'ADD', { env: { CNI_IFNAME: '..' }, stdin: '{' }, { code: 4, cniVersion: '1.1.0' }],
    ['then stdin', 'ADD', { stdin: unreadable }, { code: 5, msg: 'error reading from stdin: x' }],
    ['then JSON', 'ADD', { stdin: '{' }, { code: 6 }],
    ['then the name', 'ADD', { stdin: noName }, { code: 7, msg: 'missing network name' }],
    ['an unknown verb after that', 'NOPE', { stdin: noName }, { code: 7 }],
    ['an unknown verb', 'NOPE', {}, { code: 4, msg: 'unknown CNI_COMMAND: NOPE' }],
    [
      'an unknown verb before the version',
      'add',
      { stdin: config('9.9.9') },
      { code: 4, msg: 'unknown CNI_COMMAND: add' },
    ],
    [
      'then the version',
      'ADD',
      { stdin: config('9.9.9', { ipam: [] }) },
      { code: 1, msg: 'incompatible CNI versions' },
    ],
    [
      'a version that is none',
      'ADD',
      { stdin: '{"name":"a","cniVersion":1}' },
      { code: 6, msg: /^decoding version/ },
    ],
    ['then our settings', 'ADD', { stdin: config('0.4.0', { ipam: [] }) }, { code: 7, cniVersion: '0.4.0' }],
    ['the verb of a later version', 'CHECK', { stdin: config('0.3.1') }, { code: 1, cniVersion: '0.3.1' }],
  ]
  for (const [name, verb, scene, document] of cases) {
    const ended = await runPlugin(verb, scene)
    t.match(ended, { code: 1, documents: [document], requests: [] }, name)
    t.equal(ended.documents.length, 1, name)
  }
})

t.test("the plugin's own namespace: B9", async t => {
  const host: Scene = { ownNetns: true }
  t.match(await runPlugin('ADD', host), {
    code: 1,
    documents: [{ code: 8, msg: "plugin's netns and netns from CNI_NETNS should not be the same" }],
    requests: [],
  })
  for (const value of ['1', 'true']) {
    t.match(await runPlugin('ADD', { ...host, env: { CNI_NETNS_OVERRIDE: value } }), { code: 0 })
  }
  for (const verb of ['DEL', 'CHECK']) {
    t.match(await runPlugin(verb, host), { code: 0, requests: [{ body: { netns: '/run/netns/a' } }] }, verb)
  }
})

t.test('what the daemon refuses is shown as it says', async t => {
  const refusal = {
    code: 'IPK_ADDRESS_HELD',
    message: '10.22.0.50 belongs to shop/web-0 on worker-1',
    hint: 'choose another',
    retryable: false,
    cniCode: 101,
    details: '',
    requestId: 'r-9',
    stateDir: '/var/lib/ipkeeper',
  }
  const ended = await runPlugin('ADD', { stdin: config('0.4.0'), daemon: () => [409, refusal] })
  t.equal(ended.code, 1)
  t.same(ended.documents, [
    {
      cniVersion: '0.4.0',
      code: 101,
      msg: '10.22.0.50 belongs to shop/web-0 on worker-1',
      details: 'choose another; [IPK_ADDRESS_HELD, request r-9]',
    },
  ])
  t.equal(ended.requests.length, 1, 'nothing is undone: an earlier ADD of the same attachment may stand')
})

t.test('a DEL that the daemon does not carry out is queued, and succeeds', async t => {
  const name = '/var/lib/ipkeeper/c1:eth0:fixed.json'
  const refusal = (retryable: boolean) => ({
    code: 'IPK_X',
    message: 'no',
    hint: '',
    retryable,
    cniCode: 11,
    details: '',
    requestId: 'r',
    stateDir: '/s',
  })
  for (const [what, daemon] of Object.entries<Daemon>({
    missing: () => new ExchangeError('missing', 'there is no such socket'),
    refused: () => new ExchangeError('refused', 'nothing listens on the socket'),
    lost: () => new ExchangeError('lost', 'the connection ended'),
    late: () => new ExchangeError('late', 'the time was up'),
    rubbish: () => [200, 'null'],
    'an empty error': () => [500, '{}'],
    'a refusal for now': () => [503, refusal(true)],
  })) {
    const ended = await runPlugin('DEL', { daemon })
    t.match(ended, { code: 0, documents: [] }, what)
    t.strictSame([...ended.queued.keys()], [name], what)
    t.equal(ended.requests.length, 2, `${what}: tried once more after the entry was written`)
    const entry = JSON.parse(ended.queued.get(name) ?? '') as Record<string, unknown>
    t.match(
      entry,
      { version: 1, queuedAt: '2023-11-14T22:13:20.000Z', request: ended.requests[0]?.body as object },
      what,
    )
    t.match(ended.stderr, [/the DEL of c1 is queued in \/var\/lib\/ipkeeper/], what)
  }
  const back: Daemon = (request, nth) =>
    nth === 0 ? new ExchangeError('refused', 'x') : goodDaemon(request, nth)
  t.match(
    await runPlugin('DEL', { daemon: back }),
    { code: 0, queued: new Map() },
    'taken back when the daemon has come',
  )
  const never = await runPlugin('DEL', { daemon: () => [400, refusal(false)] })
  t.match(
    never,
    { code: 1, documents: [{ msg: 'no' }], queued: new Map() },
    'what no daemon will ever do is an error',
  )
  const full = await runPlugin('DEL', {
    daemon: () => new ExchangeError('missing', 'there is no such socket'),
    queue: new Problem('IPK_DEL_NOT_QUEUED', 'the DEL cannot be queued in /x (ENOSPC)'),
  })
  t.match(full, { code: 1, documents: [{ code: 11, msg: /cannot be queued/ }] })
})

t.test('a daemon that is away', async t => {
  const missing: Daemon = () => new ExchangeError('missing', 'there is no such socket')
  const cases: readonly [verb: string, code: number, mark: RegExp][] = [
    ['ADD', 11, /\[IPK_DAEMON_UNREACHABLE\]$/],
    ['CHECK', 11, /\[IPK_DAEMON_UNREACHABLE\]$/],
    ['GC', 11, /\[IPK_DAEMON_UNREACHABLE\]$/],
    ['STATUS', 50, /\[IPK_NOT_AVAILABLE\]$/],
  ]
  for (const [verb, code, details] of cases) {
    const ended = await runPlugin(verb, { daemon: missing })
    t.match(
      ended.documents,
      [{ code, msg: /\/run\/ipkeeper\/ipkeeper\.sock: there is no such socket/, details }],
      verb,
    )
    t.notMatch(JSON.stringify(ended.documents), /not found|no such file/i, verb)
    if (verb === 'STATUS') t.equal(ended.requests.length, 1)
    else t.ok(ended.requests.length > 5, `${verb}: ${ended.requests.length} tries`)
  }
  const back: Daemon = (request, nth) => (nth < 3 ? new ExchangeError('lost', 'x') : goodDaemon(request, nth))
  const ended = await runPlugin('ADD', { daemon: back })
  t.match(ended, { code: 0, documents: [{ ips: [{}] }] })
  t.same(new Set(ended.requests.map(request => request.body['invocationId'])), new Set(['run-1']))
})

t.test('an ADD whose answer cannot be used is undone', async t => {
  const otherFolder = { ...done, stateDir: '/elsewhere' }
  const result = { cniVersion: '1.1.0', ips: [{ address: '10.22.0.50/16' }] }
  const undone: readonly [name: string, scene: Scene, document: object][] = [
    [
      'another state folder',
      {
        daemon: request =>
          request.path.endsWith('/add') ? [200, { ...otherFolder, result }] : [200, otherFolder],
      },
      { code: 7, msg: /the plugin uses \/var\/lib\/ipkeeper, ipkeeper-server on .* uses \/elsewhere/ },
    ],
    [
      'the same path in another container',
      {
        daemon: request =>
          request.path.endsWith('/add') ? [200, { ...done, stateFolder: '1:3', result }] : [200, done],
      },
      { code: 7, msg: /^state folders differ: .var.lib.ipkeeper is another folder for ipkeeper-server on / },
    ],
    [
      'a result of another version',
      {
        stdin: config('1.0.0'),
        daemon: request => (request.path.endsWith('/add') ? [200, { ...done, result }] : [200, done]),
      },
      { code: 11, cniVersion: '1.0.0', msg: /answered a result of version "1.1.0" for .* "1.0.0"/ },
    ],
    [
      'a result in the shape of another version',
      {
        stdin: config('0.2.0'),
        daemon: request =>
          request.path.endsWith('/add')
            ? [200, { ...done, result: { ...result, cniVersion: '0.2.0' } }]
            : [200, done],
      },
      { code: 11, cniVersion: '0.2.0', msg: /"0.2.0", in the shape of another version/ },
    ],
    [
      'routes of a wrong type',
      {
        daemon: request =>
          request.path.endsWith('/add')
            ? [200, { ...done, result: { ...result, routes: ['0.0.0.0/0'] } }]
            : [200, done],
      },
      { code: 11, msg: /the body\/result\/routes\/0 must be object/ },
    ],
    [
      'no result',
      { daemon: request => (request.path.endsWith('/add') ? [200, done] : [200, done]) },
      { code: 11, msg: /must have required property 'result'/ },
    ],
    [
      'no address',
      {
        daemon: request =>
          request.path.endsWith('/add')
            ? [200, { ...done, result: { cniVersion: '1.1.0', ips: [] } }]
            : [200, done],
      },
      { code: 11, msg: /answered a result without an address/ },
    ],
    [
      'addresses in the shape of an older version, which a runtime would not see',
      {
        daemon: request =>
          request.path.endsWith('/add')
            ? [200, { ...done, result: { cniVersion: '1.1.0', ip4: { ip: '10.22.0.50/16' } } }]
            : [200, done],
      },
      { code: 11, msg: /in the shape of another version/ },
    ],
    [
      'a result that nests deeper than can be written',
      {
        daemon: request => {
          if (!request.path.endsWith('/add')) return [200, done]
          const ips = [{ address: '10.22.0.50/16' }]
          const text = JSON.stringify({ ...done, result: { cniVersion: '1.1.0', ips, more: 0 } })
          return [200, text.replace('"more":0', `"more":${'['.repeat(20_000)}${']'.repeat(20_000)}`)]
        },
      },
      { code: 11, msg: /answered a result that cannot be printed/ },
    ],
    [
      'no HTTP',
      {
        daemon: request =>
          request.path.endsWith('/add') ? new ExchangeError('malformed', 'x') : [200, done],
      },
      { code: 11, msg: /is no reply of ipkeeper-server: x/ },
    ],
  ]
  for (const [name, scene, document] of undone) {
    const ended = await runPlugin('ADD', scene)
    t.match(ended, { code: 1, documents: [document], stderr: [] }, name)
    t.equal(ended.documents.length, 1, name)
    t.same(
      ended.requests.map(request => request.path),
      ['/v1/cni/add', '/v1/cni/del'],
      name,
    )
    const [added, deleted] = ended.requests.map(request => request.body)
    t.same({ confirms: true, ...deleted, startedAt: 0 }, { ...added, startedAt: 0 }, name)
    t.same(ended.marks, [], `${name}: it is not called answered`)
    t.ok(Number(deleted?.['startedAt']) > Number(added?.['startedAt']), 'the DEL is younger than its ADD')
  }
  const kept: readonly Daemon[] = [
    () => [500, {}],
    () => [500, ''],
    () => new ExchangeError('late', 'the time was up'),
    () => new ExchangeError('lost', 'x'),
  ]
  for (const daemon of kept) {
    const ended = await runPlugin('ADD', { daemon })
    t.match(ended, { code: 1, documents: [{ code: 11 }] })
    t.notOk(
      ended.requests.some(request => request.path.endsWith('/del')),
      'the daemon undoes what it did not answer',
    )
  }
  const alias = await runPlugin('ADD', { sameFolder: true, daemon: () => [200, { ...otherFolder, result }] })
  t.match(alias, { code: 0, documents: [result] }, 'another path of the same folder is the same folder')
})

t.test('an ADD whose answer nobody takes is undone', async t => {
  const stdout = Object.assign(new Error('EPIPE: broken pipe, write'), { code: 'EPIPE' })
  const ended = await runPlugin('ADD', { stdout })
  t.equal(ended.code, 1)
  t.same(
    ended.requests.map(request => request.path),
    ['/v1/cni/add', '/v1/cni/del'],
  )
  t.match(ended.stderr, [/cannot be written to stdout: EPIPE/])
  t.same(ended.marks, [], 'the DEL of an ADD that was not answered: its mark has gone before')
  const daemon: Daemon = request => (request.path.endsWith('/add') ? resultFor(request) : [500, {}])
  const stuck = await runPlugin('ADD', { stdout, daemon })
  t.match(stuck, { code: 1, stderr: [/EPIPE/, /the ADD of c1 could not be undone: .*status 500/] })
  t.match(await runPlugin('VERSION', { stdout }), { code: 1, requests: [] })
  t.match(await runPlugin('ADD', { stdout, stdin: '{' }), { code: 1, requests: [] })
})

t.test('an ADD is marked as answered, once, before its result is printed; nothing else is', async t => {
  t.match(await runPlugin('ADD'), { code: 0, marks: ['/var/lib/ipkeeper/run-1'], documents: [{ ips: [{}] }] })
  const named = config('1.1.0', { ipam: { type: 'ipkeeper', stateDir: '/srv/state' } })
  const there: Daemon = request => [
    200,
    { ...(resultFor(request)[1] as object), requestId: 'r-1', stateDir: '/srv/state' },
  ]
  t.match(await runPlugin('ADD', { stdin: named, daemon: there }), { code: 0, marks: ['/srv/state/run-1'] })
  for (const verb of ['CHECK', 'DEL', 'GC', 'STATUS', 'VERSION'])
    t.same((await runPlugin(verb)).marks, [], verb)
  t.same((await runPlugin('ADD', { daemon: () => [500, {}] })).marks, [], 'an ADD that fails')
})

t.test('a daemon whose state folder is the same, wherever it says that it is', async t => {
  for (const stateDir of [done.stateDir, '/mnt/state']) {
    const daemon: Daemon = request => {
      const [status, reply] = resultFor(request)
      return [status, { ...(reply as object), stateDir, stateFolder: '1:2' }]
    }
    t.match(await runPlugin('ADD', { daemon, sameFolder: true }), { code: 0, marks: [/run-1/] }, stateDir)
  }
})

t.test('an ADD whose mark cannot be left prints no result and is undone', async t => {
  const mark = new Problem('IPK_ANSWER_UNMARKED', 'that this ADD is answered cannot be noted in /x (ENOSPC)')
  const ended = await runPlugin('ADD', { mark })
  t.match(ended, {
    code: 1,
    documents: [{ code: 11, msg: /cannot be noted in .x/, details: /IPK_ANSWER_UNMARKED/ }],
    flights: [{ code: 'IPK_ANSWER_UNMARKED' }],
  })
  t.equal(ended.documents.length, 1, 'one document')
  t.same(
    ended.requests.map(request => request.path),
    ['/v1/cni/add', '/v1/cni/del'],
  )
  const daemon: Daemon = request => (request.path.endsWith('/add') ? resultFor(request) : [500, {}])
  const stuck = await runPlugin('ADD', { mark, daemon })
  t.match(
    stuck,
    { code: 1, documents: [{ code: 11 }], stderr: [/could not be undone/] },
    'undone or not, it fails',
  )

  const interrupted = start('ADD', {
    mark,
    daemon: request => {
      if (request.path.endsWith('/del')) interrupted.run.interrupt(new Problem('IPK_INTERRUPTED', 'stop'))
      return goodDaemon(request, 0)
    },
  })
  const both = await interrupted.ended
  t.match(both, { code: 1, documents: [{ msg: 'stop' }] }, 'an interruption during the undo is said, once')
  t.same([both.documents.length, both.requests.length], [1, 2])
})

t.test('interruptions', async t => {
  const interrupted = new Problem('IPK_INTERRUPTED', 'interrupted by SIGTERM before the outcome was known')
  const early = start('ADD', { stdin: config('0.4.0') })
  early.run.interrupt(interrupted)
  early.run.interrupt(new Error('second'))
  const ended = await early.ended
  t.match(ended, {
    code: 1,
    documents: [{ code: 11, msg: 'interrupted by SIGTERM before the outcome was known' }],
  })
  t.equal(ended.documents.length, 1, 'one document')

  const late = start('ADD')
  await late.run.finished
  late.run.interrupt(interrupted)
  t.match(await late.ended, { code: 0, documents: [{ ips: [{}] }] }, 'what is decided stays')
  t.equal((await late.ended).documents.length, 1)

  const bug = start('DEL')
  bug.run.interrupt(new TypeError('x is not found'))
  t.match(await bug.ended, { code: 1, documents: [{ code: 199, msg: 'internal error: x is missing' }] })
})

t.test('every run leaves a flight, with what was printed', async t => {
  const missing: Daemon = () => new ExchangeError('missing', 'there is no such socket')
  const refusal = {
    ...{ code: 'IPK_ADDRESS_HELD', message: 'taken', hint: 'x', retryable: false, cniCode: 101, details: '' },
    ...{ requestId: 'r-9', stateDir: '/var/lib/ipkeeper' },
  }
  const cannotRead = new Problem('IPK_INPUT_UNREADABLE', 'error reading from stdin: x')
  const args = { CNI_ARGS: 'K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0' }
  const asked = { requestId: 'r-1', invocationId: 'run-1', network: 'fixed' }
  const stdout = new Error('EPIPE: broken pipe, write')
  const cases: readonly [name: string, verb: string, scene: Scene, flight: object][] = [
    ['ADD', 'ADD', { env: args }, { exit: 0, addresses: ['10.22.0.50/16'], pod: 'shop/web-0', ...asked }],
    ['DEL', 'DEL', {}, { exit: 0, printed: 0, ...asked }],
    ['CHECK', 'CHECK', {}, { exit: 0, printed: 0, ...asked }],
    ['GC', 'GC', {}, { exit: 0, printed: 0, ...asked }],
    [
      'a refusal',
      'ADD',
      { daemon: () => [409, refusal] },
      { exit: 1, code: 'IPK_ADDRESS_HELD', cniCode: 101, message: 'taken', requestId: 'r-9' },
    ],
    [
      'no daemon',
      'CHECK',
      { daemon: missing },
      { exit: 1, code: 'IPK_DAEMON_UNREACHABLE', cniCode: 11, invocationId: 'run-1' },
    ],
    [
      'a queued DEL',
      'DEL',
      { daemon: missing },
      { exit: 0, queued: true, message: /there is no such socket/ },
    ],
    ['STATUS that fails', 'STATUS', { daemon: missing }, { exit: 1, cniCode: 50 }],
    ['the environment', 'ADD', { env: { CNI_IFNAME: '..' } }, { exit: 1, cniCode: 4, ifname: '..' }],
    ['an unknown verb', 'NOPE', {}, { verb: 'NOPE', exit: 1, cniCode: 4 }],
    ['stdin', 'ADD', { stdin: cannotRead }, { exit: 1, cniCode: 5 }],
    ['no JSON', 'ADD', { stdin: '{' }, { exit: 1, cniCode: 6 }],
    ['no name', 'ADD', { stdin: '{}' }, { exit: 1, cniCode: 7 }],
    [
      'another state folder',
      'GC',
      { stdin: config('1.1.0', { stateDir: '/mine' }) },
      { exit: 0, stateDir: '/mine' },
    ],
    [
      'its environment alone says where',
      'ADD',
      { stdin: '{', env: { IPKEEPER_STATE_DIR: '/mine' } },
      { exit: 1, stateDir: '/mine' },
    ],
    ['stdout is closed', 'ADD', { stdout }, { exit: 1, printed: 0, message: /EPIPE/, requestId: 'r-1' }],
    ['stdout is closed for an error', 'ADD', { stdout, stdin: '{' }, { exit: 1, printed: 0, cniCode: 6 }],
    ['VERSION that nobody reads', 'VERSION', { stdout }, { exit: 1, printed: 0 }],
  ] as const
  for (const [name, verb, scene, expected] of cases) {
    const { code, documents, flights } = await runPlugin(verb, scene)
    t.equal(flights.length, 1, name)
    const [flight] = flights
    t.match(flight, { verb, containerId: 'c1', stateDir: '/var/lib/ipkeeper', pid: 4711, ...expected }, name)
    t.equal(flight?.exit, code, name)
    const [document] = documents
    if (scene.stdout) t.equal(flight?.printed, 0, name)
    else t.equal(flight?.printed, document ? JSON.stringify(document, null, 4).length + 1 : 0, name)
  }
  for (const verb of ['STATUS', 'VERSION', '']) t.strictSame((await runPlugin(verb)).flights, [], verb)
})

t.test('an ADD that was taken back is recorded with its own request', async t => {
  let nth = 0
  const daemon: Daemon = request => {
    const [status, body] = request.path.endsWith('/add') ? resultFor(request) : [200, done]
    return [status, { ...(body as object), requestId: `r-${++nth}` }]
  }
  const { flights } = await runPlugin('ADD', { daemon, stdout: new Error('EPIPE') })
  t.match(flights, [{ exit: 1, requestId: 'r-1' }])
})

t.test('interrupted runs are recorded', async t => {
  const { run, ended } = start('ADD')
  run.interrupt(new Problem('IPK_INTERRUPTED', 'interrupted by SIGTERM before the outcome was known'))
  t.match((await ended).flights, [{ exit: 1, code: 'IPK_INTERRUPTED', message: /SIGTERM/ }])
})

t.test('an interrupted run begins nothing while it is recorded', async t => {
  for (const verb of ['ADD', 'DEL', 'CHECK', 'GC', 'STATUS']) {
    const { run, ended } = start(verb, { flightMs: 50 })
    run.interrupt(new Problem('IPK_INTERRUPTED', 'interrupted by SIGTERM before the outcome was known'))
    const { requests, code } = await ended
    t.same({ code, requests }, { code: 1, requests: [] }, verb)
  }
})

t.test('a flight record that cannot be written changes nothing', async t => {
  for (const [verb, scene] of [
    ['ADD', {}],
    ['DEL', {}],
    ['ADD', { stdin: '{' }],
    ['ADD', { stdout: new Error('EPIPE') }],
  ] as const) {
    const { flights: none, ...well } = await runPlugin(verb, scene)
    const { flights, ...badly } = await runPlugin(verb, { ...scene, flightLog: new Error('ENOSPC') })
    t.equal(none.length + flights.length, 2)
    t.strictSame(badly, well)
  }
})

t.test('STATUS: what the daemon says at once, what nobody says after a while', async t => {
  const refusal = (code: string, cniCode: number): Daemon => {
    const text = { message: 'the pool is full', hint: 'enlarge it', details: '', retryable: true }
    return () => [503, { code, cniCode, ...text, requestId: 'r-9', stateDir: '/var/lib/ipkeeper' }]
  }
  const away: Daemon = () => new ExchangeError('missing', 'there is no such socket')
  const elsewhere: Daemon = () => [200, { ...done, stateDir: '/elsewhere' }]
  const cases: readonly [name: string, scene: Scene, document: object | undefined][] = [
    ['an answer', { daemon: goodDaemon }, undefined],
    ['away, never answered', { daemon: away }, { code: 50, msg: /there is no such socket/ }],
    ['away, answered a second ago', { daemon: away, answeredFor: 1_000 }, undefined],
    ['away, answered 30 s ago', { daemon: away, answeredFor: 30_000 }, undefined],
    ['away, answered earlier', { daemon: away, answeredFor: 30_001 }, { code: 50 }],
    ['away, answered in the future', { daemon: away, answeredFor: -60_000 }, { code: 50 }],
    ...(['refused', 'forbidden', 'lost', 'late', 'malformed'] as const).flatMap(
      (fault): [string, Scene, object | undefined][] => [
        [fault, { daemon: () => new ExchangeError(fault, 'x') }, { code: 50 }],
        [`${fault}, in grace`, { daemon: () => new ExchangeError(fault, 'x'), answeredFor: 0 }, undefined],
      ],
    ),
    ['rubbish', { daemon: () => [200, '{}'] }, { code: 50, msg: /is no reply of ipkeeper-server/ }],
    ['rubbish in grace', { daemon: () => [200, '{}'], answeredFor: 0 }, undefined],
    [
      'a refusal, in grace',
      { daemon: refusal('IPK_NOT_AVAILABLE', 50), answeredFor: 0 },
      { code: 50, msg: 'the pool is full', details: 'enlarge it; [IPK_NOT_AVAILABLE, request r-9]' },
    ],
    ['existing pods suffer: 51', { daemon: refusal('IPK_X', 51) }, { code: 51, msg: 'the pool is full' }],
    [
      'a configuration that is none',
      { daemon: refusal('IPK_CONFIG_INVALID', 7), answeredFor: 0 },
      { code: 7 },
    ],
    [
      'a daemon that would refuse the ADD',
      { daemon: elsewhere, answeredFor: 0 },
      {
        code: 50,
        msg: /^state folders differ: the plugin uses \/var\/lib\/ipkeeper, .* uses \/elsewhere$/,
        details: /^set "stateDir" in the conflist, .*; \[IPK_NOT_AVAILABLE, request r-1\]$/,
      },
    ],
    ['another path of the same folder', { daemon: elsewhere, sameFolder: true }, undefined],
  ]
  for (const [name, scene, document] of cases) {
    const { code, documents, stderr, requests } = await runPlugin('STATUS', scene)
    t.equal(code, document ? 1 : 0, name)
    t.match(documents, document ? [document] : [], name)
    t.equal(documents.length, document ? 1 : 0, name)
    t.strictSame([stderr, requests.length], [[], 1], name)
  }
})

t.test('who remembers that the daemon has answered', async t => {
  const refused: Daemon = () => [
    409,
    {
      ...{ code: 'IPK_X', message: 'no', hint: '', retryable: false, cniCode: 101, details: '' },
      ...{ requestId: 'r', stateDir: '/var/lib/ipkeeper' },
    },
  ]
  const away: Daemon = () => new ExchangeError('missing', 'there is no such socket')
  const folder = '/var/lib/ipkeeper'
  const cases: readonly [name: string, verb: string, scene: Scene, stamped: readonly string[]][] = [
    ...['ADD', 'CHECK', 'DEL', 'GC', 'STATUS'].flatMap(
      (verb): [string, string, Scene, readonly string[]][] => [
        ['an answer', verb, {}, [folder]],
        ['a refusal', verb, { daemon: refused }, verb === 'STATUS' ? [] : [folder]],
        ['nobody', verb, { daemon: away }, []],
        ['rubbish', verb, { daemon: () => [200, '{}'] }, []],
      ],
    ),
    ['its own folder', 'CHECK', { env: { IPKEEPER_STATE_DIR: '/mine' }, sameFolder: true }, ['/mine']],
    ['another folder', 'CHECK', { env: { IPKEEPER_STATE_DIR: '/mine' } }, []],
    ['asks nobody', 'VERSION', {}, []],
  ]
  for (const [name, verb, scene, stamped] of cases)
    t.strictSame((await runPlugin(verb, scene)).stamped, stamped, `${verb}: ${name}`)
})
t.test('an interrupted ADD whose answer was under way is undone', async t => {
  const asked = '/v1/cni/add'
  const undo = '/v1/cni/del'
  const rows: readonly [name: string, answer: ReturnType<Daemon> | undefined, requests: readonly string[]][] =
    [
      ['the result', undefined, [asked, undo]],
      ['an answer that cannot be used', [200, {}], [asked, undo]],
      ['none: the daemon undoes it, and is not asked again', new ExchangeError('lost', 'x'), [asked]],
      ['a refusal', [500, {}], [asked]],
    ]
  for (const [name, answer, requests] of rows) {
    const running = start('ADD', {
      daemon: request => {
        if (request.path === undo) return [200, done]
        // Before the answer is looked at.
        queueMicrotask(() => {
          running.run.interrupt(new Problem('IPK_INTERRUPTED', 'interrupted by SIGTERM'))
        })
        return answer ?? resultFor(request)
      },
    })
    const ended = await running.ended
    t.match(ended, { code: 1, documents: [{ code: 11, msg: 'interrupted by SIGTERM' }] }, name)
    t.equal(ended.documents.length, 1, name)
    t.same(
      ended.requests.map(({ path }) => path),
      requests,
      name,
    )
  }
})
