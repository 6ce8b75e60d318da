/** How pods live: what kubelets and runtimes do with them, in and out of order. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Way } from '../many-nodes/pod-calls.ts'
import type { SeededRandom } from '../rigs/seeded-random.ts'
import { newInvocation, type Sandbox } from '../rigs/shared-node.ts'
import type { Runtime } from './runtime.ts'
import { fixedAddress } from './stage.ts'

/** What a life has to hand. */
export interface LifeTools {
  /** Its own. */
  readonly random: SeededRandom
  /** Where it begins, unless it is at home nowhere. */
  readonly runtime: Runtime
  readonly runtimes: readonly Runtime[]
  /** Counts up over all lives. */
  readonly number: number
  /** Milliseconds; shorter when all is to end. */
  wait(low: number, high: number): Promise<void>
  /** No pod is begun any more. */
  isEnding(): boolean
  /** Nothing is waited for any more: an episode may break off while a daemon does not come back. */
  isOver(): boolean
  /** Runs it unless another life has the name. */
  alone(name: string, work: () => Promise<void>): Promise<void>
}

export interface Life {
  readonly kind: string
  readonly weight: number
  /** What has to be mended before it goes well; it is left out until then, unless somebody asks for it. */
  readonly pending?: string
  live(tools: LifeTools): Promise<void>
}

/** A sandbox that was given addresses. */
interface Running {
  readonly runtime: Runtime
  readonly sandbox: Sandbox
  readonly addresses: readonly string[]
  readonly keeps: boolean
}

type Pod = Omit<Sandbox, 'container'>

/** Pods that ask for an address by name, and pods whose addresses are kept for ever. */
const [fixedPods, keptPods] = [8, 5]

/** Whether a pod of this name keeps its addresses whatever becomes of it. */
export const isKept = (pod: string): boolean => pod.startsWith('keep-')

export const lives: readonly Life[] = [
  {
    kind: 'passing',
    weight: 6,
    live: async tools => {
      const running = await begin(tools, tools.runtime, real(passing(tools), tools, tools.runtime))
      await end(tools, running)
    },
  },
  {
    kind: 'restarted',
    weight: 3,
    live: async tools => {
      let running = await begin(tools, tools.runtime, passing(tools))
      for (let times = tools.random.between(1, 3); running && times > 0; times--) {
        await stay(tools, running)
        if (tools.isEnding()) break
        const old = running
        // The old sandbox is deleted late.
        running = await begin(tools, tools.runtime, old.sandbox)
        await delSurely(tools, old)
      }
      await end(tools, running)
    },
  },
  {
    kind: 'fixed',
    weight: 6,
    live: async tools => {
      const { random, runtimes } = tools
      const [number, runtime] = [random.between(0, fixedPods - 1), random.pick(runtimes)]
      const pod = { pod: `web-${number}`, uid: newId(random), asked: [fixedAddress(number)] }
      await end(tools, await insist(tools, runtime, pod))
    },
  },
  {
    kind: 'wanted twice',
    weight: 1,
    live: async tools => {
      const { random, runtimes } = tools
      const number = random.between(0, fixedPods - 1)
      await Promise.all(
        [1, 2].map(async () => {
          const pod = { pod: `web-${number}`, uid: newId(random), asked: [fixedAddress(number)] }
          await end(tools, await begin(tools, random.pick(runtimes), pod))
        }),
      )
    },
  },
  {
    kind: 'thief',
    weight: 1,
    live: async tools => {
      const { random, runtime } = tools
      const asked = [fixedAddress(random.between(0, fixedPods - 1))]
      await end(tools, await begin(tools, runtime, { ...passing(tools), asked }))
    },
  },
  {
    kind: 'kept',
    weight: 4,
    live: async tools => {
      const { random, runtimes } = tools
      const pod = `keep-${random.between(0, keptPods - 1)}`
      await tools.alone(pod, async () => {
        for (let times = random.between(1, 3); times > 0 && !tools.isEnding(); times--) {
          const wanted = { pod, uid: newId(random), asked: [], retain: 'forever' }
          const running = await begin(tools, random.pick(runtimes), wanted)
          if (running) await stay(tools, running)
          if (running) await delSurely(tools, running)
        }
      })
    },
  },
  {
    kind: 'kept for a second',
    weight: 2,
    live: async tools => {
      await end(tools, await begin(tools, tools.runtime, { ...passing(tools), retain: '1s' }))
    },
  },
  {
    kind: 'deleted twice',
    weight: 2,
    live: async tools => {
      const { random } = tools
      const running = await begin(tools, tools.runtime, passing(tools))
      if (!running) return
      await stay(tools, running)
      const { runtime, sandbox } = running
      await Promise.all([1, 2].map(() => runtime.del(sandbox, { way: runtime.way(random) })))
      await delSurely(tools, running)
    },
  },
  {
    kind: 'overtaken by its DEL',
    weight: 2,
    live: async tools => {
      const { random, runtime } = tools
      const sandbox = { ...passing(tools), container: newId(random) }
      const early = newInvocation()
      await runtime.del(sandbox)
      await tools.wait(0, 1500)
      await runtime.add(sandbox, { invocation: early })
      await delSurely(tools, { runtime, sandbox })
    },
  },
  {
    kind: 'taken over in vain',
    weight: 2,
    live: async tools => {
      const { random } = tools
      const running = await begin(tools, tools.runtime, passing(tools))
      if (!running) return
      const { runtime, sandbox } = running
      const next = { ...sandbox, container: newId(random) }
      // Its caller is gone when the answer arrives, and the runtime gives the new sandbox up.
      await runtime.add(next, { invocation: { ...newInvocation(), confirms: true } })
      await delSurely(tools, { runtime, sandbox: next })
      await check(tools, running)
      await end(tools, running)
    },
  },
  {
    kind: 'dies without a DEL',
    weight: 3,
    live: async tools => {
      const { random, runtime } = tools
      const netns = runtime.machine.takeNamespace()
      if (netns === undefined) return
      const number = random.between(0, fixedPods - 1)
      const pod = random.chance(0.5)
        ? passing(tools)
        : { pod: `web-${number}`, uid: newId(random), asked: [fixedAddress(number)] }
      const running = await begin(tools, runtime, { ...pod, netns })
      if (!running) return
      await stay(tools, running)
      await runtime.kill(running.sandbox)
    },
  },
  {
    kind: 'forgotten by its runtime',
    weight: 2,
    live: async tools => {
      const running = await begin(tools, tools.runtime, passing(tools))
      if (!running) return
      await stay(tools, running)
      running.runtime.forget(running.sandbox)
    },
  },
  {
    kind: 'plugin killed',
    weight: 2,
    live: async tools => {
      await meddledWith(tools, 'killed')
    },
  },
  {
    kind: 'plugin paused',
    weight: 2,
    live: async tools => {
      await meddledWith(tools, 'paused')
    },
  },
  {
    kind: 'GC that waited',
    weight: 4,
    live: async tools => {
      const { random, runtime } = tools
      // The list is as old as the call; a daemon that was away hears both late.
      const [valid, invocation] = [runtime.valid, newInvocation()]
      await tools.wait(0, 2500)
      await runtime.gc(valid, { invocation })
      if (random.chance(0.2)) await runtime.gc(valid, { invocation: null })
    },
  },
  {
    kind: 'asks for a resolv.conf that is a pipe',
    weight: 1,
    live: async tools => {
      const { random, runtime } = tools
      const ipam = { resolvConf: await runtime.machine.makePipe() }
      const sandbox = { ...passing(tools), container: newId(random), ipam }
      await runtime.add(sandbox, { way: runtime.way(random), wrong: true })
      await delSurely(tools, { runtime, sandbox })
    },
  },
  {
    kind: 'STATUS by the plugin',
    weight: 1,
    live: async ({ runtime }) => {
      await runtime.status()
    },
  },
  {
    kind: 'GC by the plugin',
    weight: 1,
    live: async ({ runtime }) => {
      await runtime.gc(runtime.valid, { way: runtime.plugin() })
    },
  },
]

/** A pod that takes whatever is free. */
const passing = ({ number, random }: LifeTools): Pod => ({
  pod: `any-${number}`,
  uid: newId(random),
  asked: [],
})

/** The same in a network namespace that is there, as long as there are any; else the namespace never existed. */
function real(pod: Pod, { random }: LifeTools, { machine }: Runtime): Pod {
  const netns = random.chance(0.4) ? machine.takeNamespace() : undefined
  return netns === undefined ? pod : { ...pod, netns }
}

/** An ADD in a new sandbox; what was not given is deleted, as a runtime does. */
async function begin(
  tools: LifeTools,
  runtime: Runtime,
  { pod, uid, asked, retain, netns }: Pod,
  way: Way = runtime.way(tools.random),
): Promise<Running | undefined> {
  const { random } = tools
  if (tools.isEnding()) return undefined
  const sandbox: Sandbox = {
    ...{ pod, uid, asked, container: newId(random) },
    ...(retain !== undefined && { retain }),
    ...(netns !== undefined && { netns }),
  }
  const keeps = isKept(pod)
  // The plugin tries a daemon that is not there for some seconds.
  const again = (): number | undefined => (random.chance(0.5) ? random.between(100, 1500) : undefined)
  const reply = await runtime.add(sandbox, { way, ...(keeps && { keeps }), ...(!way.byProgram && { again }) })
  if (reply.kind === 'given') return { runtime, sandbox, addresses: reply.addresses, keeps }
  await delSurely(tools, { runtime, sandbox })
  await tools.wait(20, 300)
  return undefined
}

/** As kubelet does: in one new sandbox after the other. */
async function insist(tools: LifeTools, runtime: Runtime, pod: Pod): Promise<Running | undefined> {
  for (let tries = 4; tries > 0; tries--) {
    const running = await begin(tools, runtime, real(pod, tools, runtime))
    if (running || tools.isEnding()) return running
  }
  return undefined
}

async function stay(tools: LifeTools, running: Running): Promise<void> {
  await tools.wait(0, 1500)
  if (tools.random.chance(0.5)) await check(tools, running)
}

async function check({ random }: LifeTools, { runtime, sandbox, addresses }: Running): Promise<void> {
  if (runtime.has(sandbox)) await runtime.check(sandbox, addresses, runtime.way(random))
}

/** Its DEL comes; but when all ends it may stay, to be found then, or die or be forgotten without a DEL. */
async function end(tools: LifeTools, running: Running | undefined): Promise<void> {
  if (!running) return
  await stay(tools, running)
  const { runtime, sandbox } = running
  const fate = tools.isEnding() ? tools.random.next() : 0
  if (fate < 0.3) await delSurely(tools, running)
  else if (fate < 0.4) runtime.forget(sandbox)
  else if (fate < 0.6 && sandbox.netns !== undefined) await runtime.kill(sandbox)
}

/** As a runtime does it: until it is done. */
async function delSurely(
  tools: LifeTools,
  { runtime, sandbox }: Pick<Running, 'runtime' | 'sandbox'>,
): Promise<void> {
  for (let pause = 50; !tools.isOver(); pause = Math.min(pause * 2, 1000)) {
    if ((await runtime.del(sandbox, { way: runtime.way(tools.random) })) !== 'unknown') return
    await delay(pause)
  }
}

/** An ADD, CHECK and DEL, one of which the plugin does not do undisturbed. */
async function meddledWith(tools: LifeTools, kind: 'killed' | 'paused'): Promise<void> {
  const { random, runtime } = tools
  const meddling = { kind, after: random.between(5, 150), lasts: random.between(200, 3000) }
  const way = runtime.plugin(meddling)
  const inAdd = random.chance(0.6)
  const running = await begin(tools, runtime, passing(tools), inAdd ? way : undefined)
  if (!running) return
  await stay(tools, running)
  if (!inAdd) await running.runtime.del(running.sandbox, { way })
  await end(tools, running)
}

const newId = (random: SeededRandom): string =>
  Array.from({ length: 12 }, () => random.between(0, 15).toString(16)).join('')
