/**
 * The recorded cases of the reference plugins as they are, but for `ipam.type` of host-local's: the packaged plugin
 * with the packaged daemon. Exit code, error code, shape and text have to agree; what the decoder says is everybody's
 * own, and so is stderr. Addresses depend on what was before, so only families, lengths and gateways are compared.
 */
import t, { type Test } from 'tap'
import { startOwnDaemon, type Daemon } from '../rigs/daemon.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import { runProgram, type Finished } from '../rigs/run-program.ts'
import { goldenCases, type Golden, type GoldenCase } from './golden-cases.ts'

interface Printed {
  readonly code?: number
  readonly msg?: string
  readonly details?: string
  readonly ips?: readonly { readonly address: string; readonly gateway?: string }[]
}

const skip = missing('executables')
const decoder = 'error unmarshall network config: '

/** Addresses and the plugin's name apart, texts have to agree. */
const comparable = (msg: unknown): string =>
  String(msg)
    .replace(/^host-local:/, 'ipkeeper:')
    .replace(/10\.1\.2\.[0-9]+ has been/, 'ADDRESS has been')

function run(golden: Golden, daemon: Daemon): Promise<Finished> {
  const text = (golden.stdin ?? '').replaceAll('"host-local"', '"ipkeeper"')
  return runProgram(testedPlugin, [], {
    input: golden.stdin_hex === null ? text : Buffer.from(golden.stdin_hex, 'hex'),
    env: { ...golden.env, IPKEEPER_SOCKET: daemon.socket, IPKEEPER_STATE_DIR: daemon.stateDir },
  })
}

function assertError(t: Test, printed: Printed | null, expected: Printed): void {
  const code = printed?.code ?? 0
  // 999 is what every error of a reference plugin becomes that has no code of its own.
  const fits = expected.code === 999 ? [2, 7, 11].includes(code) || code >= 100 : code === expected.code
  t.ok(fits, `code ${code}`)
  if (expected.msg?.startsWith(decoder)) t.ok(printed?.msg?.startsWith(decoder), String(printed?.msg))
  else t.equal(comparable(printed?.msg), comparable(expected.msg))
  // Row B4: the name of the variable stands before what the library says.
  if (expected.details !== undefined)
    t.ok(printed?.details?.endsWith(expected.details), String(printed?.details))
}

function assertResult(t: Test, printed: Printed | null, expected: Printed): void {
  t.strictSame(Object.keys(printed ?? {}).sort(), Object.keys(expected).sort(), 'keys')
  const shape = ({ ips = [] }: Printed): unknown =>
    ips.map(({ address, gateway }) => [address.includes(':'), address.replace(/.*\//, ''), gateway])
  t.strictSame(shape(printed ?? {}), shape(expected), 'families, prefix lengths and gateways')
}

function assertCase(t: Test, recorded: GoldenCase, { exit, stdout }: Finished): void {
  const printed = stdout === '' ? null : (JSON.parse(stdout) as Printed)
  if (recorded.kind === 'differs') {
    t.equal(exit, recorded.departure.exit, recorded.departure.why)
    t.equal(printed?.code, recorded.departure.code, recorded.departure.why)
    return
  }
  const expected = recorded.golden.stdout as Printed | null
  t.equal(exit, recorded.golden.exit, 'exit code')
  if (expected === null) t.equal(stdout, '', 'nothing is printed')
  else if (expected.code !== undefined) assertError(t, printed, expected)
  else if ('supportedVersions' in expected) t.strictSame(printed, expected)
  else assertResult(t, printed, expected)
}

const chosen = goldenCases.filter(({ kind }) => kind !== 'not ours')
t.ok(chosen.length >= 55, `${chosen.length} cases`)

const nameOf = ({ golden }: GoldenCase): string => `${golden.id} ${golden.title.slice(0, 60)}`

/** What succeeds may leave something behind, and gets a daemon of its own; the rest shares one. */
const leavesState = ({ golden }: GoldenCase): boolean =>
  golden.sequence !== undefined || (golden.env['CNI_COMMAND'] === 'ADD' && golden.exit === 0)

t.test('cases that change nothing', { skip }, async t => {
  const { daemon } = await startOwnDaemon(t)
  for (const recorded of chosen.filter(one => !leavesState(one))) {
    await t.test(nameOf(recorded), async t => {
      assertCase(t, recorded, await run(recorded.golden, daemon))
    })
  }
  t.strictSame(await daemon.leases(), [], 'and they have changed nothing')
})

for (const [sequence, members] of Map.groupBy(chosen.filter(leavesState), sequenceOf)) {
  t.test(`on empty state: ${sequence}`, { skip }, async t => {
    const { daemon } = await startOwnDaemon(t)
    for (const recorded of members) {
      await t.test(nameOf(recorded), async t => {
        assertCase(t, recorded, await run(recorded.golden, daemon))
      })
    }
  })
}

function sequenceOf(recorded: GoldenCase): string {
  return recorded.golden.sequence === undefined
    ? nameOf(recorded)
    : `the sequence "${recorded.golden.sequence}"`
}
