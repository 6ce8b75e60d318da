import { completeCall, completeWord } from './completion/complete-call.ts'
import type { CtlCommand } from './framework/command.ts'
import { dispatch, type CommandExit, type CommandProgram } from './framework/dispatch.ts'
import { commonOptions } from './framework/options.ts'
import { runCommand } from './framework/run-command.ts'
import type { Terminal } from './framework/terminal.ts'
import { serverProgram } from './ipkeeper-server.ts'
import { toolWords } from './other-words.ts'
import { aliveCommand, statusCommand } from './commands/status.ts'
import { auditCommand } from './commands/audit.ts'
import {
  cacheQuarantineCommand,
  cacheRepairCommand,
  cacheRestoreCommand,
  cacheScanCommand,
} from './commands/cache.ts'
import { bundleCommand } from './commands/bundle.ts'
import { checkConfigCommand } from './commands/check-config.ts'
import { completionCommand } from './commands/completion.ts'
import { backupCommand, restoreCommand } from './commands/backup.ts'
import { doctorCommand } from './commands/doctor.ts'
import { explainCommand } from './commands/explain.ts'
import { historyCommand } from './commands/history.ts'
import { forgetNodeCommand } from './commands/forget-node.ts'
import { importCommands } from './commands/import.ts'
import { flightsCommand } from './commands/flights.ts'
import { attachmentsCommand, leasesCommand } from './commands/leases.ts'
import { lintCommand } from './commands/lint.ts'
import { migrateCommand } from './commands/migrate.ts'
import { nodesCommand } from './commands/nodes.ts'
import { poolsCommand } from './commands/pools.ts'
import { releaseCommand } from './commands/release.ts'
import { rescueCommand } from './commands/rescue.ts'
import {
  moveCommand,
  reservationsCommand,
  reserveCommand,
  unreserveCommand,
} from './commands/reservations.ts'
import { toolInstallCommand } from './commands/tool-install.ts'
import { tryCommand } from './commands/try.ts'
import { whoCommand } from './commands/who.ts'
import { restoreUplinkCommand, uplinksCommand } from './commands/uplinks.ts'

/** In the order of the overview. */
export const commands: readonly CtlCommand[] = [
  leasesCommand,
  attachmentsCommand,
  poolsCommand,
  whoCommand,
  historyCommand,
  releaseCommand,
  reservationsCommand,
  moveCommand,
  reserveCommand,
  unreserveCommand,
  explainCommand,
  auditCommand,
  uplinksCommand,
  restoreUplinkCommand,
  statusCommand,
  nodesCommand,
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
  bundleCommand,
  lintCommand,
  checkConfigCommand,
  toolInstallCommand,
  completionCommand,
]

export const toolProgram: CommandProgram<CtlCommand> = {
  name: 'ipkeeperctl',
  title: 'inspect and control the ipkeeper daemon of this node',
  usage: 'ipkeeperctl COMMAND [ARGUMENTS] [OPTIONS]   (or: ipkeeper-server ctl COMMAND ...)',
  rows: commands,
  shown: ['leases', 'who', 'explain', 'doctor'],
  common: commonOptions,
  otherWords: toolWords,
  leading: commonOptions(),
}

/** Runs one call of ipkeeperctl and returns its exit code. */
export async function runIpkeeperctl(line: readonly string[], terminal: Terminal): Promise<CommandExit> {
  return await dispatch(toolProgram, line, terminal, {
    run: (command, call) => runCommand(command, call, { terminal, line }),
    passOn: {
      [completeWord]: async rest => {
        await completeCall(rest, terminal, { tool: toolProgram, server: serverProgram })
        return 0
      },
    },
  })
}
