/** What goes wrong with a machine: power, name, clock, disk, and what lies in its folders. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Mishap } from '../many-nodes/mishaps.ts'
import { until } from '../rigs/poll.ts'
import type { Runtime } from './runtime.ts'
import type { Machine } from './stage.ts'

const [hour, year] = [3600, 365 * 86_400]

export function machineMishaps(runtimes: readonly Runtime[]): readonly Mishap[] {
  const machines = runtimes.map(({ machine }) => machine)
  let renamed = 0
  return [
    {
      kind: 'node rebooted',
      happen: ({ random, wait, withOne }) =>
        withOneRuntime(random.pick(runtimes), withOne, runtime => runtime.reboot(() => wait(0, 1500))),
    },
    {
      kind: 'node renamed',
      happen: ({ random, wait, withOne }) =>
        withMachine(random.pick(machines), withOne, async ({ node, name }) => {
          await node.kill(random.chance(0.5) ? 'SIGTERM' : 'SIGKILL')
          node.rename(`${name}-${++renamed}`)
          await node.start()
          if (random.chance(0.5)) return
          await wait(1000, 3000)
          await node.kill()
          node.rename(name)
          await node.start()
        }),
    },
    ...['ahead', 'back'].map((way): Mishap => ({
      kind: `clock set ${way}`,
      happen: async ({ random, wait, withOne }) => {
        const { node, clock } = random.pick(machines)
        if (clock === undefined) return false
        const seconds = random.pick([hour, 2 * year]) * (way === 'ahead' ? 1 : -1)
        return await withOne(node, async () => {
          clock.move(seconds)
          await wait(500, 2000)
          if (random.chance(0.5)) {
            await node.kill()
            await node.start()
          }
          // Or it stays so until all is over.
          if (random.chance(0.4)) clock.move(0)
        })
      },
    })),
    {
      kind: 'disk full',
      happen: ({ random, wait, withOne }) =>
        withMachine(random.pick(machines), withOne, async ({ disk, node }) => {
          await disk.fill()
          try {
            await wait(800, 2500)
            if (random.chance(0.5)) {
              await node.kill()
              await node.start()
              await wait(300, 1000)
            }
          } finally {
            await disk.makeRoom()
          }
          await node.start()
        }),
    },
    {
      kind: 'disk frozen',
      happen: ({ random, withOne }) =>
        withOneRuntime(random.pick(runtimes), withOne, runtime =>
          runtime.freezeDisk(random.chance(0.5) ? random.between(500, 2500) : random.between(8000, 9000)),
        ),
    },
    {
      kind: 'socket removed',
      happen: ({ random, withOne }) =>
        withMachine(random.pick(machines), withOne, async ({ host, node }) => {
          await host.must('rm', [node.socket])
          await until(
            'there is a socket again',
            async () => (await host.run('test', ['-S', node.socket])).exit === 0,
          )
        }),
    },
    {
      kind: 'queue folder removed',
      happen: async ({ random, withOne }) => {
        const machine = random.pick(machines)
        let gone = false
        const free = await withMachine(machine, withOne, async ({ host, node }) => {
          // Not with what waits in it: that would be lost, and no daemon could know.
          gone = (await host.run('rmdir', [`${node.stateDir}/deferred-dels`])).exit === 0
          await delay(gone ? 1500 : 0)
        })
        return free && gone
      },
    },
  ]
}

type WithOne = Parameters<Mishap['happen']>[0]['withOne']

/** Mishaps of daemons have the node for their thing, and so have those of machines. */
const withMachine = (
  machine: Machine,
  withOne: WithOne,
  work: (machine: Machine) => Promise<void>,
): Promise<boolean> => withOne(machine.node, () => work(machine))

const withOneRuntime = (
  runtime: Runtime,
  withOne: WithOne,
  work: (runtime: Runtime) => Promise<void>,
): Promise<boolean> => withOne(runtime.machine.node, () => work(runtime))
