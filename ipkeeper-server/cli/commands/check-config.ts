import { checkConfigRow } from './check-config-row.ts'
import { command, type ReadCall } from '../framework/command.ts'
import { placeHere } from '../framework/here.ts'
import { connectDaemon, type DaemonClient } from '../framework/daemon-client.ts'
import type { CommandExit } from '../framework/dispatch.ts'
import type { Terminal } from '../framework/terminal.ts'
import { checkConfig, type ConfigCheck } from '../../config/check-config.ts'
import type { ConfigCheckReply } from '../../../shared/api/config.schema.ts'
import { defaultPaths } from '../../../shared/paths.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { remedyHere } from '../../../shared/remedy/place.ts'

/** What the daemon that runs says of a file that is valid as such. */
export type DaemonWord = ConfigCheckReply | { readonly notAsked: string }

export interface CheckedConfig {
  readonly file: ConfigCheck
  /** undefined where the file is not valid. */
  readonly daemon: DaemonWord | undefined
}

/** Checks the text, then asks the daemon, which is the only one to know what is in use. */
export async function checkedConfig(
  path: string | undefined,
  ask: (text: string, path: string) => Promise<ConfigCheckReply>,
): Promise<CheckedConfig> {
  const named = path ?? defaultPaths.config
  const file = checkConfig(named, path !== undefined)
  if (!file.good) return { file, daemon: undefined }
  try {
    return { file, daemon: await ask(file.content, named) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { file, daemon: { notAsked: error.message } }
  }
}

export const askWith =
  ({ ask }: Pick<DaemonClient, 'ask'>) =>
  async (text: string, path: string): Promise<ConfigCheckReply> =>
    (await ask('POST', '/v1/config/check', { text, path })) as ConfigCheckReply

export const isGoodConfig = ({ file, daemon }: CheckedConfig): boolean =>
  file.good && !(daemon && 'refused' in daemon && daemon.refused !== null)

function daemonLines(daemon: DaemonWord): readonly string[] {
  if ('notAsked' in daemon)
    return [
      `the daemon was not asked: ${daemon.notAsked}; whether it would leave out addresses in use is not known`,
    ]
  const { refused, atStart, added, changed, removed, notes } = daemon
  if (refused)
    return [
      `the daemon would refuse it: ${refused.message} [${refused.code}]`,
      ...(refused.details === '' ? [] : refused.details.split('\n').map(line => `  ${line}`)),
      `hint: ${refused.hint}`,
    ]
  const what = Object.entries({ added, changed, removed }).flatMap(([verb, pools]) =>
    pools.length === 0 ? [] : [`${verb}: ${pools.join(', ')}`],
  )
  const pools = what.length === 0 ? 'no pool changes' : what.join('; ')
  return [
    `the daemon would put it in force: ${pools}`,
    ...notes.map(note => `note: ${note}`),
    ...(atStart.length === 0
      ? []
      : [`only at its next start, because of ${atStart.join(', ')}: systemctl restart ipkeeper`]),
  ]
}

export function configText({ file, daemon }: CheckedConfig): string {
  return [file.text, ...(daemon ? daemonLines(daemon).map(line => `${line}\n`) : [])].join('')
}

export const checkConfigCommand = command<CheckedConfig>({
  ...checkConfigRow,
  examples: [
    { line: 'ipkeeperctl check-config', does: `Check ${defaultPaths.config}` },
    { line: 'ipkeeperctl check-config new.yaml', does: 'Check a file before it is used' },
  ],
  run: async (daemon, { positionals: [path] }) => {
    if (path === '') throw new Problem('IPK_USAGE', 'FILE is empty')
    return await checkedConfig(path, askWith(daemon))
  },
  print: configText,
  exitCode: checked => (isGoodConfig(checked) ? 0 : 1),
})

/** The same as a command of ipkeeper-server: what is wrong goes to stderr. */
export async function checkConfigCall(
  { positionals: [path], options }: ReadCall,
  terminal: Terminal,
): Promise<CommandExit> {
  const { socket } = options
  const daemon = connectDaemon(socket ?? (terminal.env['IPKEEPER_SOCKET'] || defaultPaths.socket))
  try {
    const checked = await checkedConfig(path, askWith(daemon))
    const isGood = isGoodConfig(checked)
    terminal[isGood ? 'out' : 'err'](
      remedyHere(configText(checked), placeHere({ socket, stateDir: undefined }, terminal)),
    )
    return isGood ? 0 : 1
  } finally {
    await daemon.close()
  }
}
