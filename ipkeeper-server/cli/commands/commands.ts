import type { Command } from '../framework/command.ts'
import { aliveCommand } from './alive.ts'
import { auditCommand } from './audit.ts'
import { cacheQuarantineCommand, cacheRepairCommand, cacheRestoreCommand, cacheScanCommand } from './cache.ts'
import { completionCommand } from './completion.ts'
import { backupCommand, restoreCommand } from './backup.ts'
import { doctorCommand } from './doctor.ts'
import { explainCommand } from './explain.ts'
import { historyCommand, releaseCommand, whoCommand } from './addresses.ts'
import { forgetNodeCommand } from './forget-node.ts'
import { importCommands } from './import.ts'
import { flightsCommand } from './flights.ts'
import { attachmentsCommand, leasesCommand } from './leases.ts'
import { lintCommand } from './lint.ts'
import { migrateCommand } from './migrate.ts'
import { poolsCommand } from './pools.ts'
import { rescueCommand } from './rescue.ts'
import { reservationsCommand, reserveCommand, unreserveCommand } from './reservations.ts'
import { statusCommand } from './status.ts'
import { tryCommand } from './try.ts'
import { restoreUplinkCommand, uplinksCommand } from './uplinks.ts'

/** In the order of the overview. */
export const commands: readonly Command[] = [
  leasesCommand,
  attachmentsCommand,
  poolsCommand,
  whoCommand,
  historyCommand,
  releaseCommand,
  reservationsCommand,
  reserveCommand,
  unreserveCommand,
  explainCommand,
  auditCommand,
  uplinksCommand,
  restoreUplinkCommand,
  statusCommand,
  forgetNodeCommand,
  aliveCommand,
  flightsCommand,
  tryCommand,
  cacheScanCommand,
  cacheRepairCommand,
  cacheQuarantineCommand,
  cacheRestoreCommand,
  ...importCommands,
  backupCommand,
  restoreCommand,
  rescueCommand,
  migrateCommand,
  doctorCommand,
  lintCommand,
  completionCommand,
]
