import { writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isatty } from 'node:tty'
import { version, versionText } from '../shared/build-info.ts'
import { defaultPaths } from '../shared/paths.ts'
import { Problem, toProblem } from '../shared/problem/problem.ts'
import { nearestWord } from '../shared/text/nearest-word.ts'
import { readCall, type CommandRow, type ReadCall } from './cli/framework/command-row.ts'
import { helpOption } from './cli/framework/options.ts'
import { helpOf, overviewOf } from './cli/framework/render-help.ts'
import { serverCommands, standardConflist } from './cli/commands/server-commands.ts'
import type { Terminal } from './cli/framework/terminal.ts'

const rows: readonly CommandRow[] = Object.values(serverCommands)

const overview = (): string =>
  overviewOf(
    `ipkeeper-server ${version}: the daemon that keeps the addresses of this node's containers`,
    'ipkeeper-server COMMAND [OPTIONS], ipkeeper-server COMMAND --help',
    rows,
    { version: { text: 'the version' }, help: helpOption },
    rows.flatMap(({ examples }) => examples.slice(0, 1)),
  )

/** Why stdout could not be written, such as ENOSPC. */
let unwritten: string | undefined
/** Nobody reads stdout any more. */
let readerGone = false

function write(fd: 1 | 2, text: string): void {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      // A pipe whose reader is slow is waited for; a reader that has gone needs no more text.
      if (code !== 'EAGAIN') {
        if (fd === 1 && code === 'EPIPE') readerGone = true
        else if (fd === 1) unwritten = String(code ?? error)
        return
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

const hint = 'see: ipkeeper-server --help'

function unknownCommand(name: string): Problem {
  if (name.startsWith('-')) return new Problem('IPK_USAGE', `unknown option ${name}`, { hint })
  const meant = nearestWord(name, Object.keys(serverCommands))
  const text = `unknown command "${name}"${meant ? `; did you mean ${meant}?` : ''}`
  return new Problem('IPK_USAGE', text, { hint })
}

function helpOfOwn(name: string): string {
  const row = rows.find(candidate => candidate.name === name)
  if (!row) throw unknownCommand(name)
  return helpOf('ipkeeper-server', row, {})
}

/** Words after a command of ours; a complaint about them points to our own help. undefined: they asked for the help. */
function readOwn(row: CommandRow, argv: readonly string[]): ReadCall | undefined {
  try {
    const call = readCall(row, argv, row.name)
    if (!call.flags.has('help')) return call
    write(1, helpOf('ipkeeper-server', row, {}))
    return undefined
  } catch (error) {
    const hint = `see: ipkeeper-server ${row.name} --help`
    throw error instanceof Problem ? new Problem(error.code, error.message, { hint, cause: error }) : error
  }
}

async function checkConfigWith(argv: readonly string[]): Promise<number> {
  const call = readOwn(serverCommands['check-config'], argv)
  if (!call) return 0
  const [path] = call.positionals
  if (path === '') throw new Problem('IPK_USAGE', 'FILE is empty', { hint })
  const { checkConfig } = await import('./config/check-config.ts')
  const { good, text } = checkConfig(path ?? defaultPaths.config, path !== undefined)
  write(good ? 1 : 2, text)
  return good ? 0 : 1
}

/** An unset variable of a script; '' would mean the working directory. */
function refuseEmpty({ options }: ReadCall): void {
  for (const [name, value] of Object.entries(options))
    if (value === '') throw new Problem('IPK_USAGE', `--${name} is empty`, { hint })
}

async function serveWith(argv: readonly string[]): Promise<number> {
  const call = readOwn(serverCommands.serve, argv)
  if (!call) return 0
  const { options } = call
  refuseEmpty(call)
  const { serve } = await import('./daemon/serve.ts')
  await serve({
    socket: options['socket'] ?? (process.env['IPKEEPER_SOCKET'] || defaultPaths.socket),
    stateDir: options['state-dir'] ?? (process.env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir),
    config: options['config'] ?? defaultPaths.config,
    configNamed: options['config'] !== undefined,
    store: options['store'],
    standardNode: options['node'] ?? (process.env['IPKEEPER_NODE'] || undefined),
  })
  return 0
}

async function installWith(argv: readonly string[]): Promise<number> {
  const call = readOwn(serverCommands.install, argv)
  if (!call) return 0
  const { options } = call
  refuseEmpty(call)
  const { install } = await import('./install/install.ts')
  const done = await install({
    plugin: options['plugin'] ?? join(dirname(process.execPath), 'ipkeeper'),
    binDir: options['bin-dir'] ?? defaultPaths.binDir,
    confDir: options['conf-dir'] ?? defaultPaths.confDir,
    conflist: options['conflist'],
  })
  write(1, done)
  return 0
}

async function uninstallWith(argv: readonly string[]): Promise<number> {
  const call = readOwn(serverCommands.uninstall, argv)
  if (!call) return 0
  const { options, flags } = call
  refuseEmpty(call)
  const { uninstall } = await import('./install/uninstall.ts')
  const { countAttachments } = await import('./cli/commands/count-attachments.ts')
  const socket = options['socket'] ?? (process.env['IPKEEPER_SOCKET'] || defaultPaths.socket)
  const done = await uninstall({
    binDir: options['bin-dir'] ?? defaultPaths.binDir,
    confDir: options['conf-dir'] ?? defaultPaths.confDir,
    conflist: options['conflist'] ?? standardConflist,
    attachments: () => countAttachments(socket),
    force: flags.has('force'),
  })
  write(1, done)
  return 0
}

/** Loaded only where it is called for: the daemon does not pay for what advises people, nor they for the daemon. */
async function runCommand(argv: readonly string[], terminal: Terminal): Promise<number> {
  return await (await import('./cli/framework/run-command.ts')).runCommand(argv, terminal)
}

async function main(): Promise<number> {
  const [first, ...rest] = process.argv.slice(2)
  const control = basename(process.argv0) === 'ipkeeperctl'
  const terminal = {
    env: process.env,
    out: (text: string) => {
      write(1, text)
    },
    err: (text: string) => {
      write(2, text)
    },
    interruption: () => {
      const interruption = new AbortController()
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        process.on(name, () => {
          interruption.abort()
        })
      }
      return interruption.signal
    },
    isTerminal: { out: isatty(1), err: isatty(2) },
    readerGone: () => readerGone,
    ...(isatty(2) && {
      progress: (text: string) => {
        write(2, `\r\u001b[K${text}`)
      },
    }),
  }
  if (control) return await runCommand(process.argv.slice(2), terminal)
  switch (first) {
    case 'serve':
      return await serveWith(rest)
    case 'check-config':
      return await checkConfigWith(rest)
    case 'install':
      return await installWith(rest)
    case 'uninstall':
      return await uninstallWith(rest)
    case 'ctl':
      return await runCommand(rest, terminal)
    case '--version':
    case 'version':
      write(1, `ipkeeper-server ${versionText}\n`)
      return 0
    case '--help':
    case '-h':
    case 'help':
      write(1, first === 'help' && rest[0] !== undefined ? helpOfOwn(rest[0]) : overview())
      return 0
    case undefined:
      write(2, overview())
      return 2
    default:
      throw unknownCommand(first)
  }
}

main().then(
  code => {
    if (unwritten !== undefined) write(2, `error: cannot write to stdout (${unwritten})\n`)
    process.exit(unwritten === undefined ? code : 1)
  },
  (error: unknown) => {
    const problem = toProblem(error)
    const details = problem.details === '' ? '' : `  ${problem.details.replaceAll('\n', '\n  ')}\n`
    write(2, `error: ${problem.message} [${problem.code}]\n${details}hint: ${problem.hint}\n`)
    process.exit(problem.code === 'IPK_USAGE' ? 2 : 1)
  },
)
