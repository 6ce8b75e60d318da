import t from 'tap'
import { addAttachment } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import { attachmentKey, type AttachmentKey } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { sampleConfig } from '../../network/plan/sample-job.ts'
import { TestService, type PodWords } from '../test-service.ts'

const main = sampleConfig
const web = (container: string, more: Partial<PodWords> = {}): PodWords => ({
  ...{ pod: 'web-0', uid: 'u1', container, main },
  ...more,
})
const keyOf = (containerId: string): AttachmentKey => ({ network: 'net', containerId, ifname: 'eth0' })
const wiredKeys = (...containers: readonly string[]): Set<string> =>
  new Set(containers.map(container => attachmentKey(keyOf(container))))
const neverGone = { gone: () => false }

t.test('the whole Result, and the record of how the pod is wired', async t => {
  const story = await TestService.open()
  const words = web('c1', { ip: '10.22.0.50', main: { ...main, masquerade: 'unnamed', defaultRoute: true } })
  const { answer } = await addAttachment(story.service, story.request(words), neverGone)
  t.match(answer, {
    kind: 'result',
    result: {
      interfaces: [
        { name: 'ipk0' },
        { name: 'ipk000000000001' },
        { name: 'eth0', mac: '0a:58:0a:16:00:32', sandbox: '/run/netns/c1' },
      ],
      ips: [{ address: '10.22.0.50/24', gateway: '10.22.0.1', interface: 2 }],
      routes: [{ dst: '0.0.0.0/0', gw: '10.22.0.1' }],
    },
  })
  const record = story.service.ledger.attachment(keyOf('c1'))
  t.match(record?.wiring, { mode: 'bridge', master: 'ipk0', masqueraded: [] }, 'asked for by name')
  t.equal(record?.unanswered, undefined, 'nobody confirms: it counts as answered')

  await story.add(
    web('c2', { pod: 'web-1', mac: '02:00:00:00:00:07', main: { ...main, masquerade: 'unnamed' } }),
  )
  t.match(story.service.ledger.attachment(keyOf('c2'))?.wiring, {
    mac: '02:00:00:00:00:07',
    masqueraded: ['10.22.0.2'],
  })
  t.strictSame(story.network.wired, wiredKeys('c1', 'c2'))
})

t.test('the record is durable before the kernel is touched', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  const wire = story.network.wire.bind(story.network)
  const seen: unknown[] = []
  story.network.wire = async order => {
    seen.push(await store.read('attachment', attachmentKey(order.key)))
    for (const { segment, address } of order.leases) t.ok(story.service.ledger.lease({ segment, address }))
    return await wire(order)
  }
  t.equal(await story.add(web('c1')), '10.22.0.2')
  t.match(seen, [
    {
      containerId: 'c1',
      wiring: { mode: 'bridge' },
      unanswered: { confirms: false },
      netns: '/run/netns/c1',
    },
  ])

  store.fails = () => true
  t.equal(await story.add(web('c2', { pod: 'web-1' })), 'IPK_STORE_FAILED')
  t.strictSame(story.network.calls, ['wire'], 'without a record nothing is wired')
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'])
})

t.test('what the kernel is told', async t => {
  const story = await TestService.open()
  const orders: unknown[] = []
  story.network.wire = order => {
    orders.push(order)
    return Promise.resolve(order.survey)
  }
  await story.add(web('c1', { netnsInode: '4711' }))
  t.match(orders, [
    {
      config: main,
      key: keyOf('c1'),
      wiring: { mac: '0a:58:0a:16:00:02' },
      ips: [{ address: '10.22.0.2/24', gateway: '10.22.0.1' }],
      netns: '/run/netns/c1',
      netnsInode: '4711',
      leases: [{ address: '10.22.0.2', state: 'bound' }],
      superseded: [],
    },
  ])
})

t.test('what is refused before anything is decided', async t => {
  for (const [what, prepare] of [
    [
      'a survey that finds a fault',
      (story: TestService) => {
        story.network.survey = () => Promise.reject(new Problem('IPK_LINK_CONFLICT', 'no such uplink'))
      },
    ],
    [
      'a plan that finds one',
      (story: TestService) => {
        const survey = story.network.survey.bind(story.network)
        story.network.survey = async (...args) => ({
          ...(await survey(...args)),
          bridge: { state: 'other', kind: 'veth' },
        })
      },
    ],
  ] as const) {
    const story = await TestService.open()
    prepare(story)
    t.equal(await story.add(web('c1')), 'IPK_LINK_CONFLICT', what)
    t.strictSame([story.network.calls, story.leases()], [[], []], what)
    t.equal(story.service.ledger.counts().attachment, 0)
  }
})

t.test('a step that fails takes leases and wiring back', async t => {
  const story = await TestService.open()
  story.network.failNext = true
  const problem = await story.problem(web('c1', { retain: 'forever' }))
  t.match(problem, { code: 'IPK_WIRING_FAILED', message: /No buffer space/ })
  t.strictSame(story.network.calls, ['wire', 'unwire'])
  t.strictSame(story.network.wired, wiredKeys())
  t.strictSame(story.leases(), [])
  t.match(story.service.ledger.counts(), { attachment: 0, holder: 0 })
  t.equal(await story.add(web('c1')), '10.22.0.2', 'and the next try gets it')
  t.strictSame(story.network.wired, wiredKeys('c1'))
})

t.test('a client that has gone gets no pod wired', async t => {
  const story = await TestService.open()
  t.equal(await story.add(web('c1'), { gone: () => true }), 'IPK_INTERRUPTED')
  t.strictSame(story.network.calls, ['wire', 'unwire'])
  t.strictSame([story.network.wired, story.leases()], [wiredKeys(), []])
})

t.test('an ADD that is sent again is answered alike, and wires nothing', async t => {
  const story = await TestService.open()
  const request = story.request(web('c1', { invocation: 'i1' }))
  const first = await addAttachment(story.service, request, neverGone)
  const again = await addAttachment(story.service, request, neverGone)
  t.strictSame(again.answer, first.answer)
  t.strictSame(story.network.calls, ['wire'])
  t.equal(await story.add(web('c1', { invocation: 'i2' })), 'IPK_ALREADY_ADDED', 'another run of the plugin')
  t.strictSame(story.network.calls, ['wire'])
  t.strictSame(story.network.wired, wiredKeys('c1'))
})

t.test('an ADD that is sent again is wired afresh where the kernel has nothing of it', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  const words = web('c1', { invocation: 'i1' })
  // Wired in part and unwired, but the store does not take the undo.
  story.network.failNext = true
  const unwire = story.network.unwire.bind(story.network)
  story.network.unwire = async (...args) => {
    store.fails = () => true
    await unwire(...args)
  }
  t.equal(await story.add(words), 'IPK_WIRING_FAILED', 'what went wrong first')
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'], 'the record waits for its undo')
  store.fails = () => false
  story.network.unwire = unwire
  t.equal(await story.add(words), '10.22.0.2')
  t.strictSame(story.network.wired, wiredKeys('c1'))
})

t.test('a new sandbox names the one that it replaces', async t => {
  const story = await TestService.open()
  const superseded: (readonly string[])[] = []
  const wire = story.network.wire.bind(story.network)
  story.network.wire = order => {
    superseded.push(order.superseded.map(({ containerId }) => containerId))
    return wire(order)
  }
  await story.add(web('c1'))
  t.equal(await story.add(web('c2')), '10.22.0.2', 'the same pod')
  t.strictSame(superseded, [[], ['c1']])
  t.strictSame(story.network.wired, wiredKeys('c2'))

  await story.del('c1')
  t.strictSame(story.network.calls, ['wire', 'wire', 'unwire'])
  t.strictSame(story.network.wired, wiredKeys('c2'), 'the late DEL of the old one leaves the new one alone')
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c2'])

  await story.add(web('c3', { pod: 'web-1', uid: 'u2' }))
  t.strictSame(superseded.at(-1), [], 'another pod replaces nobody')
})

t.test('the IPAM role touches no kernel', async t => {
  const story = await TestService.open()
  const { answer } = await addAttachment(
    story.service,
    story.request({ pod: 'web-0', uid: 'u1', container: 'c1' }),
    neverGone,
  )
  t.equal(answer.kind === 'result' && 'interfaces' in answer.result, false)
  await story.del('c1')
  t.strictSame(story.network.calls, [])
})
