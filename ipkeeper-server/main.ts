import { basename } from 'node:path'
import { defaultPaths } from '../shared/paths.ts'
import { Problem } from '../shared/problem/problem.ts'
import { placeHere, problemHere } from './cli/framework/here.ts'
import type { ReadCall } from './cli/framework/command.ts'
import { dispatch, type CommandExit } from './cli/framework/dispatch.ts'
import { openTerminal } from './cli/framework/terminal.ts'
import { serverProgram, type ServerCommand } from './cli/ipkeeper-server.ts'

const { env, execPath } = process
const terminal = openTerminal(env, (name, handle) => process.on(name, handle))

/** Loaded only where it is called for: the daemon does not pay for what advises people, nor they for the daemon. */
const runTool = async (line: readonly string[]): Promise<CommandExit> =>
  await (await import('./cli/ipkeeperctl.ts')).runIpkeeperctl(line, terminal)

const runs: Readonly<Record<Exclude<ServerCommand, 'ctl'>, (call: ReadCall) => Promise<CommandExit>>> = {
  serve: async ({ options }) => {
    const { serve } = await import('./daemon/serve.ts')
    await serve({
      socket: options['socket'] ?? (env['IPKEEPER_SOCKET'] || defaultPaths.socket),
      stateDir: options['state-dir'] ?? (env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir),
      config: options['config'] ?? defaultPaths.config,
      configNamed: options['config'] !== undefined,
      store: options['store'],
      standardNode: options['node'] ?? (env['IPKEEPER_NODE'] || undefined),
    })
    return 0
  },
  'check-config': async call =>
    await (await import('./cli/commands/check-config.ts')).checkConfigCall(call, terminal),
  install: async call =>
    await (await import('./cli/commands/install.ts')).installCommand(call, terminal, execPath),
  uninstall: async call => await (await import('./cli/commands/install.ts')).uninstallCommand(call, terminal),
}

/** An unset variable of a script; '' would mean the working directory. */
function refuseEmpty({ options, positionals }: ReadCall): void {
  for (const [name, value] of Object.entries(options))
    if (value === '') throw new Problem('IPK_USAGE', `--${name} is empty`)
  if (positionals.includes('')) throw new Problem('IPK_USAGE', 'FILE is empty')
}

async function main(): Promise<CommandExit> {
  const line = process.argv.slice(2)
  if (basename(process.argv0) === 'ipkeeperctl') return await runTool(line)
  return await dispatch(serverProgram, line, terminal, {
    run: async ({ name }, call) => {
      refuseEmpty(call)
      try {
        return await runs[name as keyof typeof runs](call)
      } catch (error) {
        const { socket, 'state-dir': stateDir } = call.options
        throw problemHere(error, placeHere({ socket, stateDir }, terminal))
      }
    },
    passOn: { ctl: runTool },
  })
}

void main().then(code => {
  const fault = terminal.outFault()
  if (fault !== undefined) terminal.err(`error: cannot write to stdout (${fault})\n`)
  process.exit(fault === undefined ? code : 1)
})
