import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { systemClock } from '../../../ipkeeper-server/kubernetes/client-context.ts'
import { at } from '../../../ipkeeper-server/kubernetes/kube-object.ts'
import { Reflector, type ReflectorOptions } from '../../../ipkeeper-server/kubernetes/reflector.ts'
import { until } from '../../rigs/poll.ts'
import {
  failure,
  json,
  recordedLog,
  startScriptedClient,
  type ApiCall,
  type Script,
} from '../../rigs/scripted-api.ts'

const path = '/api/v1/pods'
const pod = (name: string, resourceVersion: string, mark = ''): object => ({
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion, labels: { mark } },
})
const list = (resourceVersion: string, items: readonly object[] | null, proceed?: string): object => ({
  kind: 'PartialObjectMetadataList',
  metadata: { resourceVersion, continue: proceed },
  items,
})
const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`
const bookmark = (resourceVersion: string): string => line('BOOKMARK', { metadata: { resourceVersion } })

/** One answer of the server; the last step goes on for ever. */
type Step = (reply: ServerResponse, call: ApiCall) => void

const gives =
  (value: object): Step =>
  reply => {
    json(reply, value)
  }
const refuses =
  (status: number, headers: Record<string, string> = {}): Step =>
  reply => {
    json(reply, failure(status, 'Whatever'), status, headers)
  }
const silence: Step = () => undefined
/** A watch that says these and then stays open. */
const says =
  (...lines: readonly string[]): Step =>
  reply => {
    reply.writeHead(200)
    reply.flushHeaders()
    for (const text of lines) reply.write(text)
  }
const saysAndEnds =
  (...lines: readonly string[]): Step =>
  reply => {
    reply.writeHead(200)
    reply.end(lines.join(''))
  }
const saysAndBreaks =
  (...lines: readonly string[]): Step =>
  reply => {
    reply.writeHead(200)
    reply.write(lines.join(''))
    setTimeout(() => reply.destroy(), 20)
  }

async function startReflector(
  t: Test,
  steps: readonly Step[],
  options: Partial<ReflectorOptions<string>> = {},
  timeout = 10_000,
) {
  let step = 0
  const answer: Script = (call, reply) => {
    steps[Math.min(step++, steps.length - 1)]?.(reply, call)
  }
  const { api, client } = await startScriptedClient(t, answer, { timeout })
  const { log, lines } = recordedLog()
  const held = new Map<string, string>()
  const history: string[] = []
  const reflector = new Reflector<string>({
    client,
    resource: 'pods',
    path,
    representation: 'metadata',
    firstList: 'cache',
    project: object => String(at(object, 'metadata', 'labels', 'mark')),
    sink: {
      replace: entries => {
        history.push(`all ${[...entries.keys()].join(' ')}`.trim())
        held.clear()
        for (const [key, value] of entries) held.set(key, value)
      },
      put: (key, value) => {
        history.push(`put ${key}`)
        held.set(key, value)
      },
      remove: key => {
        history.push(`remove ${key}`)
        held.delete(key)
      },
    },
    // The shortest of every wait; what they grow to is the business of watch-progress.
    clock: { ...systemClock, random: () => 0 },
    log,
    ...options,
  })
  t.teardown(async () => {
    const stopped = reflector.stop()
    await client.close()
    await stopped
  })
  reflector.start()
  const asked = (): string[] =>
    api.calls.map(({ query }) =>
      query.has('watch')
        ? `watch ${query.get('resourceVersion')}`
        : `list ${['resourceVersion', 'limit', 'continue'].flatMap(key => (query.has(key) ? [`${key}=${query.get(key)}`] : [])).join(' ')}`,
    )
  return { api, client, reflector, held, history, lines, asked, answers: () => step }
}

t.test('lists, watches, and asks as cheaply as it can', async t => {
  const { api, held, history, reflector } = await startReflector(
    t,
    [
      gives(list('10', [pod('a', '5', 'one'), pod('b', '6')])),
      says(
        line('ADDED', pod('c', '11')),
        line('MODIFIED', pod('a', '12', 'two')),
        line('DELETED', pod('b', '13')),
        bookmark('20'),
      ),
    ],
    { fieldSelector: 'spec.nodeName=n1' },
  )
  await until('all events', () => history.length === 4)
  t.strictSame(history, ['all shop/a shop/b', 'put shop/c', 'put shop/a', 'remove shop/b'])
  t.strictSame(
    [...held],
    [
      ['shop/a', 'two'],
      ['shop/c', ''],
    ],
  )
  const [listed, watched] = api.calls
  t.strictSame(Object.fromEntries(listed!.query), { fieldSelector: 'spec.nodeName=n1', resourceVersion: '0' })
  t.match(listed!.headers.accept, 'as=PartialObjectMetadataList')
  t.strictSame(Object.fromEntries(watched!.query), {
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: '10',
    timeoutSeconds: '300',
    fieldSelector: 'spec.nodeName=n1',
  })
  t.match(watched!.headers.accept, 'as=PartialObjectMetadata;')
  t.match(reflector.status(), { connected: true, synced: true, resource: 'pods', lastError: undefined })
  t.ok(reflector.lastContactAge() < 5000 && Math.abs(Date.now() - reflector.status().lastContact!) < 5000)
})

t.test('an empty list of metadata has null for its items', async t => {
  const { reflector, history } = await startReflector(t, [gives(list('1', null)), says()])
  await until('connected', () => reflector.status().connected)
  t.strictSame(history, ['all'])
})

t.test('pages are taken together, and a token that has expired begins anew', async t => {
  const { asked, history } = await startReflector(
    t,
    [
      gives(list('10', [pod('a', '5')], 'tok-1')),
      refuses(410),
      gives(list('20', [pod('b', '6')], 'tok-2')),
      gives(list('20', [pod('c', '7')])),
      says(),
    ],
    { firstList: 'store' },
  )
  await until('the watch', () => asked().length === 5)
  t.strictSame(asked(), [
    'list limit=250',
    'list limit=250 continue=tok-1',
    'list limit=250',
    'list limit=250 continue=tok-2',
    'watch 20',
  ])
  t.strictSame(history, ['all shop/b shop/c'], 'half a list was never shown')
})

t.test('how it goes on, by what the server did', async t => {
  for (const [what, steps, expected, log] of [
    ['the watch ends in time', [saysAndEnds(bookmark('15')), says()], ['watch 10', 'watch 15'], []],
    [
      'the connection breaks after an event',
      [saysAndBreaks(line('ADDED', pod('c', '12'))), says()],
      ['watch 10', 'watch 12'],
      [],
    ],
    [
      'and within one: what was cut off is not believed',
      [saysAndBreaks(line('ADDED', pod('c', '12')), line('ADDED', pod('d', '13')).slice(0, 40)), says()],
      ['watch 10', 'watch 12'],
      [],
    ],
    [
      'it ends within one',
      [saysAndEnds(line('ADDED', pod('c', '12')), line('ADDED', pod('d', '13')).slice(0, 40)), says()],
      ['watch 10', 'watch 12'],
      [],
    ],
    [
      'the connection breaks, and the server stays away for a while',
      [saysAndBreaks(line('ADDED', pod('c', '12'))), refuses(503), says()],
      ['watch 10', 'watch 12', 'watch 12'],
      ['warn', 'info'],
    ],
    [
      '410 on HTTP',
      [refuses(410), gives(list('30', [pod('z', '29')])), says()],
      ['watch 10', 'list limit=250', 'watch 30'],
      [],
    ],
    [
      '410 as an event',
      [
        saysAndEnds(line('ADDED', pod('c', '12')), line('ERROR', failure(410, 'Expired'))),
        gives(list('30', [])),
        says(),
      ],
      ['watch 10', 'list limit=250', 'watch 30'],
      [],
    ],
    [
      'another error as an event',
      [says(line('ERROR', failure(500, 'InternalError'))), says()],
      ['watch 10', 'watch 10'],
      ['warn', 'info'],
    ],
    [
      '500',
      [refuses(500), refuses(503), says()],
      ['watch 10', 'watch 10', 'watch 10'],
      ['warn', 'warn', 'info'],
    ],
    [
      'no right',
      [refuses(403), refuses(403), says()],
      ['watch 10', 'watch 10', 'watch 10'],
      ['warn', 'info'],
    ],
    [
      'a garbled line',
      [saysAndEnds(line('ADDED', pod('c', '12')), '{"type":"ADDED","object":{"meta\n'), says()],
      ['watch 10', 'watch 12'],
      ['warn', 'info'],
    ],
    [
      'garbled wherever it begins',
      [...Array.from({ length: 3 }, () => saysAndEnds('<html>\n')), gives(list('30', [])), says()],
      ['watch 10', 'watch 10', 'watch 10', 'list limit=250', 'watch 30'],
      ['warn', 'info', 'warn', 'info', 'warn', 'info'],
    ],
    [
      'an event of no type',
      [saysAndEnds('{"object":{}}\n'), says()],
      ['watch 10', 'watch 10'],
      ['warn', 'info'],
    ],
    [
      'an object that is none',
      [saysAndEnds(line('ADDED', { metadata: { name: 'x' } })), says()],
      ['watch 10', 'watch 10'],
      ['warn', 'info'],
    ],
    [
      'it ends at once, saying nothing',
      [saysAndEnds(), saysAndEnds(), says()],
      ['watch 10', 'watch 10', 'watch 10'],
      [],
    ],
    ['it does not begin', [silence, says()], ['watch 10', 'watch 10'], ['warn', 'info']],
  ] as const satisfies readonly (readonly [
    string,
    readonly Step[],
    readonly string[],
    readonly string[],
  ])[]) {
    await t.test(what, async t => {
      const timeout = steps.some(step => step === silence) ? 500 : 10_000
      const answers = [gives(list('10', [pod('a', '5')])), ...steps]
      const { asked, lines, reflector } = await startReflector(t, answers, {}, timeout)
      const all = ['list resourceVersion=0', ...expected]
      await until('all requests', () => asked().length >= all.length && reflector.status().connected)
      t.strictSame(asked(), all)
      t.strictSame(
        lines.map(({ level }) => level),
        log,
        JSON.stringify(lines),
      )
    })
  }
})

t.test('a server that is away keeps what was known, and is not asked in a hurry', async t => {
  const { api, held, history, reflector, asked } = await startReflector(t, [
    gives(list('10', [pod('a', '5')])),
    says(line('ADDED', pod('b', '11'))),
    refuses(500),
    refuses(500),
    refuses(500),
    says(line('DELETED', pod('a', '12'))),
  ])
  await until('b', () => held.has('shop/b'))
  const began = performance.now()
  api.cut()
  await until('connected no more', () => !reflector.status().connected)
  t.match(reflector.status(), { synced: true, lastError: { message: /GET/ } })
  t.equal(held.size, 2)
  await until('a is gone', () => !held.has('shop/a'))
  // With the shortest jitter: 200 (never below), 200, 400, 800 ms.
  t.ok(performance.now() - began > 1500, `${performance.now() - began} ms`)
  t.strictSame(
    asked().slice(2),
    Array.from({ length: 4 }, () => 'watch 11'),
  )
  t.strictSame(history, ['all shop/a', 'put shop/b', 'remove shop/a'], 'nothing was forgotten meanwhile')
})

t.test('a server that asks for time gets it', async t => {
  const { reflector, answers } = await startReflector(t, [
    refuses(429, { 'retry-after': '1' }),
    gives(list('1', [])),
    says(),
  ])
  await until('refused', () => answers() === 1)
  const began = performance.now()
  await until('listed', () => reflector.status().synced)
  t.ok(performance.now() - began > 900)
})

t.test('silence', async t => {
  const stays: Step = (reply, call) => {
    if (call.query.has('watch')) says()(reply, call)
    else json(reply, list('9', []))
  }
  const { asked, lines, reflector } = await startReflector(
    t,
    [
      ...[gives(list('10', [])), says(bookmark('11')), gives(list('11', [])), says(bookmark('12'))],
      ...[gives(list('9', [])), gives(list('9', [pod('a', '8')])), stays],
    ],
    { timing: { idleLimit: 100 } },
  )
  await until('three watches', () => asked().length >= 7)
  const look = 'list resourceVersion=0 limit=1'
  t.strictSame(asked().slice(0, 4), ['list resourceVersion=0', 'watch 10', look, 'watch 11'])
  t.strictSame(
    asked().slice(4, 7),
    [look, 'list limit=250', 'watch 9'],
    'a server that has gone back is listed anew',
  )
  t.strictSame(lines, [], 'it is no trouble yet')
  await until('connected', () => reflector.status().connected)
})

t.test('a server that went back', async t => {
  const expect = (): ((version: string) => boolean) => version => Number(version) >= 10

  await t.test('is found out before a watch goes on', async t => {
    const { asked, held } = await startReflector(
      t,
      [
        ...[gives(list('10', [pod('a', '7')])), saysAndEnds(bookmark('11')), gives(list('9', []))],
        ...[gives(list('12', [pod('b', '12')])), says()],
      ],
      { expect, firstList: 'store' },
    )
    await until('listed anew', () => held.has('shop/b'))
    await until('watched', () => asked().length === 5)
    t.strictSame(asked(), ['list limit=250', 'watch 10', 'list limit=1', 'list limit=250', 'watch 12'])
    t.notOk(held.has('shop/a'))
  })

  await t.test('or by a list, of which nothing is told', async t => {
    const { history } = await startReflector(
      t,
      [gives(list('9', [pod('a', '7')])), gives(list('12', [])), says()],
      {
        expect,
        firstList: 'store',
      },
    )
    await until('listed anew', () => history.length > 0)
    t.strictSame(history, ['all'])
  })

  await t.test('or by others: what is under way counts no more', async t => {
    const { reflector, history, asked } = await startReflector(
      t,
      [gives(list('10', [pod('a', '7')])), says(), gives(list('4', [pod('b', '3')])), says()],
      { firstList: 'store' },
    )
    await until('connected', () => reflector.status().connected)
    reflector.relist()
    await until('watched again', () => asked().length === 4)
    t.strictSame(asked().slice(2), ['list limit=250', 'watch 4'])
    t.strictSame(history, ['all shop/a', 'all shop/b'])
  })
})

t.test('bytes that trickle are no silence', async t => {
  const { asked, held } = await startReflector(
    t,
    [
      gives(list('10', [])),
      reply => {
        const text = line('ADDED', pod('slow', '11'))
        reply.writeHead(200)
        let at = 0
        const timer = setInterval(() => {
          reply.write(text.slice(at, at + 5))
          at += 5
          if (at >= text.length) clearInterval(timer)
        }, 100)
      },
    ],
    { timing: { idleLimit: 1500 } },
  )
  await until('it came', () => held.has('shop/slow'))
  t.strictSame(asked(), ['list resourceVersion=0', 'watch 10'])
})

t.test('stop ends whatever is under way, and nothing is asked after it', async t => {
  for (const [what, steps] of [
    ['a list', [() => undefined]],
    ['a watch', [gives(list('1', [])), says()]],
    ['a pause', [refuses(429, { 'retry-after': '300' })]],
  ] as const satisfies readonly (readonly [string, readonly Step[]])[]) {
    const { client, reflector, answers, held } = await startReflector(t, steps)
    await until(what, () => answers() >= steps.length)
    const began = performance.now()
    // As Cluster.stop does it: a list ends with its connection.
    const stopped = reflector.stop()
    await client.close()
    await stopped
    t.ok(performance.now() - began < 5000, what)
    t.equal(answers(), steps.length, what)
    t.equal(held.size, 0)
  }
})

t.test('the server is asked to end a watch after five to ten minutes, another time for each', async t => {
  const random = [0, 0.5, 0.999]
  let at = 0
  const { api } = await startReflector(
    t,
    [gives(list('1', [])), saysAndEnds(bookmark('2')), saysAndEnds(bookmark('3')), says()],
    // Each step takes one for its pause, and each watch one for its time.
    { clock: { ...systemClock, random: () => random[Math.floor(at++ / 2)] ?? 0 } },
  )
  await until('three watches', () => api.calls.length === 4)
  const times = api.calls.slice(1).map(({ query }) => Number(query.get('timeoutSeconds')))
  t.ok(
    times.every(time => time >= 300 && time <= 600),
    times.join(),
  )
  t.equal(new Set(times).size, 3, times.join())
})
