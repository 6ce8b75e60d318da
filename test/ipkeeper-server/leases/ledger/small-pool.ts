import type { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'
import type { FragileStore } from '../../store/fragile-store.ts'
import { poolFrom } from '../test-service.ts'

export const two = { segment: 'default', address: '10.0.0.2' }
const [[range] = []] = poolFrom('net', ['10.0.0.0/29']).rangeSets
const run = range!.usable[0]!

/** The last byte of the lowest free address of 10.0.0.0/29. */
export const lowest = (ledger: Ledger): number | undefined => {
  const address = ledger.lowestFree('default', 4, run)
  return address && Number(address.value & 0xffn)
}

/** A commit that the test lets go on when it likes. */
export function gate(store: FragileStore): { readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  store.delay = async () => {
    await promise
  }
  return {
    open: () => {
      store.delay = async () => Promise.resolve()
      resolve(undefined)
    },
  }
}
