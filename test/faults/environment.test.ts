/** Whatever a runtime, a unit file or an administrator has in the environment: none of it reaches the answer. */
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { supportedVersions } from '../../shared/cni/versions.ts'
import {
  configFor,
  each,
  folder,
  good,
  isQueued,
  listenFor,
  newPath,
  plugin,
  result,
  runVerb,
  succeeds,
} from '../rigs/plugin-under-fault.ts'
import { isStaticPlugin, missing } from '../rigs/requirements.ts'

const skip = missing('executables')

const nonsense = folder.file('nonsense')
writeFileSync(nonsense, '{"this": is neither JSON nor a configuration of anything\n')
const nowhere = '/nowhere/at/all'

/** Each row alone, so that none hides another. What Node itself reads, what its libraries read, what pkg reads. */
const environments: readonly Readonly<Record<string, string>>[] = [
  { NODE_OPTIONS: '--no-such-option' },
  { NODE_OPTIONS: `--require ${nowhere}` },
  { NODE_OPTIONS: '--inspect-brk=0 --cpu-prof --max-old-space-size=1' },
  { NODE_OPTIONS: '"' },
  { NODE_PATH: nowhere },
  { NODE_DEBUG: 'net,fs,timers,stream,module' },
  { NODE_DEBUG_NATIVE: 'ALL' },
  { NODE_V8_COVERAGE: folder.file('coverage') },
  { NODE_V8_COVERAGE: `${nonsense}/coverage` },
  { NODE_COMPILE_CACHE: folder.file('compile-cache') },
  { NODE_COMPILE_CACHE: '/dev/null' },
  { NODE_EXTRA_CA_CERTS: nowhere },
  { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  { NODE_USE_SYSTEM_CA: '1', SSL_CERT_FILE: nonsense, SSL_CERT_DIR: nowhere },
  { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: ':::', HTTPS_PROXY: ':::', NO_PROXY: '[' },
  { NODE_ICU_DATA: nowhere },
  { NODE_ICU_DATA: nonsense },
  { NODE_PENDING_DEPRECATION: '1', NODE_NO_WARNINGS: '0', NODE_REDIRECT_WARNINGS: nowhere },
  { NODE_UNIQUE_ID: '1', NODE_CLUSTER_SCHED_POLICY: 'nonsense', NODE_WORKER_ID: 'x' },
  { NODE_CHANNEL_FD: '' },
  { NODE_REPL_HISTORY: nowhere, NODE_REPL_MODE: 'nonsense', NODE_NO_READLINE: '1' },
  { NODE_TEST_CONTEXT: 'child-v8', NODE_TEST_WORKER_ID: 'x' },
  { NODE_PRESERVE_SYMLINKS: '1', NODE_PRESERVE_SYMLINKS_MAIN: '1', NODE_SKIP_PLATFORM_CHECK: '1' },
  { NODE_INSPECT_RESUME_ON_START: '1', WATCH_REPORT_DEPENDENCIES: '1' },
  { NODE_ENV: 'production\nNODE_OPTIONS=--x' },
  { OPENSSL_CONF: nonsense },
  { OPENSSL_CONF: nowhere },
  { OPENSSL_CONF: '/', OPENSSL_MODULES: nowhere, OPENSSL_ENGINES: nowhere },
  { UV_THREADPOOL_SIZE: '-1' },
  { UV_THREADPOOL_SIZE: '100000' },
  { UV_USE_IO_URING: '1' },
  { PKG_EXECPATH: 'PKG_INVOKE_NODEJS', PKG_NATIVE_CACHE_PATH: nowhere, DEBUG_PKG: '2' },
  { PKG_EXECPATH: plugin },
  { NO_COLOR: '1', FORCE_COLOR: 'nonsense', TERM: 'nonsense' },
  { TZ: ':/nowhere' },
  { LC_ALL: 'nonsense', LANG: '\ud800', LANGUAGE: 'xx' },
  { HOME: nowhere, TMPDIR: nowhere, PATH: '' },
  { GLIBC_TUNABLES: 'nonsense', MALLOC_ARENA_MAX: '-1' },
  { LONG: 'x'.repeat(100_000) },
  Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`MANY_${n}`, 'x'.repeat(100)])),
  { 'A NAME WITH BLANKS': '1', '': '' },
  { CNI_ARGS: 'x'.repeat(60_000) },
]

const titleOf = (env: Readonly<Record<string, string>>): string => JSON.stringify(env).slice(0, 100)

t.test('variables that mean something to Node and its libraries', { skip }, async t => {
  const daemon = await listenFor(t, good)
  await each(environments, async env => {
    const title = titleOf(env)
    const stateDir = newPath()
    succeeds(t, `ADD, ${title}`, await runVerb('ADD', configFor(daemon.path), { env }), result)
    isQueued(t, `DEL, ${title}`, await runVerb('DEL', configFor(newPath(), { stateDir }), { env }), stateDir)
    const version = await runVerb('VERSION', '', { env })
    succeeds(t, `VERSION, ${title}`, version, { cniVersion: '1.1.0', supportedVersions })
  })
})

t.test('a variable that is no UTF-8, one without "=", and none at all', { skip }, async t => {
  const daemon = await listenFor(t, good)
  const scripts = [
    `exec env "BAD=$(printf '\\377\\376')" "$0"`,
    `exec env "$(printf '\\377')=1" "$0"`,
    `exec env -i "$0"`,
  ]
  for (const script of scripts) {
    const finished = await runVerb('ADD', configFor(daemon.path), { by: ['/bin/sh', '-c', script] })
    if (script.includes('-i'))
      t.match(finished, { exit: 0, stdout: '', stderr: /CNI protocol versions supported/ })
    else succeeds(t, script, finished, result)
  }
})

t.test('what remains: Node ends before our first line (docs/install/host.md)', { skip }, async t => {
  const daemon = await listenFor(t, good)
  for (const env of [{ NODE_REPL_EXTERNAL_MODULE: '' }, { NODE_CHANNEL_FD: 'nonsense' }]) {
    const finished = await runVerb('ADD', configFor(daemon.path), { env })
    if (isStaticPlugin) succeeds(t, titleOf(env), finished, result)
    else {
      t.not(finished.exit, 0, titleOf(env))
      t.equal(finished.stdout, '', titleOf(env))
    }
  }
  t.equal(daemon.accepted(), isStaticPlugin ? 2 : 0)
})
