import { defaultPaths } from '../../shared/paths.ts'
import type { CommandRow } from './framework/command.ts'
import type { Program } from './framework/dispatch.ts'
import { helpOption } from './framework/options.ts'

const { socket, stateDir, config, binDir, confDir } = defaultPaths

/** The network configuration that comes with ipkeeper; deploy/cni. */
export const standardConflist = '10-ipkeeper.conflist'

/** Where a runtime has what is put in place. */
const folders = {
  'bin-dir': {
    value: 'DIR',
    offers: 'folder',
    text: `where the runtime has its plugins (default: ${binDir})`,
  },
  'conf-dir': {
    value: 'DIR',
    offers: 'folder',
    text: `where the runtime has its network configurations (default: ${confDir})`,
  },
} as const satisfies CommandRow['options']

/** What ipkeeper-server is called with. */
export const serverCommands = {
  serve: {
    name: 'serve',
    arguments: [],
    summary: 'run in the foreground; logs JSON lines on stderr; ends on SIGTERM',
    about: [
      'The daemon is ready when GET /v1/health on its socket answers 200. SIGHUP makes it read its configuration again; a change of the file does so as well. A second daemon with the same state folder does not start.',
    ],
    options: {
      socket: {
        ...{ value: 'PATH', offers: 'file' },
        text: `where the plugin asks (default: $IPKEEPER_SOCKET, else ${socket})`,
      },
      'state-dir': {
        ...{ value: 'DIR', offers: 'folder' },
        text: `where leases are kept (default: $IPKEEPER_STATE_DIR, else ${stateDir})`,
      },
      config: {
        ...{ value: 'FILE', offers: 'file' },
        text: `configuration (default: ${config}; need not exist)`,
      },
      store: {
        ...{ value: 'SPEC', offers: ['sqlite:', 'etcd:', 'kubernetes:', 'memory:'] },
        text: 'sqlite:PATH (default: in the state folder), for many nodes etcd:URL[,URL...] or kubernetes:, memory: for trying out',
      },
      node: {
        value: 'NAME',
        text: 'name of this node where the configuration has none (default: $IPKEEPER_NODE, else the hostname)',
      },
      help: helpOption,
    },
    examples: [
      { line: 'ipkeeper-server serve', does: 'serves this node, as its configuration says' },
      {
        line: 'ipkeeper-server serve --store etcd:https://10.0.0.1:2379,https://10.0.0.2:2379',
        does: 'shares its leases with other nodes',
      },
    ],
    exits: { 0: 'ended by SIGTERM', 1: 'could not start' },
  },
  ctl: {
    name: 'ctl',
    arguments: [{ name: 'COMMAND', text: 'as ipkeeperctl takes it, with its words', repeated: true }],
    summary: 'ask a running daemon; the same as ipkeeperctl',
    options: {},
    examples: [
      { line: 'ipkeeper-server ctl leases', does: 'lists leases where there is no link ipkeeperctl' },
    ],
  },
  'check-config': {
    name: 'check-config',
    arguments: [
      {
        ...{ name: 'FILE', optional: true, offers: 'file' },
        text: `the configuration (default: ${config})`,
      },
    ],
    summary: 'say what is wrong with a configuration file; needs no daemon',
    options: { help: helpOption },
    examples: [
      { line: 'ipkeeper-server check-config', does: `checks ${config}` },
      { line: 'ipkeeper-server check-config new.yaml', does: 'checks a file before it is put in force' },
    ],
    exits: { 0: 'a good configuration', 1: 'a bad one' },
  },
  install: {
    name: 'install',
    arguments: [],
    summary: 'put the plugin in place, then a network configuration, each by a rename',
    about: [
      'A runtime that starts the plugin, or reads its configuration, meanwhile gets the old file or the new one, whole. A configuration that the linter has an error for is not installed. Needs no daemon.',
    ],
    options: {
      ...folders,
      conflist: {
        ...{ value: 'FILE', offers: 'file' },
        text: 'the network configuration, which keeps its name (default: none)',
      },
      plugin: {
        ...{ value: 'FILE', offers: 'file' },
        text: 'the plugin (default: ipkeeper beside this executable)',
      },
      help: helpOption,
    },
    examples: [
      { line: 'ipkeeper-server install', does: `puts the plugin into ${binDir}` },
      {
        line: `ipkeeper-server install --bin-dir /usr/lib/cni --conflist deploy/cni/${standardConflist}`,
        does: 'the same elsewhere, and then a network that names it',
      },
    ],
    exits: { 0: 'installed, or there already', 1: 'not installed' },
  },
  uninstall: {
    name: 'uninstall',
    arguments: [],
    summary: 'put the network configuration aside, and remove the plugin if no pod needs it',
    about: [
      'The configuration gets a name that no runtime reads. The plugin stays as long as another configuration names it, or the daemon knows of a sandbox on this node: without it no sandbox can be ended.',
    ],
    options: {
      ...folders,
      conflist: { value: 'NAME', text: `name of the configuration (default: ${standardConflist})` },
      socket: {
        ...{ value: 'PATH', offers: 'file' },
        text: `of the daemon, which is asked for sandboxes (default: $IPKEEPER_SOCKET, else ${socket})`,
      },
      force: { text: 'remove the plugin although pods may need it' },
      help: helpOption,
    },
    examples: [{ line: 'ipkeeper-server uninstall', does: 'takes ipkeeper from a node that was drained' }],
    exits: { 0: 'removed', 1: 'the plugin stays, and why' },
  },
} as const satisfies Readonly<Record<string, CommandRow>>

export type ServerCommand = keyof typeof serverCommands

export const serverProgram: Program = {
  name: 'ipkeeper-server',
  title: "the daemon that keeps the addresses of this node's containers",
  usage: 'ipkeeper-server COMMAND [OPTIONS], ipkeeper-server COMMAND --help',
  rows: Object.values(serverCommands),
  shown: Object.keys(serverCommands),
  common: () => ({}),
  leading: { version: { text: 'print the version' }, help: helpOption },
}
