/** One run of the plugin with everything around it arbitrary: what it prints, how it ends, what it asks. */
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { CniRequest } from '../../shared/api/cni.schema.ts'
import { DeferredDel } from '../../shared/api/deferred-del.schema.ts'
import { supportedVersions } from '../../shared/cni/versions.ts'
import { daemonScript } from './arbitraries/daemon-script.ts'
import { environment } from './arbitraries/environment.ts'
import { stdinText } from './arbitraries/netconf.ts'
import { perform, sentAsItCame, type Performance, type Surroundings } from './plugin-stage.ts'
import { property } from './property.ts'

const ajv = new Ajv({ strict: false })
const isCniRequest = ajv.compile(CniRequest)
const isDeferredDel = ajv.compile(DeferredDel)

const seldom = fc.nat(11).map(value => value === 0)

const surroundings: fc.Arbitrary<Surroundings> = fc.record({
  env: environment,
  stdin: stdinText,
  stdinIs: fc.oneof(
    { weight: 20, arbitrary: fc.constant('text' as const) },
    { weight: 1, arbitrary: fc.constantFrom('error' as const, 'hang' as const) },
  ),
  daemon: daemonScript,
  broken: fc.record({ stdout: seldom, queue: seldom }),
  ownNetns: seldom,
  sameFolder: fc.boolean(),
  interrupt: fc.oneof(
    { weight: 6, arbitrary: fc.constant({ at: 'never' as const }) },
    {
      weight: 2,
      arbitrary: fc.record({ at: fc.constantFrom('touch' as const, 'turn' as const), nth: fc.nat(12) }),
    },
    { weight: 2, arbitrary: fc.constant({ at: 'hang' as const }) },
  ),
})

/** Which variable which verb needs (cni-protocol 1.B), and what a value must not be. */
const required: Readonly<Record<string, readonly string[]>> = {
  ADD: ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  CHECK: ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  DEL: ['CNI_CONTAINERID', 'CNI_IFNAME', 'CNI_PATH'],
  GC: ['CNI_PATH'],
  STATUS: ['CNI_PATH'],
  VERSION: [],
}
const bad: Readonly<Record<string, (value: string) => boolean>> = {
  CNI_CONTAINERID: value => !/^[a-z0-9][a-z0-9_.-]*$/i.test(value),
  CNI_IFNAME: value =>
    value === '.' ||
    value === '..' ||
    Buffer.byteLength(value) > 15 ||
    /[/:]|(?!\ufeff)\p{White_Space}/u.test(value),
}

/** A key of a configuration as Go reads it: any case, the last that is not null. */
function read(config: object, key: RegExp): unknown {
  return Object.entries(config).findLast(([name, value]) => key.test(name) && value !== null)?.[1] as unknown
}

/**
 * The code with which a run has to end before it asks anybody, from the protocol's own rules (cni-protocol 1.B to 1.D):
 * environment, stdin, JSON, name, command, version. undefined when nothing is wrong up to there.
 */
function refusalOf({ env, stdin, stdinIs }: Surroundings): number | undefined {
  const verb = env['CNI_COMMAND'] ?? ''
  const names = Object.hasOwn(required, verb) ? required[verb] : undefined
  if (verb === 'VERSION') return undefined
  for (const name of names ?? []) {
    const value = env[name] ?? ''
    if (value === '' || bad[name]?.(value) === true) return 4
  }
  if (stdinIs !== 'text') return 5
  let config: unknown
  try {
    config = JSON.parse(stdin)
  } catch {
    return 6
  }
  if (config === null) return 7
  if (typeof config !== 'object' || Array.isArray(config)) return 6
  const name = read(config, /^name$/iu)
  if (name !== undefined && typeof name !== 'string') return 6
  if (name === undefined || !/^[a-z0-9][a-z0-9_.-]*$/i.test(name)) return 7
  if (names === undefined) return 4
  const version = read(config, /^cniVersion$/iu) ?? ''
  if (typeof version !== 'string') return 6
  return refusalOfVersion(verb, version === '' ? '0.1.0' : version)
}

function refusalOfVersion(verb: string, version: string): number | undefined {
  const since: Readonly<Record<string, number>> = { CHECK: 4, GC: 1001, STATUS: 1001 }
  const supported = (supportedVersions as readonly string[]).includes(version)
  if (since[verb] === undefined) return supported ? undefined : 1
  if (!/^[+-]?\d+(\.[+-]?\d+){0,2}$/.test(version)) return 6
  if (version.split('.').some(part => !Number.isSafeInteger(Number(part)))) return 6
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return supported && major * 1000 + minor >= since[verb] ? undefined : 1
}

/** 3 says "no need to DEL", and the others below 100 are nobody's: none of them is ours to say. */
const codes = new Set([1, 2, 4, 5, 6, 7, 8, 11, 50, 51])
const isCode = (code: unknown): boolean =>
  typeof code === 'number' && (codes.has(code) || (Number.isInteger(code) && code >= 100 && code <= 999))

function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`it has to hold that ${what}`)
}

/** The one document of stdout, or none. */
function documentOf({ printed }: Performance): Record<string, unknown> | undefined {
  must(printed.length <= 1, 'at most one document is printed')
  const [text] = printed
  if (text === undefined) return undefined
  const value: unknown = JSON.parse(text)
  must(typeof value === 'object' && value !== null && !Array.isArray(value), 'the document is an object')
  return value as Record<string, unknown>
}

const versionOf = (stdin: string): string => {
  const version = read(JSON.parse(stdin) as object, /^cniVersion$/iu)
  return version === undefined || version === '' ? '0.1.0' : (version as string)
}

function checkResult(document: Record<string, unknown>, stdin: string): void {
  const version = versionOf(stdin)
  must(document['cniVersion'] === version, `the result is of version ${version}`)
  const old = version === '0.1.0' || version === '0.2.0'
  const { ips, ip4, ip6 } = document
  must(
    old ? Boolean(ip4 ?? ip6) : Array.isArray(ips) && ips.length > 0,
    `it has the addresses of version ${version}`,
  )
}

function checkError(document: Record<string, unknown>, verb: string): void {
  const { code, msg, cniVersion, details } = document
  must(isCode(code), `${String(code)} is a code of the specification or of ours`)
  must(typeof msg === 'string' && msg !== '', 'an error has a message')
  must(
    (supportedVersions as readonly unknown[]).includes(cniVersion),
    'an error is of a version that we speak',
  )
  must(details === undefined || (typeof details === 'string' && details !== ''), 'details are a text')
  if (verb !== 'DEL') return
  const said = `${msg} ${details ?? ''}`
  must(!/not found|no such file or directory/i.test(said), 'no DEL says what runtimes swallow')
}

function checkRequests({ requests, queued, withdrawn }: Performance, { stdin, env }: Surroundings): void {
  for (const { path, body } of requests) {
    must(isCniRequest(JSON.parse(body)), `the request is one: ${ajv.errorsText(isCniRequest.errors)}`)
    must(sentAsItCame(body, stdin), 'the configuration is sent as it came')
    const verb = (env['CNI_COMMAND'] ?? '').toLowerCase()
    must(path === `/v1/cni/${verb}` || (verb === 'add' && path === '/v1/cni/del'), `${verb} asks for ${path}`)
  }
  for (const text of [...queued, ...withdrawn]) {
    must(isDeferredDel(JSON.parse(text)), `the entry is one: ${ajv.errorsText(isDeferredDel.errors)}`)
  }
}

const isDone = (answer: unknown): boolean => {
  if (answer === undefined || answer instanceof Error) return false
  const { status, body } = answer as { status: number; body: Buffer }
  try {
    const { requestId, stateDir } = JSON.parse(body.toString()) as Record<string, unknown>
    return status === 200 && [requestId, stateDir].every(text => typeof text === 'string' && text !== '')
  } catch {
    return false
  }
}

/** Seconds that a verb takes at most: runtimes give up later (cni-protocol part 2). That of ADD is in the configuration. */
const longest = new Map([
  ['DEL', 11],
  ['CHECK', 10],
  ['GC', 15],
  ['STATUS', 2],
  ['VERSION', 0.15],
])

async function check(scene: Surroundings): Promise<string> {
  const played = await perform(scene)
  const { code, requests, interrupted, attempts } = played
  const verb = scene.env['CNI_COMMAND'] ?? ''
  const document = documentOf(played)
  must(code !== undefined, 'the run ends')
  must(attempts <= 1, 'it is tried once to print')
  checkRequests(played, scene)
  must(played.clockMs <= (longest.get(verb) ?? Infinity) * 1000 + 100, `${verb} took ${played.clockMs} ms`)

  if (verb === '') {
    must(
      code === 0 && attempts === 0 && requests.length === 0,
      'without a command there is only the about text',
    )
    return 'about'
  }
  const refusal = refusalOf(scene)
  if (refusal !== undefined || verb === 'VERSION') must(requests.length === 0, 'the daemon is not asked')

  if (code === 1) {
    must(scene.broken.stdout ? attempts === 1 : document !== undefined, 'a failure is said')
    if (document) {
      checkError(document, verb)
      if (refusal !== undefined && !interrupted) must(document['code'] === refusal, `the code is ${refusal}`)
      must(verb !== 'VERSION' || interrupted, 'VERSION succeeds')
    }
    // Whatever came in the place of a result may have been an ADD that has to be taken back.
    const [last] = requests.filter(({ path }) => path === '/v1/cni/add').slice(-1)
    const came = last?.answer !== undefined && !(last.answer instanceof Error) && last.answer.status === 200
    if (came && !interrupted) must(requests.at(-1)?.path === '/v1/cni/del', 'an ADD that failed is undone')
    if (interrupted) return 'interrupted'
    return refusal === undefined ? `${verb} failed` : `refused with ${refusal}`
  }

  must(refusal === undefined, `a run that has to fail with ${refusal ?? ''} fails`)
  if (verb === 'VERSION') {
    must(document?.['supportedVersions'] !== undefined, 'VERSION says the versions')
  } else if (verb === 'ADD') {
    must(document !== undefined, 'ADD says its result')
    must(!scene.broken.queue, 'what cannot be marked as answered is not answered')
    checkResult(document, scene.stdin)
  } else {
    must(attempts === 0, `${verb} says nothing when all is well`)
    const acknowledged = requests.some(({ answer }) => isDone(answer))
    must(acknowledged || played.queued.length > 0, `${verb} succeeds only when it is done or queued`)
    if (!acknowledged) must(verb === 'DEL', 'only a DEL is queued')
  }
  return `${verb} succeeded`
}

export const dispatcher = property({
  name: 'dispatcher',
  runs: 4000,
  cases: surroundings,
  check,
  shares: {
    'ADD succeeded': 3,
    'ADD failed': 7,
    'DEL succeeded': 4,
    'DEL failed': 1.5,
    'CHECK succeeded': 0.4,
    'GC succeeded': 0.4,
    'STATUS succeeded': 0.4,
    'VERSION succeeded': 2,
    'refused with 1': 1,
    'refused with 4': 10,
    'refused with 5': 1,
    'refused with 6': 3,
    'refused with 7': 1,
    interrupted: 3,
    about: 0.4,
  },
})
