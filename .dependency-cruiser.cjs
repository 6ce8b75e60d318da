/**
 * Which file may import which. Each rule says why; DESIGN.md describes the shape as a whole.
 * Type-only imports count: a type that crosses a line carries the knowledge across it.
 */

const server = '^ipkeeper-server/'

/**
 * The floors of the daemon, from the ground up: a folder imports what is on its own floor or below it. Rules further down
 * say more about single folders.
 */
const floors = [
  ['host', 'ipam'],
  ['kubernetes', 'runtime', 'identity'],
  ['network'],
  ['diagnose/lint', 'store'],
  ['conf-dir', 'result-cache'],
  ['migrate'],
  ['leases'],
  ['reconcile', 'metrics', 'export', 'diagnose/doctor', 'diagnose/try', 'install'],
  ['config', 'http'],
  ['open-ledger'],
  ['daemon', 'cli'],
]

/** The rooms of ipam/, in their order: none imports a later one. */
const rooms = ['records', 'pools', 'request', 'choose', 'plan']

/** Decides and computes; the same input gives the same output, on any machine. */
const pure = [
  `${server}ipam/`,
  `${server}diagnose/lint/`,
  `${server}kubernetes/(annotations|dialects)/`,
  `${server}kubernetes/(watch-progress|api-path|api-error|access-rules|election)\\.ts$`,
  `${server}kubernetes/(kube-object|owner-kinds|event-series)\\.ts$`,
  `${server}(network|result-cache|identity|migrate|export)/plan/`,
  `${server}network/netlink/(batch-lines|line-messages|link-news|route-message)\\.ts$`,
  `${server}http/webhook/plan/`,
  `${server}migrate/import/plan/`,
  `${server}reconcile/plan-[^/]*\\.ts$`,
  `${server}metrics/time-to-exhaustion\\.ts$`,
  `${server}diagnose/doctor/messages/`,
  `${server}runtime/sandboxes\\.ts$`,
]

/** Interfaces by which a folder is used without its implementation. */
const interfaces = [
  `${server}store/(lease-store|history-chain|history-archive|pool-status-sink)\\.ts$`,
  `${server}network/pod-network\\.ts$`,
  `${server}leases/verbs/verb-observer\\.ts$`,
  `${server}kubernetes/(cluster-view|election)\\.ts$`,
  `${server}runtime/sandboxes\\.ts$`,
]

/** What the machine offers, wrapped once: it knows nothing of addresses. */
const host = `${server}host/`

/** Copies of ledgers between stores and files, whichever they are: it knows their interface alone. */
const transfer = `${server}migrate/transfer/`

/**
 * What looks at the node and knows nothing of leases: the daemon stands on it, and so does ipkeeperctl, since a node is
 * to be understood when its daemon is not there.
 */
const probes = 'runtime|result-cache|conf-dir|identity'
/** What puts probes together for a person, in ipkeeperctl, or puts what was looked at in place. */
const diagnostics = 'diagnose/doctor|diagnose/try|install'
/** What reads what other IPAMs have given: the node's folders, and objects of the API. */
const importers = 'migrate/import'

const effects = `store|kubernetes|network|reconcile|export|http|metrics|config|${probes}|${diagnostics}|${importers}`

/** A package that belongs to one place; elsewhere it is known by what our own code makes of it. */
const homeOf = (name, packages, home, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: '^(plugin|ipkeeper-server|shared)/', pathNot: home },
  to: { path: packages },
})

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or miss a third that both stand on.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-barrels',
      comment: 'Import the file you mean: an index.ts pulls in all of a folder, and start-up time with it.',
      severity: 'error',
      from: {},
      to: { path: '(^|/)index\\.[cm]?[jt]s$', pathNot: 'node_modules' },
    },
    {
      name: 'names-say-what',
      comment: 'utils, helpers and the like say nothing of what is inside, and so collect everything.',
      severity: 'error',
      from: {},
      to: { path: '(^|/)(utils?|helpers?|common|managers?|misc)(/|\\.ts$)', pathNot: 'node_modules' },
    },
    {
      name: 'no-dead-files',
      comment: 'A file that neither an executable nor a script reaches is no part of the product.',
      severity: 'error',
      from: {
        // The build puts fs.ts in the place of node:fs.
        path: '^(plugin/edges/(node|quick)|ipkeeper-server(/http/page/client)?)/main\\.ts$|^scripts/[^/]*\\.ts$|^plugin/edges/quick/fs\\.ts$',
      },
      // Declarations are read by the compiler, without an import.
      to: {
        path: '^(plugin|ipkeeper-server|shared)/',
        pathNot: '/main\\.ts$|\\.d\\.ts$|^plugin/edges/quick/fs\\.ts$',
        reachable: false,
      },
    },
    {
      name: 'resolvable',
      comment: 'An import that leads nowhere fails at run time only, and then on the node of a user.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-test-code-in-product',
      comment: 'What ships must not depend on tests, scripts or benchmarks.',
      severity: 'error',
      from: { path: '^(plugin|ipkeeper-server|shared)/' },
      to: { path: '^(test|scripts|bench)/' },
    },
    {
      name: 'no-development-packages-in-product',
      comment:
        'What ships is bundled from dependencies; a development package may change without notice to users.',
      severity: 'error',
      from: { path: '^(plugin|ipkeeper-server|shared)/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/@types/',
      },
    },

    {
      name: 'shared-imports-neither-executable',
      comment: 'shared/ is what both executables agree on; whatever it imported, both would carry.',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: '^(plugin|ipkeeper-server)/' },
    },
    {
      name: 'shared-has-no-effects',
      comment: 'shared/ is types, arithmetic and schemas; the plugin pays for each import at every start.',
      severity: 'error',
      from: { path: '^shared/' },
      to: { dependencyTypes: ['core'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'shared-packages-only-for-schemas',
      comment: 'Only schemas (shared/api, *.schema.ts) may use a package at run time.',
      severity: 'error',
      from: { path: '^shared/', pathNot: '^shared/api/|\\.schema\\.ts$' },
      to: { path: 'node_modules', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'plugin-imports-only-shared',
      comment: 'The plugin is thin: the daemon is reached through its socket, never by import.',
      severity: 'error',
      from: { path: '^plugin/' },
      to: { path: '^(ipkeeper-server|scripts|test|bench)/' },
    },
    {
      name: 'plugin-has-no-packages',
      comment: 'Every package is start-up time of every pod (undici alone 44 ms); types cost nothing.',
      severity: 'error',
      from: { path: '^plugin/' },
      to: { path: 'node_modules', dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
    },
    {
      name: 'plugin-edges-apart',
      comment: 'What both executables of the plugin share knows the edges of neither.',
      severity: 'error',
      from: { path: '^plugin/', pathNot: '^plugin/edges/' },
      to: { path: '^plugin/edges/' },
    },
    {
      name: 'plugin-edges-apart',
      comment: 'Each executable of the plugin has its own edges.',
      severity: 'error',
      from: { path: '^plugin/edges/node/' },
      to: { path: '^plugin/edges/quick/' },
    },
    {
      name: 'plugin-edges-apart',
      comment: 'Each executable of the plugin has its own edges.',
      severity: 'error',
      from: { path: '^plugin/edges/quick/' },
      to: { path: '^plugin/edges/node/' },
    },
    {
      name: 'plugin-node-modules',
      comment:
        'Only modules of Node that its start-up has loaded anyway: node:http is 9 ms, node:net 2 to 3.',
      severity: 'error',
      from: { path: '^plugin/' },
      to: {
        dependencyTypes: ['core'],
        dependencyTypesNot: ['type-only'],
        dynamic: false,
        pathNot: '^(node:)?(buffer|fs|path|process|timers|util)$',
      },
    },
    {
      name: 'plugin-late-modules',
      comment:
        "What is loaded late, for the few runs that need it: a child is started, or libuv's pipe is not to be had.",
      severity: 'error',
      from: { path: '^plugin/' },
      to: { dependencyTypes: ['core'], dynamic: true, pathNot: '^(node:)?(child_process|net)$' },
    },
    {
      name: 'quick-has-no-node',
      comment: 'What the static plugin uses of Node is made in edges/quick/ itself.',
      severity: 'error',
      from: { path: '^plugin/edges/quick/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'server-imports-no-plugin',
      comment: 'The daemon serves any client of its socket; it knows the wire (shared/api), not the plugin.',
      severity: 'error',
      from: { path: server },
      to: { path: '^plugin/' },
    },

    {
      name: 'pure-without-node',
      comment:
        'What decides must not look at the machine: no clock, no files, no randomness, so no node: module.',
      severity: 'error',
      from: { path: pure },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'pure-without-packages',
      comment:
        'The core is arithmetic of our own; a package there would be a rule we cannot read. Types are fine.',
      severity: 'error',
      // Lint reads text that people wrote: the parser of YAML is a function from text to positions.
      from: { path: pure },
      to: {
        path: 'node_modules',
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/yaml/',
      },
    },
    {
      name: 'pure-imports-pure',
      comment: 'One impure import makes all above it impure.',
      severity: 'error',
      from: { path: pure },
      to: { path: '^(plugin|ipkeeper-server|scripts|test|bench)/', pathNot: pure },
    },
    ...floors.slice(1).map((floor, index) => ({
      name: 'no-import-runs-upward',
      comment:
        'A folder stands on those below it; what needs one above is in the wrong place, or wants an interface.',
      severity: 'error',
      from: {
        path: floors.slice(0, index + 1).flatMap(folders => folders.map(folder => `${server}${folder}/`)),
      },
      to: { path: floor.map(folder => `${server}${folder}/`) },
    })),
    ...rooms.slice(1).map((room, index) => ({
      name: 'ipam-rooms-in-order',
      comment:
        'What is kept, the pools, what is asked for, which address, the change: whoever reads one knows those before it.',
      severity: 'error',
      from: { path: rooms.slice(0, index + 1).map(earlier => `${server}ipam/${earlier}/`) },
      to: { path: `${server}ipam/${room}/` },
    })),
    {
      name: 'no-loose-files',
      comment: 'Whoever looks for a file looks into the folder of its kind; only the entry point has none.',
      severity: 'error',
      from: {},
      to: { path: `${server}[^/]*$`, pathNot: `${server}main\\.ts$` },
    },
    {
      name: 'host-knows-nothing-of-addresses',
      comment: 'Files, programs, clocks and logs are the same for every program.',
      severity: 'error',
      from: { path: host },
      to: { path: server, pathNot: host },
    },
    {
      name: 'leases-know-interfaces',
      comment:
        'leases/ reads, plans and commits against the store interface; which store it is, daemon/ knows.',
      severity: 'error',
      from: { path: `${server}leases/` },
      to: {
        path: server,
        pathNot: [`${server}leases/`, `${server}host/background-task\\.ts$`, ...pure, ...interfaces],
      },
    },
    {
      name: 'page-client-in-browsers',
      comment:
        'What browsers run is bundled from page/client, the arithmetic of addresses and texts and remedies that ipkeeperctl prints as well; of the API it knows types alone.',
      severity: 'error',
      from: { path: `${server}http/page/client/` },
      to: {
        pathNot: [`${server}http/page/client/`, '^shared/net/', '^shared/text/', '^shared/remedy/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'page-client-for-browsers-only',
      comment: 'To the daemon the page is text: what runs in browsers has no Node around it.',
      severity: 'error',
      from: { path: server, pathNot: `${server}http/page/client/` },
      to: { path: `${server}http/page/client/` },
    },
    {
      name: 'effects-apart',
      comment: 'Effect folders do not know each other; they meet in daemon/ through interfaces.',
      severity: 'error',
      from: {
        path: `${server}(${effects})/`,
        pathNot: [...pure, `${server}(${diagnostics}|${importers}|store/kubernetes)/`],
      },
      to: {
        path: server,
        pathNot: [`${server}$1/`, `${server}leases/`, ...pure, ...interfaces, host, transfer],
      },
    },
    {
      name: 'kubernetes-store-stands-on-the-client',
      comment:
        'Records in the Kubernetes API are read and watched as everything else there; of the rest that store knows nothing.',
      severity: 'error',
      from: { path: `${server}store/kubernetes/` },
      to: {
        path: server,
        pathNot: [
          `${server}store/`,
          `${server}kubernetes/(api-client|api-error|reflector|client-context)\\.ts$`,
          ...pure,
          ...interfaces,
          host,
        ],
      },
    },
    {
      name: 'diagnostics-stand-on-probes',
      comment:
        'What advises a person looks at the node in the same way as the daemon; of the rest it asks the daemon.',
      severity: 'error',
      from: { path: `${server}(${diagnostics})/` },
      to: {
        path: server,
        pathNot: [
          `${server}(${probes}|${diagnostics})/`,
          // Which layouts of the ledger this version reads.
          `${server}store/sqlite/migrations\\.ts$`,
          ...pure,
          ...interfaces,
          host,
        ],
      },
    },
    {
      name: 'importers-stand-on-probes-and-the-client',
      comment:
        'What another IPAM has given is read on the node and in the API, and handed to the daemon: only that knows the ledger.',
      severity: 'error',
      from: { path: `${server}(${importers})/`, pathNot: pure },
      to: {
        path: server,
        pathNot: [
          `${server}(${probes}|${importers})/`,
          `${server}kubernetes/(api-client|choose-access)\\.ts$`,
          ...pure,
          ...interfaces,
          host,
        ],
      },
    },
    {
      name: 'only-http-serves-leases',
      comment: 'The routes translate requests to leases/; no other effect drives them.',
      severity: 'error',
      from: {
        path: [`${server}(${effects})/`, `${server}http/(page|webhook)/`],
        pathNot: [...pure, `${server}reconcile/`, `${server}http/[^/]*$`, `${server}http/routes/`],
      },
      to: { path: `${server}leases/`, pathNot: interfaces },
    },
    {
      name: 'interfaces-name-no-implementation',
      comment: 'An interface that imports what implements it is no interface.',
      severity: 'error',
      from: { path: interfaces },
      to: { path: server, pathNot: [...pure, ...interfaces] },
    },
    {
      name: 'cli-talks-to-the-daemon',
      comment:
        'ipkeeperctl asks over the API like any client: never the store, so it cannot show another truth. The node it may look at itself.',
      severity: 'error',
      from: { path: `${server}cli/` },
      // What of a manifest has no effect is a question to the manifest alone; the daemon asks it of the API's objects.
      to: {
        path: server,
        pathNot: [
          `${server}(cli|diagnose/lint|${probes}|${diagnostics}|${importers})/`,
          host,
          transfer,
          `${server}kubernetes/(dialects/owner-keys|kube-object|owner-kinds)\\.ts$`,
          // What the text of the daemon's file says; whether it is put in force is asked of the daemon.
          `${server}config/check-config\\.ts$`,
          // And that text without secrets.
          `${server}config/shareable-config\\.ts$`,
          // Stores whose daemon does not run, for what can be done only then: the locks see to it.
          // And what is left of a ledger where none is.
          `${server}open-ledger/(open-offline|ledger-traces)\\.ts$`,
          // A copy of a history says by itself whether it is whole.
          `${server}export/check-copy\\.ts$`,
        ],
      },
    },
    {
      name: 'only-moving-opens-stores',
      comment:
        'Of all commands only those that move or save a ledger touch a store, and only where no daemon has it.',
      severity: 'error',
      from: {
        path: `${server}cli/`,
        pathNot: `${server}cli/commands/(migrate|backup|rescue|offline-stores)\\.ts$`,
      },
      to: { path: `${server}open-ledger/open-offline\\.ts$` },
    },
    {
      name: 'transfer-knows-the-interface',
      comment:
        'What copies ledgers works with every store: it knows their interface and the form of records.',
      severity: 'error',
      from: { path: transfer },
      to: { path: server, pathNot: [transfer, ...pure, ...interfaces, host] },
    },

    homeOf(
      'fastify-in-http',
      'node_modules/@?fastify',
      `${server}http/`,
      'Only http/ knows how requests arrive.',
    ),
    homeOf(
      'pino-in-the-logger',
      'node_modules/pino/',
      `${server}host/logger\\.ts$`,
      'Only the logger knows how lines leave.',
    ),
    homeOf(
      'sqlite-in-its-store',
      '^(node:)?sqlite$',
      `${server}store/sqlite/`,
      'Only the embedded store knows SQL.',
    ),
    homeOf(
      'undici-in-clients',
      'node_modules/undici/',
      [`${server}(cli|kubernetes)/`, `${server}store/(kubernetes|etcd)/`],
      'Only clients of an API make requests.',
    ),
    homeOf(
      'grpc-in-clients',
      'node_modules/(@grpc|@bufbuild)/',
      [`${server}(runtime|store/etcd)/`, `${server}host/protobuf\\.ts$`],
      'Only the clients of the CRI and of etcd speak gRPC.',
    ),
    homeOf(
      'prom-client-in-metrics',
      'node_modules/prom-client/',
      `${server}metrics/`,
      'Only metrics/ knows in which form figures leave.',
    ),
    {
      name: 'netlink-behind-its-tool',
      comment:
        'What wires pods gives out lines of ip; that netlink carries some of them out, the daemon alone knows.',
      severity: 'error',
      from: { path: server, pathNot: [`${server}network/netlink/`, `${server}daemon/`] },
      to: { path: `${server}network/netlink/` },
    },
    {
      name: 'netlink-knows-lines-alone',
      comment:
        'It carries out lines of ip, whatever they are for, and tells news as ip monitor does: it stands on the tool and its words.',
      severity: 'error',
      from: { path: `${server}network/netlink/` },
      to: {
        path: server,
        pathNot: [
          `${server}network/netlink/`,
          `${server}network/run-tool\\.ts$`,
          `${server}network/plan/(command|node-links)\\.ts$`,
          `${server}network/node/news-monitor\\.ts$`,
        ],
      },
    },
    homeOf(
      'one-place-runs-programs',
      '^(node:)?child_process$',
      [`${server}host/run-program\\.ts$`, '^plugin/edges/node/start-program\\.ts$'],
      'What is executed, with which arguments, is checked in one file of each executable.',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.tap|\\.cache)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      extensions: ['.ts', '.mts', '.js', '.cjs', '.mjs', '.json', '.d.ts'],
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'require', 'default', 'types'],
      mainFields: ['main', 'types'],
    },
    reporterOptions: { text: { highlightFocused: true } },
  },
}
