import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { supportedVersions } from '../../../shared/cni/versions.ts'
import { added, allVersions, assertRefused, assertSilent, refuses, silent } from '../answers.ts'
import { network, withIpam } from '../network.ts'
import { withDocument, type Input, type Rig } from '../rig.ts'
import type { Row } from '../row.ts'
import { runProgram } from '../../rigs/run-program.ts'

const tooSmall = (version: string): object => withIpam(version, { subnet: '10.22.0.0/31' })

/** The plugin with a stdin that is never closed: its exit code and what it printed. */
async function withOpenStdin(
  rig: Rig,
  input: Input,
): Promise<{ exit: number; stdout: string; stderr: string }> {
  const child = spawn(rig.plugin, [], { env: rig.environment(input), timeout: 30_000, killSignal: 'SIGKILL' })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [exit] = (await once(child, 'close')) as [number]
  child.stdin.destroy()
  return { exit, stdout, stderr }
}

export const processRows: readonly Row[] = [
  {
    id: 'A1',
    title: 'exit 0 for success, 1 for every failure',
    cases: [
      {
        title: 'an ADD, and the same one again',
        run: async (t, rig) => {
          await added(t, rig, '1.0.0')
          t.equal((await rig.run({ config: network('1.0.0') })).exit, 1)
        },
      },
    ],
  },
  {
    id: 'A2',
    title: 'the error object goes to stdout, never to stderr',
    cases: [
      {
        title: 'a refused ADD in each version',
        versions: allVersions,
        changesNothing: true,
        run: async (t, rig, version) => {
          const answer = await rig.run({ config: tooSmall(version) })
          assertRefused(t, answer, { code: 7, msg: /too small/ }, 'refused')
          t.equal(answer.document?.['cniVersion'], version, 'in the version of the configuration')
        },
      },
    ],
  },
  {
    id: 'A3',
    title: 'stdout is one JSON document, a result or an error',
    cases: [
      {
        title: 'ADD, ADD again, VERSION: each is parsed whole, and is one of the two',
        versions: allVersions,
        run: async (t, rig, version) => {
          const config = network(version)
          const good = await rig.run({ config })
          const bad = await rig.run({ config })
          const about = await rig.run({ verb: 'VERSION', config })
          t.notOk(good.document && ('code' in good.document || 'msg' in good.document))
          t.notOk(bad.document && ['ips', 'ip4', 'ip6'].some(key => key in (bad.document ?? {})))
          t.ok(about.document)
          for (const { stdout } of [good, bad, about])
            t.match(stdout, /^\{[^]*\}\n$/, 'one object, one newline')
        },
      },
    ],
  },
  {
    id: 'A4',
    title: 'DEL, CHECK, GC and STATUS print nothing when they succeed',
    cases: [
      {
        title: 'each verb after an ADD',
        run: async (t, rig) => {
          const config = network('1.1.0')
          await added(t, rig, '1.1.0')
          for (const verb of ['CHECK', 'STATUS', 'GC', 'DEL']) await silent(t, rig, { verb, config }, verb)
        },
      },
    ],
  },
  {
    id: 'A5',
    title: 'an ADD that succeeds never leaves stdout empty',
    see: ['D5', 'E1'],
  },
  {
    id: 'A6',
    title: 'a failure prints the error object alone, and its msg is not empty',
    cases: [
      refuses('failures of every kind, with nothing else on stdout or stderr', () => [
        ['environment', { env: { CNI_IFNAME: '' } }, 4, /./],
        ['stdin', { config: '{' }, 6, /./],
        ['name', { config: { cniVersion: '1.0.0' } }, 7, /./],
        ['version', { config: network('9.9.9') }, 1, /./],
        ['the daemon refuses', { config: tooSmall('1.0.0') }, 7, /./],
        ['an address that nobody could have', { env: { CNI_ARGS: 'IP=192.0.2.7' } }, 104, /./],
        ['CHECK', { verb: 'CHECK' }, 111, /./],
      ]),
    ],
  },
  {
    id: 'A7',
    title: 'an error object never comes with exit 0',
    see: ['A6'],
  },
  {
    id: 'A8',
    title: 'stderr is for logs',
    cases: [
      {
        title: 'empty after a success; one line for a DEL that is queued because the daemon is away',
        run: async (t, rig) => {
          const config = network('1.0.0')
          t.equal((await rig.run({ config })).stderr, '')
          await rig.daemon.stop()
          const queued = await rig.run({ verb: 'DEL', config: withIpam('1.0.0', { timeout: 0.2 }) })
          assertSilent(t, queued, 'queued')
          t.match(queued.stderr, /^ipkeeper: the DEL of c1 is queued in .*\n$/)
        },
      },
    ],
  },
  {
    id: 'A9',
    title: 'no child process inherits stdout or stderr',
    elsewhere: ['test/packaged/fallback.test.ts', 'test/plugin/run-child.test.ts'],
  },
  {
    id: 'A10',
    title: 'a runtime ends a plugin with SIGKILL, at any instruction',
    cases: [
      {
        title: 'killed at twelve moments; DEL at once, and a new sandbox gets an address',
        run: async (t, rig) => {
          const config = network('1.0.0')
          for (let moment = 0; moment < 12; moment++) {
            const env = { CNI_CONTAINERID: `killed-${moment}` }
            const child = spawn(rig.plugin, [], {
              env: rig.environment({ env }),
              stdio: ['pipe', 'ignore', 'ignore'],
            })
            child.stdin.on('error', () => undefined)
            child.stdin.end(JSON.stringify(config))
            const ended = once(child, 'close')
            await delay(moment * 6)
            child.kill('SIGKILL')
            await ended
            await silent(t, rig, { verb: 'DEL', config, env }, `DEL ${moment}`)
          }
          t.strictSame(await rig.bound(), [])
          await added(t, rig, '1.0.0', { env: { CNI_CONTAINERID: 'next' } })
        },
      },
    ],
    elsewhere: ['test/packaged/daemon-crash.test.ts'],
  },
  {
    id: 'A11',
    title: 'stdin is read to its end, also beyond 64 KiB; VERSION does not need it',
    cases: [
      {
        title: '300 KB of annotations reach the daemon, and one of them at the very end counts',
        run: async (t, rig) => {
          const annotations = { long: 'x'.repeat(300_000), 'ipkeeper.io/ip': '10.22.0.50' }
          const runtimeConfig = { 'io.kubernetes.cri.pod-annotations': annotations }
          const config = network('1.0.0', { runtimeConfig })
          t.equal((await added(t, rig, '1.0.0', { config }))[0], '10.22.0.50/24')
        },
      },
      {
        title: 'VERSION with a stdin that stays open',
        changesNothing: true,
        run: async (t, rig) => {
          t.match(await withOpenStdin(rig, { verb: 'VERSION' }), { exit: 0, stdout: /"supportedVersions"/ })
        },
      },
    ],
  },
  {
    id: 'A12',
    title: 'the executable is named as the type is, a regular file',
    cases: [
      {
        title: 'what is built',
        changesNothing: true,
        run: (t, rig) => {
          const stats = statSync(rig.plugin)
          t.match(rig.plugin, /\/ipkeeper$/)
          t.ok(stats.isFile())
          t.equal(stats.mode & 0o111, 0o111, 'anybody may execute it')
          return Promise.resolve()
        },
      },
    ],
  },
  {
    id: 'A13',
    title: 'an upgrade replaces the executable by a rename',
    elsewhere: ['test/scripts/install.test.ts'],
  },
  {
    id: 'A14',
    title:
      "the environment is the runtime's, with anything in it or hardly anything; but NODE_REPL_EXTERNAL_MODULE and NODE_CHANNEL_FD end Node before our first line (docs/install/host.md, What a process needs)",
    cases: [
      {
        title: 'no PATH and no HOME; settings of Node; tracing',
        run: async (t, rig) => {
          const environments: readonly Readonly<Record<string, string | undefined>>[] = [
            { PATH: undefined },
            { PATH: '', HOME: '/nowhere', XDG_RUNTIME_DIR: '' },
            { NODE_OPTIONS: '--require /nowhere.js', NODE_PATH: '/nowhere', NODE_DEBUG: 'net' },
            { TRACEPARENT: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', BAGGAGE: 'a=b' },
            { LC_ALL: 'xx_YY.nonsense', TZ: 'Nowhere/Land' },
          ]
          for (const [index, env] of environments.entries()) {
            const input = { env: { ...env, CNI_CONTAINERID: `c${index}` } }
            await added(t, rig, '1.0.0', input, Object.keys(env).join(' '))
          }
        },
      },
    ],
    elsewhere: ['test/packaged/plugin.test.ts', 'test/faults/environment.test.ts'],
  },
  {
    id: 'A15',
    title: 'without CNI_COMMAND it says what it is, on stderr',
    cases: [
      {
        title: 'variable unset and empty; stdin is not waited for',
        changesNothing: true,
        run: async (t, rig) => {
          for (const verb of [undefined, '']) {
            const { exit, stdout, stderr } = await withOpenStdin(rig, { env: { CNI_COMMAND: verb } })
            t.strictSame([exit, stdout], [0, ''])
            const [about = '', versions] = stderr.split('\n')
            t.match(about, /^CNI ipkeeper plugin v[0-9]+\.[0-9]+\.[0-9]+$/)
            t.equal(versions, `CNI protocol versions supported: ${supportedVersions.join(', ')}`)
          }
          const bare = withDocument(await runProgram(rig.plugin, [], { env: {} }))
          assertSilent(t, bare, 'an empty environment')
        },
      },
    ],
  },
]
