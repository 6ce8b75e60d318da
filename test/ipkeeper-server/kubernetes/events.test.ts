import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { systemClock, type ClientClock } from '../../../ipkeeper-server/kubernetes/client-context.ts'
import type { PodEvent } from '../../../ipkeeper-server/kubernetes/event-series.ts'
import { ApiEventRecorder } from '../../../ipkeeper-server/kubernetes/events.ts'
import { until } from '../../rigs/poll.ts'
import { failure, json, recordedLog, startScriptedClient, type Script } from '../../rigs/scripted-api.ts'

const pod = { namespace: 'shop', name: 'web-0', uid: 'u1' }
const event = (message = 'got 10.22.0.50', rest: Partial<PodEvent> = {}): PodEvent => ({
  type: 'Normal',
  reason: 'AddressGiven',
  action: 'Add',
  message,
  ...rest,
})

const accepts: Script = (call, reply) => {
  json(reply, call.body ?? {}, 201)
}

async function startRecorder(t: Test, script: Script = accepts, clock: Partial<ClientClock> = {}) {
  const { api, client } = await startScriptedClient(t, script, { timeout: 20_000 })
  const { log, lines } = recordedLog()
  const recorder = new ApiEventRecorder(client, 'n1', { ...systemClock, random: () => 0, ...clock }, log)
  t.teardown(() => recorder.stop())
  return {
    api,
    recorder,
    lines,
    idle: () => until('everything is written', () => recorder.counts().queued === 0 && settled()),
    bodies: () => api.calls.map(({ body }) => body as Record<string, unknown>),
  }
  function settled(): boolean {
    const { written, dropped } = recorder.counts()
    return written + dropped > 0
  }
}

t.test('an event as the API wants it', async t => {
  const at = Date.UTC(2026, 10, 21, 10)
  const { recorder, api, idle, bodies } = await startRecorder(t, accepts, { now: () => at })
  recorder.record(pod, event())
  await idle()
  t.match(api.calls, [{ method: 'POST', path: '/apis/events.k8s.io/v1/namespaces/shop/events' }])
  const [body] = bodies()
  t.match(body, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace: 'shop', name: /^web-0\.[0-9a-f]{16}$/ },
    eventTime: '2026-11-21T10:00:00.000000Z',
    reportingController: 'ipkeeper.io/ipkeeper-server',
    reportingInstance: 'n1',
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web-0', uid: 'u1' },
    type: 'Normal',
    reason: 'AddressGiven',
    action: 'Add',
    note: 'got 10.22.0.50',
  })
  t.notOk(body && 'series' in body)
})

t.test('what is long is cut to what the API takes', async t => {
  const { recorder, idle, bodies } = await startRecorder(t)
  recorder.record({ namespace: 'shop', name: `${'a'.repeat(229)}-b`, uid: null }, event('ä'.repeat(5000)))
  await idle()
  const [body] = bodies() as { note: string; metadata: { name: string }; regarding: object }[]
  t.equal(Buffer.byteLength(body!.note), 1023)
  t.match(body!.metadata.name, /^a{229}\.[0-9a-f]{16}$/)
  t.notOk('uid' in body!.regarding)
})

t.test('what to do stays whole behind a text that is cut', async t => {
  const { recorder, idle, bodies } = await startRecorder(t)
  const remedy = 'look who has them: ipkeeperctl leases --pool prod'
  recorder.record(pod, { ...event(`in use: ${'10.22.0.10 (shop/web-0), '.repeat(90)}`), remedy })
  await idle()
  const [{ note }] = bodies() as [{ note: string }]
  t.ok(Buffer.byteLength(note) <= 1024)
  t.match(
    note,
    /^in use: 10\.22\.0\.10 .*\(shop\/web-0\)\.\.\.; look who has them: ipkeeperctl leases --pool prod$/,
  )
})

t.test('a repetition is a patch of the first, and several are one', async t => {
  let release: (() => void) | undefined
  const { recorder, api, idle, bodies } = await startRecorder(t, (call, reply) => {
    if (call.method === 'POST')
      release = () => {
        accepts(call, reply)
      }
    else accepts(call, reply)
  })
  recorder.record(pod, event())
  await until('it is being written', () => release !== undefined)
  for (let count = 0; count < 5; count++) recorder.record(pod, event())
  release?.()
  await idle()
  await until('two requests', () => api.calls.length === 2)
  const [created, patched] = api.calls
  t.equal(patched?.method, 'PATCH')
  t.match(patched?.path, (bodies()[0] as { metadata: { name: string } }).metadata.name)
  t.match(patched?.body, { series: { count: 6, lastObservedTime: /^\d{4}-.*\.\d{6}Z$/ } })
  t.strictSame(Object.keys(patched?.body as object), ['series'])
  t.equal(created?.method, 'POST')

  for (let count = 0; count < 3; count++) recorder.record(pod, event('another'))
  await until('it is written', () => bodies().some(body => body['note'] === 'another'))
  const last = bodies().filter(body => body['note'] === 'another')
  t.match(last[0]?.['series'], { count: 3 }, 'what waited together is written together')
})

t.test('an event that has expired meanwhile is written anew', async t => {
  const { recorder, api, idle, lines } = await startRecorder(t, (call, reply) => {
    if (call.method === 'PATCH') json(reply, failure(404, 'NotFound'), 404)
    else accepts(call, reply)
  })
  recorder.record(pod, event())
  await idle()
  recorder.record(pod, event())
  await until('written', () => recorder.counts().written === 2)
  t.strictSame(
    api.calls.map(({ method }) => method),
    ['POST', 'PATCH', 'POST'],
  )
  t.match(api.calls[2]?.body, { series: { count: 2 } })
  t.strictSame(lines, [])
})

t.test('what becomes of failures', async t => {
  for (const [what, status, expected, requests] of [
    ['no right', 403, { written: 0, dropped: 1 }, 1],
    ['a namespace that has gone', 404, { written: 0, dropped: 1 }, 1],
    ['not valid', 422, { written: 0, dropped: 1 }, 1],
    ['out of order, then well', 500, { written: 1, dropped: 0 }, 2],
    ['too many, then well', 429, { written: 1, dropped: 0 }, 2],
    ['a token that is being renewed', 401, { written: 1, dropped: 0 }, 3],
  ] as const) {
    await t.test(what, async t => {
      let refusals = status === 401 ? 2 : 1
      const { recorder, api, lines } = await startRecorder(t, (call, reply) => {
        if (refusals-- > 0) json(reply, failure(status, 'Whatever'), status)
        else accepts(call, reply)
      })
      recorder.record(pod, event())
      await until('settled', () => {
        const { written, dropped } = recorder.counts()
        return written + dropped === 1
      })
      t.strictSame(recorder.counts(), { queued: 0, ...expected })
      t.equal(api.calls.length, requests)
      t.equal(lines.length, expected.dropped)
    })
  }
  await t.test('a name that is none does not end the daemon', async t => {
    const { recorder, api, idle } = await startRecorder(t)
    recorder.record({ ...pod, namespace: '../secrets' }, event())
    recorder.record({ ...pod, namespace: '' }, event())
    recorder.record(pod, event())
    await idle()
    await until('settled', () => recorder.counts().written === 1)
    t.strictSame(recorder.counts(), { queued: 0, written: 1, dropped: 2 })
    t.equal(api.calls.length, 1)
  })
})

t.test('never too many at once, and never too many in wait', async t => {
  const { recorder, api, lines } = await startRecorder(t)
  const before = performance.now()
  for (let at = 0; at < 600; at++) recorder.record(pod, event(`${at}`))
  t.ok(performance.now() - before < 500, 'recording waits for nothing')
  t.equal(recorder.counts().dropped, 100, 'the oldest go')
  await until('the burst', () => api.calls.length >= 25)
  await delay(300)
  t.ok(api.calls.length <= 25 + 5 * ((performance.now() - before) / 1000) + 1, `${api.calls.length} requests`)
  t.match(api.calls.map(({ body }) => (body as { note: string }).note).slice(0, 2), ['100', '101'])
  t.strictSame(lines, [])
})

t.test('with the API away it waits, and old news is none', async t => {
  let away = true
  let now = 1_000_000_000
  const { recorder, api } = await startRecorder(
    t,
    (call, reply) => {
      if (away) reply.destroy()
      else accepts(call, reply)
    },
    { now: () => now },
  )
  recorder.record(pod, event('old'))
  await until('tried', () => api.calls.length >= 2)
  now += 600_000
  recorder.record(pod, event('new'))
  away = false
  await until('settled', () => recorder.counts().written === 1)
  t.strictSame(recorder.counts(), { queued: 0, written: 1, dropped: 1 })
  t.match(api.calls.at(-1)?.body, { note: 'new' })
})

t.test('the last ones are written at the end, if that takes no longer than a moment', async t => {
  await t.test('all is well', async t => {
    const { recorder, api } = await startRecorder(t)
    for (let at = 0; at < 5; at++) recorder.record(pod, event(`${at}`))
    await recorder.stop()
    t.equal(api.calls.length, 5)
    recorder.record(pod, event('too late'))
    t.strictSame(recorder.counts(), { queued: 0, written: 5, dropped: 0 })
  })
  await t.test('the API says nothing', async t => {
    const { recorder } = await startRecorder(t, () => undefined)
    recorder.record(pod, event('one'))
    recorder.record(pod, event('two'))
    const before = performance.now()
    await recorder.stop()
    t.ok(performance.now() - before < 10_000)
    t.equal(recorder.counts().queued, 0)
    t.equal(recorder.counts().written, 0)
  })
})
