import { chooseInBlocks, blocksFor } from '../../ipkeeper-server/ipam/pools/block-affinity.ts'
import type { AddressTable } from './address-table.ts'

/** How a node chooses among free addresses: the address, or -1 when it sees none. */
export type Chooser = (table: AddressTable, node: number, asked: ReadonlySet<number>) => number

export type ChooserName = 'lowest free' | 'own stripe, then the next' | 'own stripes'

const nameOf = (node: number): string => `worker-${node + 1}`

/** The rule in force (the daemon's own code), and what it is to be compared with. */
export const choosers: Readonly<Record<ChooserName, Chooser>> = {
  'lowest free': (table, _, asked) => {
    const { first, last } = table.run
    return table.firstFree(table.toOffset(first), table.toOffset(last), asked)
  },
  'own stripe, then the next': (table, node, asked) => {
    const [begin] = blocksFor(nameOf(node), table.run)
    const [first, last] = [table.toOffset(table.run.first), table.toOffset(table.run.last)]
    const start = begin ? table.toOffset(begin.first) : first
    const found = table.firstFree(start, last, asked)
    return found < 0 ? table.firstFree(first, start - 1, asked) : found
  },
  'own stripes': (table, node, asked) => {
    const address = chooseInBlocks(nameOf(node), table.run, table.viewOf(node, asked))
    return address === undefined ? -1 : table.toOffset(address)
  },
}
