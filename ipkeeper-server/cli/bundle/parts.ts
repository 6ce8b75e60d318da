import { defaultPaths } from '../../../shared/paths.ts'
import { remedyHere } from '../../../shared/remedy/place.ts'
import { readConfDir } from '../../conf-dir/read-conf-dir.ts'
import { shareableFile, shareableKept, type ShareableConfig } from '../../config/shareable-config.ts'
import { auditCommand } from '../commands/audit.ts'
import { checkConfigCommand } from '../commands/check-config.ts'
import { doctorCommand } from '../commands/doctor.ts'
import { flightsCommand } from '../commands/flights.ts'
import { lintCommand } from '../commands/lint.ts'
import { nodesCommand } from '../commands/nodes.ts'
import { poolsCommand } from '../commands/pools.ts'
import { statusCommand } from '../commands/status.ts'
import type { CtlCommand, ReadCall } from '../framework/command.ts'
import type { DaemonClient } from '../framework/daemon-client.ts'
import { jsonText, yamlText } from '../framework/document-text.ts'
import { noPaint } from '../framework/terminal-text.ts'
import { logLines, readDaemonLog } from './daemon-log.ts'
import { missing } from './missing-part.ts'
import { safeName } from './safe-name.ts'
import type { BundlePart, BundleSite, BundleText, Collected } from './site.ts'
import { readVersions } from './versions.ts'
import { secretsIn, secretsInText } from './without-secrets.ts'

/** Milliseconds that a part has, unless it has more to do. */
const usual = 15_000

const lastFlights = 500

interface Said {
  readonly data: unknown
  readonly notes: readonly string[]
}

/** What a command returns, and what it says beside it. */
async function runHere(
  command: CtlCommand,
  { env }: BundleSite,
  daemon: DaemonClient,
  call: Partial<ReadCall>,
): Promise<Said> {
  const notes: string[] = []
  const data = await command.run(
    daemon,
    { positionals: [], options: {}, flags: new Set(), ...call },
    { env, out: () => undefined, err: text => notes.push(...text.trim().split('\n')) },
    () => undefined,
  )
  return { data, notes }
}

const textOf = (command: CtlCommand, { data }: Said, { place }: BundleSite): string =>
  remedyHere(command.print(data, noPaint, true), place)

interface CommandPart {
  readonly limit?: number
  readonly asksDaemon?: true
  readonly isLoose?: true
  readonly words?: string
  readonly call?: (site: BundleSite) => Partial<ReadCall>
  /** Also as people read it. */
  readonly withText?: true
  /** What people are not shown of it, because a secret could not be told there. */
  readonly without?: object
}

/** The same that a command prints with -o json. */
function commandPart(command: CtlCommand, what: string, terms: CommandPart): BundlePart {
  const { name } = command
  const { limit = usual, asksDaemon, isLoose, words = '', call = () => ({}), withText, without } = terms
  return {
    ...{ name, what, limit },
    how: `ipkeeperctl ${name}${words}`,
    ...(asksDaemon && { asksDaemon }),
    ...(isLoose && { isLoose }),
    collect: async (site, daemon) => {
      const said = await runHere(command, site, daemon, call(site))
      const text = withText
        ? [
            {
              name: `${name}.txt`,
              text: textOf(command, { ...said, data: { ...(said.data as object), ...without } }, site),
            },
          ]
        : []
      return { files: [{ name: `${name}.json`, text: jsonText(said.data, 2) }, ...text], notes: said.notes }
    },
  }
}

const secretsOf = ({ text, decoded, suspects }: ShareableConfig): readonly string[] => [
  ...suspects,
  ...secretsIn(decoded),
  ...secretsInText(text),
]

const yamlFile = (name: string, { value }: ShareableConfig): readonly BundleText[] =>
  value === undefined ? [] : [{ name, text: yamlText(value) }]

async function collectConfig(site: BundleSite, daemon: DaemonClient): Promise<Collected> {
  const path = site.config ?? defaultPaths.config
  const config = shareableFile(path)
  // An absent file is a fault only where it was named.
  const positionals = site.config === undefined ? [] : [site.config]
  const checked = await runHere(checkConfigCommand, site, daemon, { positionals })
  return {
    files: [
      ...(config ? yamlFile('config.yaml', config) : []),
      {
        ...{ name: 'check-config.txt', what: 'what is wrong with that file' },
        text: textOf(checkConfigCommand, checked, site),
      },
    ],
    notes: [
      ...(config ? [] : [`there is no ${path}`]),
      ...(config && config.value === undefined ? [`${path} is left out, since it is not valid YAML`] : []),
      ...checked.notes,
    ],
    ...(config && { secrets: secretsOf(config) }),
  }
}

function collectKept({ status, stateDir }: BundleSite): Promise<Collected> {
  const kept = shareableKept(status?.stateDir ?? stateDir)
  if (!kept) throw missing('there is no copy of a configuration in the state folder')
  return Promise.resolve({ files: yamlFile('last-good-config.yaml', kept), secrets: secretsOf(kept) })
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function collectConflists({ confDir }: BundleSite): Promise<Collected> {
  const found = await readConfDir(confDir)
  const read = found.flatMap(({ name, text }) => (text === undefined ? [] : [{ name, text }]))
  const unread = found.flatMap(({ path, text, fault }) =>
    text === undefined ? [`${path}: ${fault?.why ?? 'put aside; no runtime reads it'}`] : [],
  )
  if (found.length === 0) throw missing(`${confDir} has no network configuration`)
  return {
    files: read.map(({ name, text }, index) => ({ name: `conflists/${safeName(name, index)}`, text })),
    notes: unread,
    secrets: read.flatMap(({ text }) => [...secretsIn(decoded(text)), ...secretsInText(text)]),
  }
}

async function collectMetrics(_site: BundleSite, daemon: DaemonClient): Promise<Collected> {
  let text = ''
  for await (const part of daemon.stream('/metrics')) text += part
  return { files: [{ name: 'metrics.txt', text }] }
}

const places = ({ stateDir, confDir, binDir }: BundleSite): Partial<ReadCall> => ({
  options: {
    'state-dir': stateDir,
    'conf-dir': confDir,
    ...(binDir !== undefined && { 'bin-dir': binDir }),
  },
})

/** What is in a bundle. Those come first that tell most where time runs out. */
export const bundleParts: readonly BundlePart[] = [
  {
    ...{ name: 'versions', limit: usual, how: 'uname -a, /etc/os-release, crictl version' },
    what: 'versions of ipkeeper, kernel, system and runtimes',
    collect: async site => ({
      files: [{ name: 'versions.json', text: jsonText(await readVersions(site), 2) }],
    }),
  },
  {
    ...{ name: 'config', limit: usual, how: 'ipkeeperctl check-config', isLoose: true },
    what: "the daemon's configuration file without secrets and comments",
    collect: collectConfig,
  },
  {
    ...{ name: 'last-good-config', limit: usual, how: "from the daemon's state folder" },
    what: 'the configuration that was last in force, without secrets',
    collect: collectKept,
  },
  {
    ...{ name: 'conflists', limit: usual, isLoose: true },
    how: "from the runtime's folder of network configurations",
    what: 'network configurations as lint reads them, without secrets',
    collect: collectConflists,
  },
  commandPart(lintCommand, 'errors in network configurations', {
    ...{ limit: 30_000, isLoose: true, withText: true },
    // Lines are shown cut, and with them a secret that nothing can be known by.
    without: { lineText: () => '' },
    call: ({ confDir, binDirs }) => ({
      positionals: [confDir],
      options: binDirs.length === 0 ? {} : { 'bin-dir': binDirs.join(':') },
    }),
  }),
  commandPart(statusCommand, 'state of the daemon', { asksDaemon: true, withText: true }),
  commandPart(doctorCommand, 'checks of the node', { limit: 45_000, withText: true, call: places }),
  commandPart(flightsCommand, `the last ${lastFlights} runs of the plugin`, {
    words: ` --limit ${lastFlights}`,
    call: ({ stateDir }) => ({ options: { 'state-dir': stateDir, limit: String(lastFlights) } }),
  }),
  commandPart(poolsCommand, 'pools and their use', { asksDaemon: true }),
  commandPart(nodesCommand, 'nodes that the store knows of', { asksDaemon: true }),
  {
    ...{ name: 'metrics', limit: usual, asksDaemon: true },
    what: 'metrics of the daemon',
    how: 'curl --unix-socket /run/ipkeeper/ipkeeper.sock http://ipkeeper/metrics',
    collect: collectMetrics,
  },
  commandPart(auditCommand, 'leases compared with sandboxes, namespaces, links and pods', {
    ...{ limit: 60_000, asksDaemon: true, withText: true },
  }),
  {
    ...{ name: 'log', limit: usual, how: `journalctl -u ipkeeper -n ${logLines}` },
    what: `the last ${logLines} lines of the daemon's log`,
    collect: async site => ({
      files: [{ name: 'log.txt', text: await readDaemonLog(site, usual) }],
    }),
  },
]
