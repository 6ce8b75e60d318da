import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Problem } from '../../../../shared/problem/problem.ts'
import { addAttachment } from '../../../../ipkeeper-server/leases/verbs/add.ts'
import { undoAdd } from '../../../../ipkeeper-server/leases/verbs/undo-add.ts'
import { delAttachment } from '../../../../ipkeeper-server/leases/verbs/del.ts'
import type { PodNetwork } from '../../../../ipkeeper-server/network/pod-network.ts'
import type { LeaseService } from '../../../../ipkeeper-server/leases/verbs/service.ts'
import { readMainConfig } from '../../../../ipkeeper-server/network/plan/read-main-config.ts'
import { TestService } from '../test-service.ts'

const main = readMainConfig({ type: 'ipkeeper', name: 'net', ipam: { type: 'ipkeeper' } })
const stays = { gone: () => false }

/** A service whose network takes its time, and tells when it was at work for whom. */
async function slowSite(): Promise<{ story: TestService; service: LeaseService; log: string[] }> {
  const story = await TestService.open()
  const log: string[] = []
  const slowly = async <T>(what: string, step: () => Promise<T>): Promise<T> => {
    log.push(`${what} begins`)
    await delay(5)
    try {
      return await step()
    } finally {
      log.push(`${what} ends`)
    }
  }
  const { network: plain } = story
  const network: PodNetwork = {
    ...plain,
    wire: order => slowly(`wire ${order.key.containerId}`, () => plain.wire(order)),
    unwire: (attachment, leases) =>
      slowly(`unwire ${attachment.containerId}`, () => plain.unwire(attachment, leases)),
  }
  return { story, service: { ...story.service, network }, log }
}

function oneAtATime(t: Test, log: readonly string[]): void {
  t.ok(log.length > 0)
  const open: string[] = []
  for (const line of log) {
    if (line.endsWith('begins')) open.push(line)
    else open.pop()
    t.ok(open.length <= 1, `one at a time: ${line}`)
  }
}

t.test('two sandboxes of one pod never meet in the kernel', async t => {
  const { story, service, log } = await slowSite()
  const ask = (container: string) =>
    addAttachment(service, story.request({ container, pod: 'web-0', uid: 'u1', main }), stays)
  const [first, second] = await Promise.all([ask('c1'), ask('c2')])
  const address = (plan: typeof first) => (plan.answer.kind === 'result' ? plan.answer.result.ips : [])
  t.same(address(first), address(second), 'the second takes over what the first had')
  t.same(log, ['wire c1 begins', 'wire c1 ends', 'wire c2 begins', 'wire c2 ends'])
  t.same([...story.network.wired], ['["net","c2","eth0"]'], 'the link of the first one is gone')

  log.length = 0
  await Promise.all([
    delAttachment(service, { network: 'net', containerId: 'c1', ifname: 'eth0' }, undefined),
    ask('c3'),
    delAttachment(service, { network: 'net', containerId: 'c2', ifname: 'eth0' }, undefined),
  ])
  oneAtATime(t, log)
  t.same([...story.network.wired], ['["net","c3","eth0"]'])
})

t.test('nor does the undo of one whose client has gone meet another', async t => {
  const { story, service, log } = await slowSite()
  const request = (container: string) => story.request({ container, pod: 'web-0', uid: 'u1', main })
  const first = await addAttachment(service, request('c1'), stays)
  log.length = 0
  await Promise.all([
    undoAdd(service, request('c1'), first.generation),
    addAttachment(service, request('c2'), stays),
  ])
  oneAtATime(t, log)
  t.same([...story.network.wired], ['["net","c2","eth0"]'])
  log.length = 0
  await Promise.allSettled([
    addAttachment(service, request('c3'), { gone: () => true }),
    addAttachment(service, request('c4'), stays),
  ])
  oneAtATime(t, log)
})

t.test('sandboxes of different pods do not wait for each other', async t => {
  const { story, service, log } = await slowSite()
  await Promise.all(
    ['web-0', 'web-1'].map(pod =>
      addAttachment(service, story.request({ container: pod, pod, uid: pod, main }), stays),
    ),
  )
  t.same(log.slice(0, 2), ['wire web-0 begins', 'wire web-1 begins'])
})

t.test(
  'what could not be taken back is told beside what went wrong first, and mended by the next',
  async t => {
    const story = await TestService.open()
    let broken = true
    const failing = (text: string) => Promise.reject(new Problem('IPK_WIRING_FAILED', text))
    const network: PodNetwork = {
      ...story.network,
      wire: order => (broken ? failing('cannot set eth0 up') : story.network.wire(order)),
      unwire: (attachment, leases) =>
        broken ? failing('nft is busy') : story.network.unwire(attachment, leases),
    }
    const service = { ...story.service, network }
    const request = { ...story.request({ container: 'c1', invocation: 'run-1', main }), confirms: true }
    await t.rejects(addAttachment(service, request, stays), {
      code: 'IPK_WIRING_FAILED',
      message: 'cannot set eth0 up',
      details: /could not be undone yet: nft is busy/,
    })
    t.equal(service.ledger.leasesOf(request.key).length, 1, 'nobody else gets the address meanwhile')

    broken = false
    const again = await addAttachment(service, request, stays)
    t.same(story.network.calls, ['unwire', 'wire'], 'it is not known how far the first one got')
    t.match(again.answer, { kind: 'result', result: { interfaces: [{}, {}, { name: 'eth0' }] } })
    t.same([...story.network.wired], ['["net","c1","eth0"]'])
  },
)

t.test('a dead sandbox of the same ID loses what it had before the new one gets its own', async t => {
  const story = await TestService.open()
  const ask = () => addAttachment(story.service, story.request({ container: 'c1', main }), stays)
  await ask()
  story.dead.add('c1')
  await ask()
  t.same(story.network.calls, ['wire', 'unwire', 'wire'])
})
