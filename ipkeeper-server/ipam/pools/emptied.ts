import { shellWord } from '../../../shared/text/shell-word.ts'

/** What to do so that nobody has an address of a pool, or of a network's own one, any more. */
export const emptied = (pool: string): string =>
  `delete the pods of: ipkeeperctl leases --pool ${shellWord(pool)}; then release what is kept: ipkeeperctl release --pool ${shellWord(pool)}`
