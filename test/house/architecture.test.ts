/**
 * The checks check: on a small tree that keeps the rules they pass, and every broken rule is reported by its name.
 * Without this, a rule whose pattern no longer matches anything would look like a rule that is kept.
 */
import { createRequire } from 'node:module'
import { appendFileSync, cpSync, existsSync, globSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { runProgram, type Finished } from '../rigs/run-program.ts'
import { tempFolder, type TempFolder } from '../rigs/temp-folder.ts'

const root = join(import.meta.dirname, '..', '..')

type Tree = Readonly<Record<string, string>>

/** As few files as use every folder that a rule speaks of. */
const sound: Tree = {
  'shared/net/address.ts': 'export const address = 1\n',
  'shared/api/lease.schema.ts': "import { Type } from 'typebox'\nexport const Lease = Type.Object({})\n",
  'plugin/edges/node/main.ts':
    "import { closeSync } from 'node:fs'\nimport { address } from '../../../shared/net/address.ts'\ncloseSync(address)\n",
  'plugin/edges/quick/main.ts': "import { run } from '../../run.ts'\nrun()\n",
  'plugin/edges/quick/fs.ts': 'export const closeSync = () => 1\n',
  'plugin/run.ts': 'export const run = () => 1\n',
  'ipkeeper-server/ipam/choose.ts':
    "import { address } from '../../shared/net/address.ts'\nexport const choose = address\n",
  'ipkeeper-server/store/lease-store.ts': 'export interface LeaseStore { close: () => void }\n',
  'ipkeeper-server/store/memory/memory-store.ts':
    "import type { LeaseStore } from '../lease-store.ts'\nexport const memoryStore = {} as LeaseStore\n",
  'ipkeeper-server/store/sqlite/sqlite-store.ts':
    "import { DatabaseSync } from 'node:sqlite'\nimport type { LeaseStore } from '../lease-store.ts'\n" +
    "export const sqliteStore = new DatabaseSync(':memory:') as LeaseStore\n",
  'ipkeeper-server/kubernetes/annotations/read-pod-request.ts':
    "import { choose } from '../../ipam/choose.ts'\nexport const annotations = choose\n",
  'ipkeeper-server/kubernetes/cluster-view.ts': 'export interface ClusterView { node: () => string }\n',
  'ipkeeper-server/network/inspect.ts':
    "import { readFileSync } from 'node:fs'\nexport const inspect = readFileSync\n",
  'ipkeeper-server/host/logger.ts': "import { pino } from 'pino'\nexport const logger = pino()\n",
  'ipkeeper-server/leases/verbs/add.ts':
    "import { choose } from '../../ipam/choose.ts'\nimport { annotations } from '../../kubernetes/annotations/read-pod-request.ts'\n" +
    "import type { LeaseStore } from '../../store/lease-store.ts'\nexport const add = (s: LeaseStore) => [s, choose, annotations]\n",
  'ipkeeper-server/http/build-app.ts':
    "import fastify from 'fastify'\nimport { add } from '../leases/verbs/add.ts'\n" +
    "import type { ClusterView } from '../kubernetes/cluster-view.ts'\n" +
    "import { Lease } from '../../shared/api/lease.schema.ts'\nexport const buildApp = (c: ClusterView) => [fastify, add, c, Lease]\n",
  'ipkeeper-server/http/page/client/main.ts':
    "import { address } from '../../../../shared/net/address.ts'\nconsole.log(address)\n",
  'ipkeeper-server/cli/framework/run-command.ts':
    "import { request } from 'undici'\nexport const runCommand = request\n",
  'ipkeeper-server/daemon/serve.ts':
    "import { buildApp } from '../http/build-app.ts'\nimport { logger } from '../host/logger.ts'\n" +
    "import { inspect } from '../network/inspect.ts'\nimport { memoryStore } from '../store/memory/memory-store.ts'\n" +
    "import { sqliteStore } from '../store/sqlite/sqlite-store.ts'\n" +
    'export const serve = [buildApp, logger, inspect, memoryStore, sqliteStore]\n',
  'ipkeeper-server/main.ts':
    "import { runCommand } from './cli/framework/run-command.ts'\nimport { serve } from './daemon/serve.ts'\n" +
    'console.log(serve, runCommand)\n',
}

/** Each rule with one file that breaks it, and the import that the report must name. */
const broken: readonly (readonly [rule: string, file: string, imports: string, how?: 'late'])[] = [
  ['shared-imports-neither-executable', 'shared/net/peek.ts', '../../ipkeeper-server/store/lease-store.ts'],
  ['shared-has-no-effects', 'shared/net/read.ts', 'node:fs'],
  ['shared-packages-only-for-schemas', 'shared/net/packed.ts', 'typebox'],
  ['plugin-imports-only-shared', 'plugin/shortcut.ts', '../ipkeeper-server/leases/verbs/add.ts'],
  ['plugin-has-no-packages', 'plugin/packed.ts', 'undici'],
  ['plugin-node-modules', 'plugin/slow.ts', 'node:http'],
  ['plugin-node-modules', 'plugin/run-child.ts', 'node:child_process'],
  ['plugin-edges-apart', 'plugin/edges/node/borrowed.ts', '../quick/main.ts'],
  ['plugin-edges-apart', 'plugin/edges/quick/borrowed.ts', '../node/main.ts'],
  ['plugin-edges-apart', 'plugin/edged.ts', './edges/node/main.ts'],
  ['quick-has-no-node', 'plugin/edges/quick/read.ts', 'node:fs'],
  ['plugin-late-modules', 'plugin/late.ts', 'node:http', 'late'],
  ['server-imports-no-plugin', 'ipkeeper-server/leases/plugged.ts', '../../plugin/edges/node/main.ts'],
  ['pure-without-node', 'ipkeeper-server/ipam/clock.ts', 'node:crypto'],
  ['pure-without-packages', 'ipkeeper-server/ipam/packed.ts', 'typebox'],
  ['pure-imports-pure', 'ipkeeper-server/kubernetes/dialects/peek.ts', '../../network/inspect.ts'],
  ['no-import-runs-upward', 'ipkeeper-server/store/upward.ts', '../leases/verbs/add.ts'],
  ['no-import-runs-upward', 'ipkeeper-server/network/upward.ts', '../store/lease-store.ts'],
  ['no-import-runs-upward', 'ipkeeper-server/http/upward.ts', '../daemon/serve.ts'],
  ['ipam-rooms-in-order', 'ipkeeper-server/ipam/records/upward.ts', '../request/asked.ts'],
  ['ipam-rooms-in-order', 'ipkeeper-server/ipam/choose/upward.ts', '../plan/planned.ts'],
  ['host-knows-nothing-of-addresses', 'ipkeeper-server/host/kept.ts', '../ipam/choose.ts'],
  ['no-loose-files', 'ipkeeper-server/leases/loose.ts', '../compose.ts'],
  ['leases-know-interfaces', 'ipkeeper-server/leases/stored.ts', '../store/sqlite/sqlite-store.ts'],
  ['effects-apart', 'ipkeeper-server/http/wired.ts', '../network/inspect.ts'],
  [
    'kubernetes-store-stands-on-the-client',
    'ipkeeper-server/store/kubernetes/peek.ts',
    '../../network/inspect.ts',
  ],
  ['only-http-serves-leases', 'ipkeeper-server/http/webhook/leased.ts', '../../leases/verbs/add.ts'],
  ['pure-without-node', 'ipkeeper-server/http/webhook/plan/clock.ts', 'node:crypto'],
  ['only-http-serves-leases', 'ipkeeper-server/network/leased.ts', '../leases/verbs/add.ts'],
  ['only-http-serves-leases', 'ipkeeper-server/http/page/leased.ts', '../../leases/verbs/add.ts'],
  ['page-client-in-browsers', 'ipkeeper-server/http/page/client/peek.ts', 'node:fs'],
  ['page-client-for-browsers-only', 'ipkeeper-server/http/page/shown.ts', './client/main.ts'],
  [
    'interfaces-name-no-implementation',
    'ipkeeper-server/store/pool-status-sink.ts',
    './memory/memory-store.ts',
  ],
  ['cli-talks-to-the-daemon', 'ipkeeper-server/cli/peek.ts', '../store/sqlite/sqlite-store.ts'],
  ['only-moving-opens-stores', 'ipkeeper-server/cli/commands/peek.ts', '../../open-ledger/open-offline.ts'],
  [
    'transfer-knows-the-interface',
    'ipkeeper-server/migrate/transfer/peek.ts',
    '../../store/sqlite/sqlite-store.ts',
  ],
  ['fastify-in-http', 'ipkeeper-server/leases/web.ts', 'fastify'],
  ['pino-in-the-logger', 'ipkeeper-server/leases/log.ts', 'pino'],
  ['sqlite-in-its-store', 'ipkeeper-server/leases/sql.ts', 'node:sqlite'],
  ['undici-in-clients', 'ipkeeper-server/leases/ask.ts', 'undici'],
  [
    'diagnostics-stand-on-probes',
    'ipkeeper-server/diagnose/doctor/peek.ts',
    '../../store/sqlite/sqlite-store.ts',
  ],
  [
    'importers-stand-on-probes-and-the-client',
    'ipkeeper-server/migrate/import/peek.ts',
    '../../store/sqlite/sqlite-store.ts',
  ],
  ['grpc-in-clients', 'ipkeeper-server/leases/call.ts', '@grpc/grpc-js'],
  ['prom-client-in-metrics', 'ipkeeper-server/leases/count.ts', 'prom-client'],
  ['netlink-behind-its-tool', 'ipkeeper-server/network/hasty.ts', './netlink/netlink-tool.ts'],
  ['netlink-knows-lines-alone', 'ipkeeper-server/network/netlink/peek.ts', '../inspect.ts'],
  ['pure-without-node', 'ipkeeper-server/network/netlink/route-message.ts', 'node:fs'],
  ['one-place-runs-programs', 'ipkeeper-server/network/run.ts', 'node:child_process'],
  ['no-test-code-in-product', 'ipkeeper-server/leases/tested.ts', '../../test/double.ts'],
  ['no-development-packages-in-product', 'ipkeeper-server/http/dev.ts', 'esbuild'],
  ['no-barrels', 'ipkeeper-server/leases/all.ts', './index.ts'],
  ['names-say-what', 'ipkeeper-server/leases/lazy.ts', './utils.ts'],
  ['resolvable', 'ipkeeper-server/leases/lost.ts', './nowhere.ts'],
]

interface Rules {
  readonly forbidden: readonly {
    readonly from: { readonly path?: string | string[]; readonly pathNot?: string | string[] }
    readonly to: { readonly path?: string | string[]; readonly pathNot?: string | string[] }
  }[]
}

/** A pattern without alternatives for each choice of them: one that names nothing would hide behind the others. */
function spelledOut(pattern: string): readonly string[] {
  const group = /\((?!\?)([^()]*\|[^()]*)\)(\??)/.exec(pattern)
  if (!group) return [pattern]
  const [whole, choices = '', optional] = group
  return [...choices.split('|'), ...(optional ? [''] : [])].flatMap(choice =>
    spelledOut(pattern.replace(whole, () => choice)),
  )
}

/** A copy of the checks with a tree of sources of its own. */
function plant(...trees: readonly Tree[]): TempFolder {
  const folder = tempFolder(t)
  for (const name of [
    'package.json',
    'tsconfig.json',
    '.dependency-cruiser.cjs',
    'scripts/check-architecture.ts',
  ]) {
    cpSync(join(root, name), folder.file(name))
  }
  symlinkSync(join(root, 'node_modules'), folder.file('node_modules'))
  for (const tree of trees) {
    for (const [name, text] of Object.entries(tree)) {
      mkdirSync(dirname(folder.file(name)), { recursive: true })
      writeFileSync(folder.file(name), text)
    }
  }
  return folder
}

const check = (folder: TempFolder, script: string): Promise<Finished> =>
  runProgram(process.execPath, [folder.file('scripts', script)], { cwd: folder.path })

t.test('a tree that keeps the rules passes', async t => {
  const finished = await check(plant(sound), 'check-architecture.ts')
  t.equal(finished.exit, 0, finished.stdout + finished.stderr)
})

t.test('every broken rule is reported', async t => {
  const imports = broken.map(([, file, target, how], index): [string, string] => [
    file,
    how === 'late'
      ? `export const used${index} = (): Promise<unknown> => import('${target}')\n`
      : `import * as broken${index} from '${target}'\nexport const used${index} = broken${index}\n`,
  ])
  const folder = plant(sound, Object.fromEntries(imports), {
    'test/double.ts': 'export const double = 2\n',
    'ipkeeper-server/ipam/request/asked.ts': 'export const asked = 1\n',
    'ipkeeper-server/ipam/plan/planned.ts': 'export const planned = 1\n',
    'ipkeeper-server/network/netlink/netlink-tool.ts': 'export const tool = 1\n',
    'ipkeeper-server/compose.ts': 'export const composed = 1\n',
    'ipkeeper-server/open-ledger/open-offline.ts': 'export const offline = 1\n',
    'ipkeeper-server/leases/index.ts': 'export const all = 1\n',
    'ipkeeper-server/leases/utils.ts': 'export const many = 1\n',
  })
  const finished = await check(folder, 'check-architecture.ts')
  t.equal(finished.exit, 1)
  const lines = finished.stderr.split('\n')
  for (const [rule, file] of broken) {
    t.ok(
      lines.some(line => line.includes(`error ${rule}: ${file} `)),
      `${rule} for ${file}`,
    )
  }
})

t.test('every folder and file that a rule names is there', t => {
  const config = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as Rules
  const files = globSync('{plugin,ipkeeper-server,shared,scripts,test,bench}/**/*.ts', { cwd: root })
  const patterns = config.forbidden
    .flatMap(({ from, to }) => [from.path, from.pathNot, to.path, to.pathNot])
    .flatMap(path => path ?? [])
    .filter(pattern => /^\^\(?(plugin|ipkeeper-server|shared|scripts|test|bench)/.test(pattern))
    // What is never to be there.
    .filter(pattern => pattern !== '^ipkeeper-server/[^/]*$')
  t.ok(patterns.length > 100, 'patterns are found')
  for (const pattern of new Set(patterns.flatMap(pattern => spelledOut(pattern)))) {
    const wanted = new RegExp(pattern.replace('$1', 'ipam'))
    t.ok(
      files.some(file => wanted.test(file)),
      pattern,
    )
  }
  t.end()
})

t.test('a type-only import counts as well', async t => {
  const file = 'ipkeeper-server/ipam/typed.ts'
  const text = "import type { add } from '../leases/verbs/add.ts'\nexport type Add = typeof add\n"
  const finished = await check(plant(sound, { [file]: text }), 'check-architecture.ts')
  t.equal(finished.exit, 1)
  t.match(finished.stderr, `error pure-imports-pure: ${file} `)
})

t.test('a cycle is reported', async t => {
  const finished = await check(
    plant(sound, {
      'ipkeeper-server/ipam/hen.ts':
        "import { egg } from './egg.ts'\nexport const hen = (): unknown => egg\n",
      'ipkeeper-server/ipam/egg.ts':
        "import { hen } from './hen.ts'\nexport const egg = (): unknown => hen\n",
    }),
    'check-architecture.ts',
  )
  t.equal(finished.exit, 1)
  t.match(finished.stderr, /error no-cycles: .*(hen|egg)\.ts/)
})

t.test('a file that nothing reaches is reported', async t => {
  const folder = plant(sound, { 'ipkeeper-server/ipam/forgotten.ts': 'export const forgotten = 1\n' })
  const finished = await check(folder, 'check-architecture.ts')
  t.equal(finished.exit, 1)
  t.match(finished.stderr, /error no-dead-files: .*forgotten\.ts/)
})

t.test('what comes into the plugin by way of shared/ and is not to be there is reported', async t => {
  const file = 'plugin/edges/node/main.ts'
  const rows: readonly (readonly [what: string, tree: Tree, says: RegExp])[] = [
    [
      'a package',
      { [file]: "import { Lease } from '../../../shared/api/lease.schema.ts'\nconsole.log(Lease)\n" },
      /error plugin-bundle: shared\/api\/lease\.schema\.ts brings .*typebox/,
    ],
    [
      'remedies of the daemon',
      {
        [file]: "import { say } from '../../../shared/text/say.ts'\nconsole.log(say)\n",
        'shared/text/say.ts': "import { place } from '../remedy/place.ts'\nexport const say = place\n",
        'shared/remedy/place.ts': 'export const place = 1\n',
      },
      /error plugin-bundle: shared\/text\/say\.ts brings shared\/remedy\/place\.ts/,
    ],
  ]
  for (const [what, tree, says] of rows) {
    const finished = await check(plant(sound, tree), 'check-architecture.ts')
    t.equal(finished.exit, 1, what)
    t.match(finished.stderr, says)
  }
})

t.test('a generated file that was edited or is stale is reported', async t => {
  const folder = tempFolder(t)
  const sources = [
    'plugin',
    'ipkeeper-server',
    'shared',
    'scripts',
    'docs',
    'deploy',
    'package.json',
    'tsconfig.json',
  ]
  for (const name of sources.filter(name => existsSync(join(root, name)))) {
    cpSync(join(root, name), folder.file(name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), folder.file('node_modules'))
  const fresh = await check(folder, 'check-generated.ts')
  t.equal(fresh.exit, 0, fresh.stdout + fresh.stderr)

  const [generated] = globSync('{plugin,ipkeeper-server,shared}/**/*.generated.ts', { cwd: folder.path })
  if (generated === undefined) throw new Error('no generated file to edit')
  appendFileSync(folder.file(generated), '\n')
  const stale = await check(folder, 'check-generated.ts')
  t.equal(stale.exit, 1)
  t.match(stale.stdout + stale.stderr, generated)
})
