import { defaultPaths } from '../../shared/paths.ts'
import type { CommandRow } from './command-row.ts'
import { helpOption } from './options.ts'

const { socket, stateDir, config } = defaultPaths

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
} as const satisfies Readonly<Record<string, CommandRow>>
