import { randomUUID } from 'node:crypto'
import type { Pod } from '../../test/rigs/cri.ts'
import type { Sandbox } from '../../test/rigs/pod-runtime.ts'
import type { Narrator } from './narrator.ts'
import type { Stage } from './stage.ts'

const wanted = '10.22.0.50'

/** The main job of ipkeeper, step by step, each step checked as it is told. */
export async function tellStory(stage: Stage, narrator: Narrator): Promise<void> {
  const { runtime } = stage

  const newPod = (name: string, annotations: Readonly<Record<string, string>> = {}): Pod => ({
    namespace: 'shop',
    name,
    uid: randomUUID(),
    annotations,
  })

  /** Runs a pod and shows what was asked and what the runtime got. */
  const ask = async (pod: Pod): Promise<Sandbox | Error> => {
    const annotations = Object.entries(pod.annotations ?? {}).map(([key, value]) => `${key}: ${value}`)
    const asked = annotations.length === 0 ? 'no annotation' : annotations.join(', ')
    narrator.line('asked', `pod ${pod.namespace}/${pod.name}, ${asked}`)
    const outcome = await runtime.run(pod).catch((error: unknown) => error)
    if (outcome instanceof Error) narrator.line('got', `error: ${outcome.message}`)
    else
      narrator.line('got', `sandbox ${(outcome as Sandbox).id.slice(0, 12)} with ${(outcome as Sandbox).ip}`)
    return outcome as Sandbox | Error
  }
  const showLeases = async (): Promise<void> => {
    narrator.output('ipkeeperctl leases', await stage.leases())
  }
  const gotAddress = (outcome: Sandbox | Error, address: string, text: string): outcome is Sandbox => {
    const holds = !(outcome instanceof Error) && outcome.ip === address
    narrator.expect(holds, text)
    return holds
  }
  const refused = (outcome: Sandbox | Error, words: readonly (string | RegExp)[], text: string): void => {
    const message = outcome instanceof Error ? outcome.message : ''
    const lacking = words.filter(
      word => !(typeof word === 'string' ? message.includes(word) : word.test(message)),
    )
    const complaint = lacking.length === 0 ? '' : ` (the error lacks ${lacking.map(String).join(', ')})`
    narrator.expect(lacking.length === 0, text + complaint)
  }
  const gone = async (sandbox: Sandbox): Promise<void> => {
    await runtime.stop(sandbox.id)
    await runtime.remove(sandbox.id)
  }
  const allGone = async (outcomes: readonly (Sandbox | Error)[]): Promise<void> => {
    for (const outcome of outcomes) if (!(outcome instanceof Error)) await gone(outcome)
  }

  narrator.step(`A pod asks for ${wanted} by annotation`)
  const web = newPod('web-0', { 'ipkeeper.io/ip': wanted })
  const first = await ask(web)
  await showLeases()
  if (!gotAddress(first, wanted, 'web-0 got exactly the address it asked for')) return

  narrator.step('Another pod asks for the same address')
  const second = await ask(newPod('intruder', { 'ipkeeper.io/ip': wanted }))
  await showLeases()
  refused(second, [wanted, 'shop/web-0'], 'refused, and the error names the address and its holder')

  narrator.step('A pod that asks for nothing')
  const third = await ask(newPod('cache'))
  await showLeases()
  gotAddress(third, '10.22.0.2', 'it got the lowest free address (10.22.0.1 is the gateway)')

  narrator.step('web-0 is stopped, removed and run again: a new sandbox of a new pod object')
  await gone(first)
  await showLeases()
  const reborn = newPod('web-0', { 'ipkeeper.io/ip': wanted })
  narrator.line('pod UID', `${web.uid} before, ${reborn.uid} now`)
  const restarted = await ask(reborn)
  await showLeases()
  if (!gotAddress(restarted, wanted, 'web-0 has its address again')) return

  narrator.step('The sandbox of web-0 is killed by hand, so no DEL was ever sent; kubelet starts another')
  await runtime.kill(restarted.id)
  const revived = await ask({ ...reborn, attempt: 1 })
  await showLeases()
  if (!gotAddress(revived, wanted, 'the same pod took its lease over')) return
  narrator.line('later', 'the dead sandbox is stopped and removed, as kubelet does when it gets round to it')
  await gone(restarted)
  const leases = await stage.leases()
  narrator.output('ipkeeperctl leases', leases)
  narrator.expect(
    leases.includes(wanted),
    'the late DEL of the old sandbox did not take the address from the new one',
  )

  narrator.step('An annotation with a slip of the pen')
  const typo = await ask(newPod('typo', { 'ipkeeper.io/ips0': wanted }))
  refused(typo, ['ipkeeper.io/ips0', /did you mean/i], 'refused, with what was probably meant')

  narrator.step('An address that is no address of the network')
  const outside = await ask(newPod('outside', { 'ipkeeper.io/ip': '192.0.2.7' }))
  refused(outside, ['192.0.2.7'], 'refused: never another address than the one asked for')

  narrator.step('Three pods of a StatefulSet share a range; the last one comes first')
  const range = { 'ipkeeper.io/ips': '10.22.0.60-10.22.0.62' }
  const db = (ordinal: number): Pod => newPod(`db-${ordinal}`, range)
  const [two, zero, one] = [await ask(db(2)), await ask(db(0)), await ask(db(1))]
  gotAddress(zero, '10.22.0.60', 'db-0 got the first')
  gotAddress(one, '10.22.0.61', 'db-1 got the second')
  gotAddress(two, '10.22.0.62', 'db-2 got the third')
  narrator.line('later', 'scaled down to one, and up to four')
  await allGone([two, one])
  const grown = [await ask(db(1)), await ask(db(2)), await ask(db(3))] as const
  await showLeases()
  gotAddress(grown[0], '10.22.0.61', 'db-1 has its address again')
  gotAddress(grown[1], '10.22.0.62', 'db-2 has its address again')
  refused(grown[2], ['ordinal 3', '3 addresses'], 'for db-3 there is none, and the error says why')
  await allGone([zero, ...grown])

  narrator.step('Two pods of a Deployment, as in a roll-out, and one address')
  const single = { 'ipkeeper.io/ips': '10.22.0.70' }
  const old = await ask(newPod('api-6d4cf56db6-x2x5z', single))
  const fresh = newPod('api-7f9c8d5b4-b7k2q', single)
  refused(
    await ask(fresh),
    ['10.22.0.70', 'shop/api-6d4cf56db6-x2x5z', 'maxSurge 0'],
    'the new pod has to wait for the old one, and the error says how not to',
  )
  await allGone([old])
  const next = await ask(fresh)
  gotAddress(next, '10.22.0.70', 'when the old one is gone it has the address')
  await allGone([next])

  narrator.step("A pool of the daemon's configuration")
  const pooled = await ask(newPod('pooled', { 'ipkeeper.io/pool': 'lab' }))
  gotAddress(pooled, '10.22.200.10', 'it got the first address of the pool')
  await allGone([pooled])

  narrator.step('The daemon is stopped')
  await stage.stopDaemon()
  const orphan = await ask(newPod('late'))
  refused(orphan, [stage.daemon().socket], 'the error names the socket that nobody answers at')
  await stage.startDaemon()
  await showLeases()
  narrator.expect((await stage.leases()).includes(wanted), 'after its restart the daemon knows every lease')

  narrator.step('All pods go')
  await gone(revived)
  if (!(third instanceof Error)) await gone(third)
  await showLeases()
  const bound = await stage.daemon().boundLeases()
  narrator.expect(bound.length === 0, 'no lease is left in use')
}
