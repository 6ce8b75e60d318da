import { dirname } from 'node:path'
import { runChecks, type CheckReport } from '../../diagnose/doctor/check-result.ts'
import { probeNode } from '../../diagnose/doctor/probe-node.ts'
import { installChecks } from '../../install/install-checks.ts'
import type { Installation } from '../../install/install.ts'
import { describeNetwork, type FirstNetwork } from '../../install/first-network.ts'
import { wouldInstall, type PlannedFile } from '../../install/would-install.ts'
import { missingLedgerIn } from '../../open-ledger/ledger-traces.ts'
import { defaultPaths } from '../../../shared/paths.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { shellLine } from '../../../shared/text/shell-word.ts'
import { visible } from '../../../shared/text/visible.ts'
import { command, type ReadCall } from '../framework/command.ts'
import { askOnce } from '../framework/daemon-client.ts'
import { placeHere } from '../framework/here.ts'
import { serverCommands } from '../ipkeeper-server.ts'
import { checkHere, paintMark, printChecks } from './check-reports.ts'
import { readWanted } from './install.ts'

interface InstallReport {
  /** What would be written. */
  readonly files: readonly PlannedFile[]
  /** What pods get now, and what they would get; null where they get nothing. */
  readonly network: { readonly before: FirstNetwork | null; readonly after: FirstNetwork | null }
  readonly checks: readonly CheckReport[]
  /** What installs it. */
  readonly command: string
}

/** The options of what installs; --help is one of every command here. */
const options = Object.fromEntries(
  Object.entries(serverCommands.install.options).filter(([name]) => name !== 'help'),
)

const networkText = (network: FirstNetwork | null): string =>
  network === null ? 'nothing' : `${network.file} (${describeNetwork(network)})`

/** The command that was called, without the word that keeps it from changing anything. */
const callOf = ({ options: given }: ReadCall): string =>
  shellLine([
    ...['ipkeeper-server', 'install'],
    ...Object.keys(options).flatMap(name => (given[name] === undefined ? [] : [`--${name}`, given[name]])),
  ])

export const toolInstallCommand = command<InstallReport>({
  name: 'install',
  arguments: [],
  summary: 'Show what an installation would change, and what is in its way; needs no daemon',
  about: [
    'Nothing is changed. ipkeeper-server install, with the same options, installs.',
    'It names the files that would be written, the network that pods get now and the one that they would get, and looks at folders, room, the configuration of the runtime, the conflist, the kernel, and the daemon.',
  ],
  options: { check: { text: 'only check, which is all that this command does' }, ...options },
  examples: [
    {
      line: 'ipkeeperctl install --check --conflist deploy/cni/10-ipkeeper.conflist',
      does: 'Check whether this node is ready for the plugin and this network',
    },
    { line: 'ipkeeperctl install --check -o json', does: 'Check for the plugin alone, for a script' },
  ],
  exits: { 0: 'nothing is in the way', 1: 'something is in the way, and each check says what to do' },
  run: async (daemon, call, terminal) => {
    if (!call.flags.has('check'))
      throw new Problem(
        'IPK_USAGE',
        'install needs --check here: this program only says what would be done',
        {
          hint: `to install: ${callOf(call)}; to see what would be done: ipkeeperctl install --check`,
        },
      )
    const wanted: Installation = readWanted(call, dirname(process.execPath))
    const stateDir = terminal.env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir
    const node = await probeNode({
      ...{ socket: daemon.socket, stateDir, confDir: wanted.confDir, binDir: wanted.binDir },
      ask: (path, body) => askOnce(daemon.socket, path, body),
      readFlights: () => [],
      missingLedger: missingLedgerIn,
    })
    const site = await wouldInstall(wanted, node, call.options['host-root'])
    const place = placeHere({ socket: daemon.socket, stateDir }, terminal)
    return {
      files: site.files,
      network: { before: site.before ?? null, after: site.after.first ?? null },
      checks: (await runChecks(installChecks, site)).map(report => checkHere(report, place)),
      command: callOf(call),
    }
  },
  exitCode: ({ checks }) => (checks.some(({ state }) => state === 'fail') ? 1 : 0),
  print: ({ files, network: { before, after }, checks, command: line }, paint) =>
    [
      ...files.map(({ path, change, what }) => `${change.padEnd(8)}  ${path}  (${what})`),
      `pods get now: ${networkText(before)}`,
      `pods would get: ${networkText(after)}`,
      ...printChecks(checks),
      `nothing was changed; to install: ${line}`,
    ]
      .map(text => `${paintMark(visible(text), paint)}\n`)
      .join(''),
})
