import type { Command } from './command.ts'
import { aliveCommand } from './commands/alive.ts'
import { auditCommand } from './commands/audit.ts'
import {
  cacheQuarantineCommand,
  cacheRepairCommand,
  cacheRestoreCommand,
  cacheScanCommand,
} from './commands/cache.ts'
import { completionCommand } from './commands/completion.ts'
import { backupCommand, restoreCommand } from './commands/backup.ts'
import { doctorCommand } from './commands/doctor.ts'
import { explainCommand } from './commands/explain.ts'
import { historyCommand, releaseCommand, whoCommand } from './commands/addresses.ts'
import { forgetNodeCommand } from './commands/forget-node.ts'
import { importCommands } from './commands/import.ts'
import { flightsCommand } from './commands/flights.ts'
import { attachmentsCommand, leasesCommand } from './commands/leases.ts'
import { lintCommand } from './commands/lint.ts'
import { migrateCommand } from './commands/migrate.ts'
import { poolsCommand } from './commands/pools.ts'
import { rescueCommand } from './commands/rescue.ts'
import { reservationsCommand, reserveCommand, unreserveCommand } from './commands/reservations.ts'
import { statusCommand } from './commands/status.ts'
import { tryCommand } from './commands/try.ts'
import { restoreUplinkCommand, uplinksCommand } from './commands/uplinks.ts'

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
