/**
 * What becomes of the files of the embedded store, and what an operator does then. Each time either nothing is lost, or the
 * daemon says that something is wrong before it gives an address.
 */
import type { Mishap, MishapTools } from '../many-nodes/mishaps.ts'
import type { Machine } from './stage.ts'

export function ledgerMishaps(machines: readonly Machine[]): readonly Mishap[] {
  /** Changes the files of a daemon that does not run; puts them back where it refuses to start with them. */
  const whileDown = async (
    { random, withOne }: MishapTools,
    change: (machine: Machine) => Promise<unknown>,
  ): Promise<boolean> => {
    const machine = random.pick(machines)
    return await withOne(machine.node, async node => {
      await node.kill('SIGKILL')
      const sh = (script: string): Promise<string> =>
        machine.host.must('sh', ['-ec', script], {
          env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', at: node.stateDir },
        })
      await sh('mkdir "$at/aside" && cp -p "$at"/leases.db* "$at/aside"')
      await change(machine)
      try {
        await node.start()
      } catch {
        await sh('rm -f "$at"/leases.db* && mv "$at"/aside/* "$at"')
        await node.start()
      }
      await sh('rm -rf "$at/aside"')
    })
  }
  return [
    {
      kind: 'ledger removed',
      happen: ({ random, wait, withOne }) => {
        const machine = random.pick(machines)
        return withOne(machine.node, async node => {
          await machine.host.must('sh', ['-c', `rm "${node.stateDir}"/leases.db*`])
          await wait(300, 1500)
          const { exit, stdout, stderr } = await node.daemon().control('rescue')
          if (exit !== 0)
            throw new Error(`rescue of ${node.stateDir}: exit ${String(exit)}: ${stdout}${stderr}`)
          await wait(0, 300)
          await node.kill('SIGKILL')
          await node.start()
        })
      },
    },
    {
      kind: 'ledger emptied',
      happen: tools =>
        whileDown(tools, ({ host, node }) =>
          host.must('sh', ['-c', `truncate --size 0 "${node.stateDir}"/leases.db*`]),
        ),
    },
    {
      kind: 'byte flipped',
      happen: tools =>
        whileDown(tools, ({ host, node }) => {
          const file = `${node.stateDir}/leases.db${tools.random.chance(0.6) ? '-wal' : ''}`
          return host.must(process.execPath, ['-e', flipByte, file, String(tools.random.next())])
        }),
    },
  ]
}

/** Inverts one bit of a file, at a place that is a share of its length; what is not there stays away. */
const flipByte = `
const { existsSync, openSync, readSync, writeSync, fstatSync } = require('node:fs')
const [, path, share] = process.argv
if (existsSync(path)) {
  const file = openSync(path, 'r+')
  const { size } = fstatSync(file)
  const [place, byte] = [Math.floor(size * Number(share)), Buffer.alloc(1)]
  if (size > 0) {
    readSync(file, byte, 0, 1, place)
    byte[0] ^= 1 << (place % 8)
    writeSync(file, byte, 0, 1, place)
  }
}
`
