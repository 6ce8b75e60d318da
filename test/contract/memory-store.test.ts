import t from 'tap'
import { MemoryStore } from '../../ipkeeper-server/store/memory/memory-store.ts'
import { leaseStoreContract } from './lease-store-contract.ts'

leaseStoreContract(t, { open: async () => Promise.resolve(new MemoryStore()), reopen: undefined })
