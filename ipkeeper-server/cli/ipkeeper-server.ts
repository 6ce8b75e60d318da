import { defaultPaths } from '../../shared/paths.ts'
import { checkConfigRow } from './commands/check-config-row.ts'
import type { CommandRow, Option } from './framework/command.ts'
import type { CommandProgram } from './framework/dispatch.ts'
import { helpOption } from './framework/options.ts'
import { serverWords } from './other-words.ts'

const { socket, stateDir, config, binDir, confDir } = defaultPaths

/** The network configuration that comes with ipkeeper; deploy/cni. */
export const standardConflist = '10-ipkeeper.conflist'

/** Where a runtime has what is put in place. */
const folders = {
  'bin-dir': {
    value: 'DIR',
    offers: 'folder',
    text: `the runtime's plugin folder (default: ${binDir})`,
  },
  'conf-dir': {
    value: 'DIR',
    offers: 'folder',
    text: `the runtime's folder of network configurations (default: ${confDir})`,
  },
} as const satisfies CommandRow['options']

const askedSocket = {
  ...{ value: 'PATH', offers: 'file' },
  text: `socket of the daemon that is asked (default: $IPKEEPER_SOCKET, else ${socket})`,
} as const satisfies Option

/** What ipkeeper-server is called with. */
export const serverCommands = {
  serve: {
    name: 'serve',
    arguments: [],
    summary: 'Run the daemon in the foreground; it logs JSON lines to stderr and stops on SIGTERM or SIGINT',
    about: [
      'The daemon is ready when GET /v1/health on its socket answers 200. It reloads its configuration on SIGHUP, and when the file changes. A second daemon with the same state folder does not start.',
    ],
    options: {
      socket: {
        ...{ value: 'PATH', offers: 'file' },
        text: `the socket that the plugin connects to (default: $IPKEEPER_SOCKET, else ${socket})`,
      },
      'state-dir': {
        ...{ value: 'DIR', offers: 'folder' },
        text: `folder for leases and other state (default: $IPKEEPER_STATE_DIR, else ${stateDir})`,
      },
      config: {
        ...{ value: 'FILE', offers: 'file' },
        text: `configuration file (default: ${config}; it need not exist)`,
      },
      store: {
        ...{ value: 'SPEC', offers: ['sqlite:', 'etcd:', 'kubernetes:', 'memory:'] },
        text: 'sqlite:PATH (default: in the state folder); etcd:URL[,URL...] or kubernetes: for many nodes; memory: for experiments',
      },
      node: {
        value: 'NAME',
        text: 'name of this node, if the configuration has none (default: $IPKEEPER_NODE, else the hostname)',
      },
      help: helpOption,
    },
    examples: [
      { line: 'ipkeeper-server serve', does: 'Serve this node with the default configuration file' },
      {
        line: 'ipkeeper-server serve --store etcd:https://10.0.0.1:2379,https://10.0.0.2:2379',
        does: 'Share leases with other nodes in etcd',
      },
    ],
    exits: { 0: 'stopped by a signal', 1: 'could not start' },
  },
  ctl: {
    name: 'ctl',
    arguments: [
      { name: 'COMMAND', text: 'a command of ipkeeperctl, with its arguments and options', repeated: true },
    ],
    summary: 'Run a command of ipkeeperctl',
    options: {},
    examples: [
      { line: 'ipkeeper-server ctl leases', does: 'List leases on a machine without the ipkeeperctl link' },
    ],
  },
  'check-config': {
    ...checkConfigRow,
    options: { socket: askedSocket, help: helpOption },
    examples: [
      { line: 'ipkeeper-server check-config', does: `Check ${config}` },
      { line: 'ipkeeper-server check-config new.yaml', does: 'Check a file before it is used' },
    ],
  },
  install: {
    name: 'install',
    arguments: [],
    summary: 'Install the plugin, then a network configuration, each by an atomic rename',
    about: [
      'A runtime that starts the plugin or reads the configuration meanwhile gets the whole old file or the whole new one. A configuration with lint errors is not installed. Needs no daemon.',
      'To see before what it would change, and what is in its way: ipkeeperctl install --check',
    ],
    options: {
      ...folders,
      conflist: {
        ...{ value: 'FILE', offers: 'file' },
        text: 'network configuration to install under its own name (default: none)',
      },
      plugin: {
        ...{ value: 'KIND', offers: ['auto', 'node', 'static'] },
        text: 'node, static, the path of another one, or auto: static where the plugin with Node lacks a library (default: auto)',
      },
      'host-root': {
        ...{ value: 'DIR', offers: 'folder' },
        text: "in a container: folder at which the host's root, or its /usr alone, can be seen; auto looks there",
      },
      help: helpOption,
    },
    examples: [
      { line: 'ipkeeper-server install', does: `Install the plugin into ${binDir}` },
      {
        line: `ipkeeper-server install --bin-dir /usr/lib/cni --conflist deploy/cni/${standardConflist}`,
        does: 'Install the plugin into another folder, then a network configuration that uses it',
      },
      {
        line: 'ipkeeper-server install --plugin static',
        does: 'Install the plugin without Node in the place of the other',
      },
    ],
    exits: { 0: 'installed, or already up to date', 1: 'not installed' },
  },
  uninstall: {
    name: 'uninstall',
    arguments: [],
    summary: 'Disable the network configuration, and remove the plugin if no pod needs it',
    about: [
      'The configuration is renamed so that no runtime reads it. The plugin stays while another configuration uses it or the daemon has a sandbox on this node, because no sandbox can be deleted without it.',
    ],
    options: {
      ...folders,
      conflist: { value: 'NAME', text: `name of the configuration (default: ${standardConflist})` },
      socket: {
        ...{ value: 'PATH', offers: 'file' },
        text: `socket of the daemon that knows the sandboxes (default: $IPKEEPER_SOCKET, else ${socket})`,
      },
      force: { text: 'remove the plugin even if pods may need it' },
      help: helpOption,
    },
    examples: [{ line: 'ipkeeper-server uninstall', does: 'Remove ipkeeper from a drained node' }],
    exits: { 0: 'removed', 1: 'the plugin stays; the error says why' },
  },
} as const satisfies Readonly<Record<string, CommandRow>>

export type ServerCommand = keyof typeof serverCommands

export const serverProgram: CommandProgram = {
  name: 'ipkeeper-server',
  title: "the daemon that keeps the addresses of this node's containers",
  usage: 'ipkeeper-server COMMAND [OPTIONS], ipkeeper-server COMMAND --help',
  rows: Object.values(serverCommands),
  shown: Object.keys(serverCommands),
  common: () => ({}),
  otherWords: serverWords,
  leading: { version: { text: 'print the version' }, help: helpOption },
}
