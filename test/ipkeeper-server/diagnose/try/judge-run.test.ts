/** What libcni makes of each way to print, tried with small real plugins (incidents 3a). */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { judgeRun } from '../../../../ipkeeper-server/diagnose/try/judge-run.ts'
import type { Attachment } from '../../../../ipkeeper-server/diagnose/try/plugin-call.ts'
import type { TriedVerb } from '../../../../ipkeeper-server/diagnose/try/report.ts'
import { runCniPlugin } from '../../../../ipkeeper-server/diagnose/try/run-cni-plugin.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import { until } from '../../../rigs/poll.ts'

const folder = tempFolder(t)
const attachment: Attachment = {
  ...{ containerId: 'c1', netns: '/run/netns/none', ifname: 'eth0', args: '', capabilities: {} },
  binDirs: [folder.file('nothing-here'), folder.path],
}

interface RunOptions {
  readonly verb?: TriedVerb
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** Runs a plugin that is this shell script. */
async function run(script: string, { verb = 'ADD', timeoutMs = 20_000, signal }: RunOptions = {}) {
  writeFileSync(folder.file('x'), `#!/bin/sh\n${script}\n`)
  chmodSync(folder.file('x'), 0o755)
  const { run: ended } = await runCniPlugin({
    ...{ verb, plugin: 'x', attachment, stdin: { name: 'net' }, env: {}, timeoutMs },
    ...(signal && { signal }),
  })
  return judgeRun(ended, '0.4.0')
}

const good = '{"cniVersion":"0.4.0","ips":[{"version":"4","address":"10.1.1.2/24"}]}'

interface Row {
  readonly does: string
  readonly script: string
  readonly verb?: TriedVerb
  /** What libcni says; null when it goes on. */
  readonly says: string | RegExp | null
  readonly finding?: RegExp
}

const rows: readonly Row[] = [
  { does: 'a good Result', script: `echo '${good}'`, says: null },
  { does: 'a good Result, and logs on stderr', script: `echo hello >&2; echo '${good}'`, says: null },
  {
    does: 'nothing',
    script: 'exit 0',
    says: 'failed to unmarshal raw result: unexpected end of JSON input',
    finding: /nothing on stdout/,
  },
  {
    does: 'half a Result',
    script: `printf '{"cniVersion":"0.4.0","ips":['`,
    says: 'failed to unmarshal raw result: unexpected end of JSON input',
    finding: /at byte 29: the end/,
  },
  {
    does: 'a log line first',
    script: `echo 'starting up'; echo '${good}'`,
    says: "failed to unmarshal raw result: invalid character 's' looking for beginning of value",
    finding: /at byte 0: "starting up/,
  },
  {
    does: 'a log line first, after letters of several bytes',
    script: `printf '"é" x'`,
    says: "failed to unmarshal raw result: invalid character 'x' after top-level value",
    finding: /at byte 5: "x"/,
  },
  {
    does: 'two Results',
    script: `echo '${good}'; echo '${good}'`,
    says: "failed to unmarshal raw result: invalid character '{' after top-level value",
    finding: /text after the end/,
  },
  {
    does: 'null',
    script: 'echo null',
    says: null,
    finding: /null on stdout; runtimes take it for a success/,
  },
  { does: '{}', script: 'echo {}', says: null, finding: /\{\} on stdout; runtimes take it for a success/ },
  {
    does: 'an array',
    script: 'echo []',
    says: /cannot unmarshal array into Go value/,
    finding: /stdout is an array/,
  },
  {
    does: 'an error document with exit 0',
    script: `echo '{"code":11,"msg":"busy"}'`,
    says: null,
    finding: /exit 0 with an error document \("busy"\)/,
  },
  {
    does: 'an error document with exit 1',
    script: `echo '{"code":11,"msg":"busy","details":"wait"}'; exit 1`,
    says: 'busy; wait',
    finding: /busy; wait \(code 11: try again later\)/,
  },
  {
    does: 'an error of our own',
    script: `echo '{"code":103,"msg":"10.22.0.50 is taken","details":"[IPK_ADDRESS_HELD, request 1]"}'; exit 1`,
    says: /taken/,
    finding: /code 103/,
  },
  {
    does: 'exit 1 without a word',
    script: 'exit 1',
    says: 'netplugin failed with no error message: exit status 1',
    finding: /without any output/,
  },
  {
    does: 'exit 1 with words on stderr only',
    script: 'echo oops >&2; exit 1',
    says: 'netplugin failed: "oops\\n"',
    finding: /on stderr only: oops/,
  },
  {
    does: 'exit 1 with a good Result',
    script: `echo '${good}'; exit 1`,
    says: '',
    finding: /with a Result on stdout; runtimes show an empty error message/,
  },
  {
    does: 'exit 1 with rubbish',
    script: 'echo panic; exit 2',
    says: /error parsing its diagnostic message "panic\\n": invalid character 'p' looking/,
    finding: /no error document/,
  },
  {
    does: 'SIGKILL, as from the kernel',
    script: 'kill -9 $$',
    says: 'netplugin failed with no error message: signal: killed',
    finding: /ended by SIGKILL, as the kernel does/,
  },
  {
    does: 'no cniVersion',
    script: `echo '{"ips":[{"version":"4","address":"10.1.1.2/24"}]}'`,
    says: null,
    finding: /names no cniVersion/,
  },
  {
    does: 'another known version',
    script: `echo '{"cniVersion":"1.0.0","ips":[{"address":"10.1.1.2/24"}]}'`,
    says: null,
    finding: /of cniVersion 1\.0\.0, and the configuration of 0\.4\.0/,
  },
  {
    does: 'an unknown version',
    script: `echo '{"cniVersion":"9.9.9"}'`,
    says: 'unsupported CNI result version "9.9.9"',
    finding: /"9\.9\.9", which does not exist/,
  },
  {
    does: 'nine megabytes',
    script: 'head -c 9000000 /dev/zero | tr "\\0" x',
    says: /more than 8 MiB/,
    finding: /more than 8 MiB/,
  },
  {
    does: 'the shape of 0.2.0',
    script: `echo '{"cniVersion":"0.4.0","ip4":{"ip":"10.1.1.2/24"}}'`,
    says: null,
    finding: /"ip4" is not read/,
  },
  {
    does: 'an address without its prefix',
    script: `echo '{"cniVersion":"0.4.0","ips":[{"version":"4","address":"10.1.1.2"}]}'`,
    says: /ips\[0\]\.address/,
    finding: /cannot be decoded/,
  },
  {
    does: 'a fraction for an index',
    script: `echo '{"cniVersion":"0.4.0","ips":[{"address":"10.1.1.2/24","interface":"0"}]}'`,
    says: /ips\[0\]\.interface/,
    finding: /cannot be decoded/,
  },
  {
    does: 'an error that containerd swallows, for DEL',
    verb: 'DEL',
    script: `echo '{"code":100,"msg":"pod not found"}'; exit 1`,
    says: 'pod not found',
    finding: /containerd takes a failed DEL/,
  },
  { does: 'nothing, for DEL', verb: 'DEL', script: 'exit 0', says: null },
  {
    does: 'something, for DEL',
    verb: 'DEL',
    script: 'echo {}',
    says: null,
    finding: /CNI expects nothing there/,
  },
  {
    does: 'an error with exit 0, for CHECK',
    verb: 'CHECK',
    script: `echo '{"code":100,"msg":"differs"}'`,
    says: null,
    finding: /CNI expects nothing there/,
  },
]

for (const { does, script, verb = 'ADD', says, finding } of rows) {
  t.test(does, async t => {
    const verdict = await run(script, { verb })
    t.equal(verdict.succeeded, says === null)
    const verbName = verb === 'DEL' ? 'delete' : verb.toLowerCase()
    if (typeof says === 'string')
      t.equal(verdict.runtimeSays, `plugin type="x" failed (${verbName}): ${says}`)
    else if (says !== null) t.match(verdict.runtimeSays, says)
    if (finding === undefined) t.strictSame(verdict.findings, [])
    else t.match(verdict.findings.map(({ message }) => message).join('\n'), finding)
  })
}

t.test('a plugin that is not there, or cannot be started', async t => {
  const start = { verb: 'ADD', attachment, stdin: {}, env: {}, timeoutMs: 1000 } as const
  const missing = await runCniPlugin({ ...start, plugin: 'nobody' })
  t.equal(missing.path, null)
  t.match(judgeRun(missing.run, ''), {
    runtimeSays: `plugin type="nobody" failed (add): failed to find plugin "nobody" in path [${attachment.binDirs.join(' ')}]`,
    findings: [{ remedy: /--bin-dir/ }],
  })
  for (const [text, mode, remedy] of [
    ['#!/bin/sh\n', 0o644, /chmod/],
    ['#!/no/such/shell\n', 0o755, /interpreter/],
  ] as const) {
    writeFileSync(folder.file('bad'), text)
    chmodSync(folder.file('bad'), mode)
    const { run: ended } = await runCniPlugin({ ...start, plugin: 'bad' })
    t.match(judgeRun(ended, '').findings, [{ severity: 'error', message: /cannot be started/, remedy }])
  }
})

t.test('time', async t => {
  await t.test('a plugin that hangs is killed, with what it started', async t => {
    const pid = folder.file('pid')
    const verdict = await run(`sleep 60 & echo $! >${pid}; wait`, { timeoutMs: 500 })
    t.match(verdict.findings, [{ message: /had not ended after 0\.5 s/ }])
    await until('the child has gone', () => !existsSync(`/proc/${readFileSync(pid, 'utf8').trim()}/exe`))
  })
  await t.test('what holds stdout open for a while is told', async t => {
    const verdict = await run(`echo '${good}'; sleep 0.6 &`)
    t.ok(verdict.succeeded)
    t.match(verdict.findings, [{ severity: 'warning', message: /held its stdout or stderr open until/ }])
  })
  await t.test('what holds stdout open for ever is a failure', async t => {
    const verdict = await run(`echo '${good}'; sleep 60 &`, { timeoutMs: 500 })
    t.notOk(verdict.succeeded)
    t.match(verdict.findings, [{ severity: 'error', message: /held its stdout or stderr open for 0\.5 s/ }])
  })
  await t.test('an interruption ends it, and keeps others from starting', async t => {
    const interruption = new AbortController()
    const started = folder.file('started')
    const running = run(`touch ${started}; sleep 60`, { signal: interruption.signal })
    await until('it has started', () => existsSync(started))
    interruption.abort()
    t.match((await running).findings, [{ message: /was stopped/ }])
    t.match((await run('exit 0', { signal: interruption.signal })).findings, [{ message: /was stopped/ }])
  })
})

t.test('what a plugin is given', async t => {
  const seen = folder.file('seen')
  writeFileSync(folder.file('asks'), `#!/bin/sh\n(env; cat) >${seen}\n`)
  chmodSync(folder.file('asks'), 0o755)
  await runCniPlugin({
    ...{ verb: 'DEL', plugin: 'asks', attachment, stdin: { name: 'net' }, timeoutMs: 10_000 },
    env: { TOKEN: 'kept', CNI_COMMAND: 'overridden', ABSENT: undefined },
  })
  const text = readFileSync(seen, 'utf8')
  for (const wanted of [
    'TOKEN=kept',
    'CNI_COMMAND=DEL',
    'CNI_IFNAME=eth0',
    `CNI_PATH=${attachment.binDirs.join(':')}`,
  ])
    t.match(text, wanted)
  t.match(text, '{"name":"net"}')
  t.notMatch(text, 'overridden')
})
