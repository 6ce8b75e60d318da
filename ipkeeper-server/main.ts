import { writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { version } from '../shared/build-info.ts'
import { defaultPaths } from '../shared/paths.ts'
import { Problem, toProblem } from '../shared/problem/problem.ts'
import { nearestWord } from '../shared/text/nearest-word.ts'
import { readWords, type Words } from './cli/read-words.ts'
import type { Terminal } from './cli/terminal.ts'
import { checkConfig } from './config/check-config.ts'

const standardConflist = '10-ipkeeper.conflist'

const usage = `ipkeeper-server ${version}: the daemon that keeps the addresses of this node's containers

Usage:
  ipkeeper-server serve [OPTIONS]     run in the foreground; logs JSON lines on stderr; ends on SIGTERM
  ipkeeper-server ctl COMMAND ...     ask a running daemon; the same as ipkeeperctl
  ipkeeper-server check-config [FILE] say what is wrong with a configuration file; needs no daemon
  ipkeeper-server install [OPTIONS]   put the plugin in place, then a network configuration, each by a rename
  ipkeeper-server uninstall [OPTIONS] put that configuration aside, and remove the plugin if no pod needs it
  ipkeeper-server --version

Options of serve:
  --socket PATH      where the plugin asks (default: $IPKEEPER_SOCKET, else ${defaultPaths.socket})
  --state-dir DIR    where leases are kept (default: $IPKEEPER_STATE_DIR, else ${defaultPaths.stateDir})
  --config FILE      configuration (default: ${defaultPaths.config}; need not exist)
  --store SPEC       sqlite:PATH (default: in the state folder), for many nodes etcd:URL[,URL...] or kubernetes:,
                     memory: for trying out
  --node NAME        name of this node where the configuration has none (default: $IPKEEPER_NODE, else the hostname)

Options of install and uninstall:
  --bin-dir DIR      where the runtime has its plugins (default: ${defaultPaths.binDir})
  --conf-dir DIR     where the runtime has its network configurations (default: ${defaultPaths.confDir})
  --conflist FILE    install: this one, if it has no error (default: none);
                     uninstall: the one of this name (default: ${standardConflist})
  --plugin FILE      install: the plugin (default: ipkeeper beside this executable)
  --force            uninstall: remove the plugin although pods may need it

Exit codes: 0 ended by SIGTERM, or a good configuration; 1 could not start, or a bad one; 2 called wrongly.
`

/** Why stdout could not be written, such as ENOSPC. */
let unwritten: string | undefined

function write(fd: 1 | 2, text: string): void {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      // A pipe whose reader is slow is waited for; a reader that has gone needs no more text.
      if (code !== 'EAGAIN') {
        if (fd === 1 && code !== 'EPIPE') unwritten = String(code ?? error)
        return
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

const hint = 'see: ipkeeper-server --help'

/** Words after a command of ours; a complaint about them points to our own help. */
function ownWords(
  command: string,
  argv: readonly string[],
  {
    valued,
    own = [],
    takes,
  }: {
    valued: readonly string[]
    /** Options that take no value. */
    own?: readonly string[]
    takes: 'no arguments' | 'at most one FILE'
  },
): Words {
  try {
    const words = readWords(argv, { valued, flags: ['help', ...own], letters: { h: 'help' } })
    const extra = words.positionals[takes === 'no arguments' ? 0 : 1]
    if (extra !== undefined) throw new Problem('IPK_USAGE', `${command} takes ${takes}; got ${extra}`)
    for (const [name, value] of Object.entries(words.values)) {
      // An unset variable of a script; '' would mean the working directory.
      if (value === '') throw new Problem('IPK_USAGE', `--${name} is empty`)
    }
    return words
  } catch (error) {
    throw error instanceof Problem ? new Problem(error.code, error.message, { hint, cause: error }) : error
  }
}

function checkConfigWith(argv: readonly string[]): number {
  const { positionals, flags } = ownWords('check-config', argv, { valued: [], takes: 'at most one FILE' })
  if (flags.has('help')) {
    write(1, usage)
    return 0
  }
  const [path] = positionals
  if (path === '') throw new Problem('IPK_USAGE', 'FILE is empty', { hint })
  const { good, text } = checkConfig(path ?? defaultPaths.config, path !== undefined)
  write(good ? 1 : 2, text)
  return good ? 0 : 1
}

async function serveWith(argv: readonly string[]): Promise<number> {
  const { values, flags } = ownWords('serve', argv, {
    valued: ['socket', 'state-dir', 'config', 'store', 'node'],
    takes: 'no arguments',
  })
  if (flags.has('help')) {
    write(1, usage)
    return 0
  }
  const { serve } = await import('./serve.ts')
  await serve({
    socket: values['socket'] ?? (process.env['IPKEEPER_SOCKET'] || defaultPaths.socket),
    stateDir: values['state-dir'] ?? (process.env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir),
    config: values['config'] ?? defaultPaths.config,
    configNamed: values['config'] !== undefined,
    store: values['store'],
    standardNode: values['node'] ?? (process.env['IPKEEPER_NODE'] || undefined),
  })
  return 0
}

const folders = ['bin-dir', 'conf-dir', 'conflist'] as const

async function installWith(argv: readonly string[]): Promise<number> {
  const { values, flags } = ownWords('install', argv, {
    valued: [...folders, 'plugin'],
    takes: 'no arguments',
  })
  if (flags.has('help')) {
    write(1, usage)
    return 0
  }
  const { install } = await import('./install/install.ts')
  const done = await install({
    plugin: values['plugin'] ?? join(dirname(process.execPath), 'ipkeeper'),
    binDir: values['bin-dir'] ?? defaultPaths.binDir,
    confDir: values['conf-dir'] ?? defaultPaths.confDir,
    conflist: values['conflist'],
  })
  write(1, done)
  return 0
}

async function uninstallWith(argv: readonly string[]): Promise<number> {
  const { values, flags } = ownWords('uninstall', argv, {
    valued: [...folders, 'socket'],
    own: ['force'],
    takes: 'no arguments',
  })
  if (flags.has('help')) {
    write(1, usage)
    return 0
  }
  const { uninstall } = await import('./install/uninstall.ts')
  const { countAttachments } = await import('./cli/count-attachments.ts')
  const socket = values['socket'] ?? (process.env['IPKEEPER_SOCKET'] || defaultPaths.socket)
  const done = await uninstall({
    binDir: values['bin-dir'] ?? defaultPaths.binDir,
    confDir: values['conf-dir'] ?? defaultPaths.confDir,
    conflist: values['conflist'] ?? standardConflist,
    attachments: () => countAttachments(socket),
    force: flags.has('force'),
  })
  write(1, done)
  return 0
}

/** Loaded only where it is called for: the daemon does not pay for what advises people, nor they for the daemon. */
async function runCommand(argv: readonly string[], terminal: Terminal): Promise<number> {
  return await (await import('./cli/run-command.ts')).runCommand(argv, terminal)
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
    ...(process.stderr.isTTY && {
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
      return checkConfigWith(rest)
    case 'install':
      return await installWith(rest)
    case 'uninstall':
      return await uninstallWith(rest)
    case 'ctl':
      return await runCommand(rest, terminal)
    case '--version':
    case 'version':
      write(1, `ipkeeper-server ${version}\n`)
      return 0
    case '--help':
    case '-h':
    case 'help':
      write(1, usage)
      return 0
    case undefined:
      write(2, usage)
      return 2
    default: {
      const meant = nearestWord(first, ['serve', 'ctl', 'check-config', 'install', 'uninstall'])
      const text = `unknown command "${first}"${meant ? `; did you mean ${meant}?` : ''}`
      throw new Problem('IPK_USAGE', text, { hint })
    }
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
