import { Ajv } from 'ajv'
import t from 'tap'
import {
  flightStateDir,
  formatFlight,
  quickIsoTime,
  isRecorded,
  type RunEnding,
  type FlightFacts,
} from '../../plugin/flight-record.ts'
import { Flight } from '../../shared/api/flight.schema.ts'

const isFlight = new Ajv({ strict: true }).compile<Flight>(Flight)

const facts = (more: Partial<FlightFacts> = {}): FlightFacts => ({
  env: { CNI_COMMAND: 'ADD' },
  startedAt: 1_700_000_000_000,
  durationMs: 12.345,
  pid: 7,
  ...more,
})
const silent: RunEnding = { exit: 0, printed: 0 }

function flightOf(known: FlightFacts, ending: RunEnding): Flight {
  const line = formatFlight(known, ending)
  const flight: unknown = JSON.parse(line)
  if (!isFlight(flight)) throw new Error(`no flight: ${line}`)
  if (line.includes('\n')) throw new Error('more than one line')
  if (Buffer.byteLength(line) >= 4096) throw new Error(`${Buffer.byteLength(line)} bytes`)
  return flight
}

t.test('what a run knew, and nothing else', t => {
  const least = {
    at: '2023-11-14T22:13:20.000Z',
    verb: 'ADD',
    exit: 0,
    printed: 0,
    durationMs: 12.3,
    pid: 7,
  } as const
  const { pluginVersion, ...flight } = flightOf(facts(), silent)
  t.strictSame(flight, least)
  t.match(pluginVersion, /^\d+\.\d+\.\d+/)
  const env = {
    CNI_COMMAND: 'ADD',
    CNI_CONTAINERID: 'c1',
    CNI_NETNS: '/run/netns/a',
    CNI_IFNAME: 'eth0',
    CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0',
  }
  const result = { cniVersion: '1.0.0', ips: [{ address: '10.22.0.50/16' }, { address: 'fd00::50/64' }] }
  const known = { env, config: { NAME: 'fixed' }, requestId: 'r-1', invocationId: 'i-1' }
  t.match(flightOf(facts(known), { exit: 0, printed: 99, document: result }), {
    ...least,
    network: 'fixed',
    containerId: 'c1',
    netns: '/run/netns/a',
    ifname: 'eth0',
    pod: 'shop/web-0',
    printed: 99,
    addresses: ['10.22.0.50/16', 'fd00::50/64'],
    requestId: 'r-1',
    invocationId: 'i-1',
  })
  t.end()
})

t.test('endings', t => {
  const error = { cniVersion: '1.0.0', code: 101, msg: 'taken', details: 'ask again' }
  const result = { cniVersion: '0.2.0', ip4: { ip: '10.22.0.50/16' }, ip6: { ip: 'fd00::50/64' } }
  const cases: readonly (readonly [
    name: string,
    ending: RunEnding,
    flight: object,
    absent: readonly string[],
  ])[] = [
    [
      'an error',
      { exit: 1, printed: 80, document: error, code: 'IPK_ADDRESS_HELD' },
      { exit: 1, cniCode: 101, code: 'IPK_ADDRESS_HELD', message: 'taken', printed: 80 },
      ['addresses', 'queued'],
    ],
    [
      'an error that nobody took',
      { exit: 1, printed: 0, document: error, code: 'IPK_ADDRESS_HELD', fault: 'EPIPE' },
      { cniCode: 101, code: 'IPK_ADDRESS_HELD', message: 'EPIPE', printed: 0 },
      [],
    ],
    [
      'a result of the old shape',
      { exit: 0, printed: 9, document: result },
      { addresses: ['10.22.0.50/16', 'fd00::50/64'] },
      ['cniCode', 'message'],
    ],
    [
      'a result that nobody took',
      { exit: 1, printed: 0, document: result, fault: 'ENOSPC' },
      { exit: 1, message: 'ENOSPC' },
      ['addresses', 'code'],
    ],
    [
      'a queued DEL',
      { exit: 0, printed: 0, queued: 'nobody listens' },
      { queued: true, message: 'nobody listens' },
      ['code'],
    ],
  ]
  for (const [name, ending, expected, absent] of cases) {
    const flight = flightOf(facts(), ending)
    t.match(flight, expected, name)
    t.strictSame(
      Object.keys(flight).filter(key => absent.includes(key)),
      [],
      name,
    )
  }
  t.end()
})

t.test('a line stays below 4 KiB, whatever it is made of', t => {
  for (const filling of ['x', '"', '\u0000', 'ü', '🌍', '\ud83d']) {
    const text = filling.repeat(5000)
    const env = {
      CNI_COMMAND: text,
      CNI_CONTAINERID: text,
      CNI_NETNS: text,
      CNI_IFNAME: text,
      CNI_ARGS: `K8S_POD_NAMESPACE=${text};K8S_POD_NAME=${text}`,
    }
    const known = facts({ env, config: { name: text }, requestId: text, invocationId: text })
    const document = { code: 2 ** 53 - 1, msg: text }
    const failed = flightOf(known, { exit: 1, printed: 2 ** 53 - 1, code: text, queued: 'x', document })
    t.equal(failed.containerId?.at(-1), '…', 'what was cut says so')
    t.ok((failed.message?.length ?? 0) > 150, 'of the message the most is kept')
    const ips = Array.from({ length: 100 }, () => ({ address: text }))
    t.equal(flightOf(known, { exit: 0, printed: 1, document: { ips } }).addresses?.length, 12)
  }
  const long = 'x'.repeat(2000)
  const flight = flightOf(facts({ env: { CNI_COMMAND: 'DEL', CNI_CONTAINERID: long } }), silent)
  t.equal(flight.containerId, long, 'a line that is short enough is whole')
  t.end()
})

t.test('what the environment and the configuration may hold instead', t => {
  for (const [known, absent] of [
    [{ config: { name: 7 } }, 'network'],
    [{ config: { name: '' } }, 'network'],
    [{ env: { CNI_COMMAND: 'ADD', CNI_ARGS: 'K8S_POD_NAMESPACE=shop' } }, 'pod'],
    [{ env: { CNI_COMMAND: 'ADD', CNI_ARGS: ';;=;K8S_POD_NAME;' } }, 'pod'],
    [{ env: { CNI_COMMAND: 'ADD', CNI_ARGS: 'K8S_POD_NAMESPACE=shop;K8S_POD_NAME=' } }, 'pod'],
    [{ env: { CNI_COMMAND: 'ADD', CNI_CONTAINERID: '' } }, 'containerId'],
  ] as const)
    t.notOk(absent in flightOf(facts(known), silent), absent)
  const alone = { CNI_COMMAND: 'ADD', CNI_ARGS: 'K8S_POD_NAME=web-0' }
  t.equal(flightOf(facts({ env: alone }), silent).pod, '/web-0')
  t.end()
})

t.test('which runs are recorded', t => {
  for (const [verb, exit, recorded] of [
    ['ADD', 0, true],
    ['DEL', 0, true],
    ['CHECK', 0, true],
    ['GC', 0, true],
    ['STATUS', 0, false],
    ['STATUS', 1, true],
    ['VERSION', 0, false],
    ['VERSION', 1, true],
    ['NOPE', 1, true],
    ['', 0, false],
  ] as const)
    t.equal(isRecorded({ CNI_COMMAND: verb }, { exit, printed: 0 }), recorded, `${verb} ${exit}`)
  t.equal(isRecorded({}, silent), false)
  t.end()
})

t.test('where it is recorded', t => {
  const standard = '/var/lib/ipkeeper'
  const inEnv = { IPKEEPER_STATE_DIR: '/env' }
  for (const [config, env, stateDir] of [
    [undefined, {}, standard],
    [undefined, inEnv, '/env'],
    [{}, inEnv, '/env'],
    [{ stateDir: '/outer' }, inEnv, '/outer'],
    [{ stateDir: '/outer', ipam: { stateDir: '/inner' } }, {}, '/inner'],
    [{ stateDir: 'relative' }, {}, standard],
    [{ stateDir: '../..' }, inEnv, '/env'],
    [{ stateDir: ['/x'] }, inEnv, '/env'],
    [{ ipam: [] }, {}, standard],
    [undefined, { IPKEEPER_STATE_DIR: 'relative' }, standard],
  ] as const)
    t.equal(
      flightStateDir(facts({ env, ...(config && { config }) })),
      stateDir,
      JSON.stringify([config, env]),
    )
  t.end()
})

t.test('moments are written as Date writes them', t => {
  const moments = [0, 1, 9, 10, 99, 100, 999, 1_000, 59_999, 86_399_999, 951_782_400_000, 253_402_300_799_999]
  // Odd steps over a century, so that every part takes many values.
  for (let moment = 0; moment < 3_155_760_000_000; moment += 7_654_321_987) moments.push(moment)
  t.strictSame(
    moments.map(quickIsoTime),
    moments.map(moment => new Date(moment).toISOString()),
  )
  t.end()
})
