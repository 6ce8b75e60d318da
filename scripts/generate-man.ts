/**
 * Writes docs/reference/man/*.8 from the tables of commands.
 *
 *   node scripts/generate-man.ts
 */
import { commands } from '../ipkeeper-server/cli/ipkeeperctl.ts'
import { commonOptions, helpOption, usualExits } from '../ipkeeper-server/cli/framework/options.ts'
import { serverCommands } from '../ipkeeper-server/cli/ipkeeper-server.ts'
import { supportedVersions, verbs } from '../shared/cni/versions.ts'
import { defaultPaths, stateFolders } from '../shared/paths.ts'
import { writeGenerated, type GeneratedFile } from './write-generated.ts'
import {
  commandPart,
  exampleItems,
  exitItems,
  item,
  manualPage,
  optionItems,
  paragraphs,
  section,
} from './manual-page.ts'

const { socket, stateDir, config, confDir, binDir } = defaultPaths

const variables = {
  IPKEEPER_SOCKET: `The socket, where nothing else names it; otherwise ${socket}.`,
  IPKEEPER_STATE_DIR: `The state folder, where nothing else names it; otherwise ${stateDir}.`,
} as const

const list = (rows: Readonly<Record<string, string>>): string =>
  Object.entries(rows)
    .map(([term, text]) => item(`\\fI${term.replaceAll('-', '\\-')}\\fR`, text))
    .join('')

const seeAlso = (name: string): string =>
  section(
    'SEE ALSO',
    `${['ipkeeper', 'ipkeeper-server', 'ipkeeperctl']
      .filter(other => other !== name)
      .map(other => `\\fB${other.replaceAll('-', '\\-')}\\fR(8)`)
      .join(',\n')}\n`,
  )

const tool = (): string =>
  manualPage('ipkeeperctl', 'inspect and control the ipkeeper daemon of a node', [
    section(
      'SYNOPSIS',
      '\\fBipkeeperctl\\fR \\fIcommand\\fR [\\fIarguments\\fR] [\\fIoptions\\fR]\n.br\n\\fBipkeeper\\-server ctl\\fR \\fIcommand\\fR ...\n',
    ),
    section(
      'DESCRIPTION',
      paragraphs([
        'ipkeeperctl asks the daemon of this node over its socket, as root. Commands that need no daemon say so; they inspect the node themselves.',
        'Listings are tables for people; with -o json they are the objects of the HTTP API, one document. Errors go to standard error: one line that says what is wrong, then what to type next.',
      ]),
    ),
    section('OPTIONS OF ALL COMMANDS', optionItems(commonOptions())),
    section('COMMANDS', commands.map(row => commandPart('ipkeeperctl', row)).join('')),
    section(
      'EXIT STATUS',
      `${exitItems(usualExits)}${paragraphs(['Commands whose codes 0 and 1 mean something else say so above.'])}`,
    ),
    section('ENVIRONMENT', list(variables)),
    section(
      'FILES',
      list({
        [socket]: 'the socket of the daemon',
        [stateDir]: 'its state folder',
        [confDir]: "the runtime's networks",
      }),
    ),
    seeAlso('ipkeeperctl'),
  ])

const server = (): string =>
  manualPage('ipkeeper-server', 'the daemon that keeps the addresses of a node', [
    section('SYNOPSIS', '\\fBipkeeper\\-server\\fR \\fIcommand\\fR [\\fIoptions\\fR]\n'),
    section(
      'DESCRIPTION',
      paragraphs([
        'One daemon on each node gives pods their addresses, keeps them, and takes them back. The plugin ipkeeper asks it over a unix socket; people use ipkeeperctl, which is the same executable under another name.',
      ]),
    ),
    section(
      'OPTIONS',
      optionItems({ version: { text: 'print the version and the commit, and exit' }, help: helpOption }),
    ),
    section(
      'COMMANDS',
      Object.values(serverCommands)
        .map(row => commandPart('ipkeeper-server', row))
        .join(''),
    ),
    section('EXIT STATUS', exitItems(usualExits)),
    section('ENVIRONMENT', list(variables)),
    section(
      'FILES',
      list({
        [config]: 'the configuration, which need not exist',
        [socket]: 'the socket, for root alone',
        [`${stateDir}/leases.db`]: 'who has which address',
        [`${stateDir}/${stateFolders.quarantine}`]:
          'files that could not be read, with the reason; never removed',
      }),
    ),
    seeAlso('ipkeeper-server'),
  ])

const plugin = (): string =>
  manualPage('ipkeeper', 'CNI plugin that gives pods fixed addresses', [
    section(
      'SYNOPSIS',
      `\\fBCNI_COMMAND=\\fR\\fIverb\\fR ... \\fBipkeeper\\fR < \\fIconfiguration\\fR\n.br\n\\fBipkeeper \\-\\-version\\fR\n`,
    ),
    section(
      'DESCRIPTION',
      paragraphs([
        'A container runtime starts the plugin for each verb; it is not meant to be started by hand. It asks ipkeeper-server and prints one JSON document: a Result, or an error with what to do.',
        'Named as "type" of a plugin in a conflist it wires the pod itself; named as "type" in the "ipam" of another plugin it gives that plugin the address.',
        `The verbs are ${verbs.join(', ')}; CNI ${supportedVersions[0]} to ${supportedVersions.at(-1) ?? ''}.`,
      ]),
    ),
    section(
      'ENVIRONMENT',
      list({
        CNI_COMMAND: 'The verb.',
        CNI_CONTAINERID: "The container's ID.",
        CNI_NETNS: "Path of the container's network namespace.",
        CNI_IFNAME: 'Interface in the container.',
        CNI_ARGS: 'What else the runtime knows: K8S_POD_NAMESPACE, K8S_POD_NAME, IP.',
        CNI_PATH: 'Folders of plugins, joined by ":".',
        ...variables,
      }),
    ),
    section(
      'FILES',
      list({
        [binDir]: 'where runtimes look for it',
        [confDir]: 'the conflists that name it',
        [`${stateDir}/${stateFolders.flights}`]: 'a record of each run; ipkeeperctl flights shows it',
        [`${stateDir}/${stateFolders.deferredDels}`]: 'DELs that wait for the daemon',
      }),
    ),
    section(
      'EXIT STATUS',
      [item('\\fB0\\fR', 'done'), item('\\fB1\\fR', 'failed; standard output says why')].join(''),
    ),
    section(
      'EXAMPLES',
      exampleItems([
        { line: 'CNI_COMMAND=VERSION ipkeeper </dev/null', does: 'Show the CNI versions that it supports' },
        {
          line: 'ipkeeperctl try /etc/cni/net.d/10-fixed.conflist',
          does: 'Run it by hand, as a runtime would',
        },
      ]),
    ),
    seeAlso('ipkeeper'),
  ])

export const manualPages: readonly GeneratedFile[] = [
  { path: 'docs/reference/man/ipkeeper.8', generate: plugin },
  { path: 'docs/reference/man/ipkeeper-server.8', generate: server },
  { path: 'docs/reference/man/ipkeeperctl.8', generate: tool },
]

if (import.meta.main) for (const page of manualPages) await writeGenerated(page)
