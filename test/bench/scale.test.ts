/** That docs/operations/scale.generated.md is what the simulation says, and that the simulation chooses as the daemon does. */
import { join } from 'node:path'
import t from 'tap'
import { AddressTable } from '../../bench/scale/address-table.ts'
import { choosers } from '../../bench/scale/choosers.ts'
import { SeededRandom } from '../rigs/seeded-random.ts'
import { leaseKey, type LeaseRecord } from '../../ipkeeper-server/ipam/records/records.ts'
import { Ledger } from '../../ipkeeper-server/leases/ledger/ledger.ts'
import { MemoryStore } from '../../ipkeeper-server/store/memory/memory-store.ts'
import { formatAddress } from '../../shared/net/address.ts'
import { lease } from '../rigs/records.ts'
import { runProgram } from '../rigs/run-program.ts'
import { sharedAspect } from '../rigs/shared-aspect.ts'

const root = join(import.meta.dirname, '..', '..')

t.test('the tables are fresh', { timeout: 300_000 }, async t => {
  const main = join(root, 'bench', 'scale', 'main.ts')
  const { exit, stderr } = await runProgram(process.execPath, [main, '--check'], { timeoutMs: 290_000 })
  t.equal(exit, 0, stderr)
})

t.test('a simulated node chooses what a ledger chooses', async t => {
  const run = { first: 0x0a160002n, last: 0x0a1605fen }
  const shared = sharedAspect()
  const random = new SeededRandom(3)
  const table = new AddressTable(run)
  const names = ['worker-1', 'worker-2', 'worker-3'] as const
  const store = Object.assign(new MemoryStore(), { shared })
  const present: LeaseRecord[] = []
  for (let round = 0; round < 40; round++) {
    for (let pod = 0; pod < 30; pod++) {
      const node = Math.floor(random.next() * names.length)
      const choice = choosers['own stripes'](table, node, new Set())
      if (choice < 0) continue
      table.take(choice, node)
      const address = formatAddress({ family: 4, value: 0x0a160000n + BigInt(choice) })
      const record = lease(address, 1, { node: names[node] ?? '' })
      present.push(record)
      await store.commit([{ kind: 'lease', key: leaseKey(record), expect: null, record }])
    }
    for (const [node, name] of names.entries()) {
      const ledger = await Ledger.open(store, Date.now, name)
      const chosen = ledger.lowestFree('default', 4, run)?.value
      const simulated = choosers['own stripes'](table, node, new Set())
      if (chosen === undefined) t.equal(simulated, -1)
      else t.equal(simulated, Number(chosen - 0x0a160000n), `${present.length} taken, ${name}`)
    }
  }
})
