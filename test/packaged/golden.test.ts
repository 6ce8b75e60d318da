/**
 * The recorded cases of the reference host-local that need a daemon, as they are but for the type: the packaged plugin
 * with the packaged daemon. Each case starts on empty state; those of one sequence share it, in order.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { makeTempFolder } from '../rigs/temp-folder.ts'

interface Golden {
  readonly id: number
  readonly title: string
  readonly reference: string
  readonly sequence?: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string | null
  readonly exit: number
  readonly stdout: Readonly<Record<string, unknown>> | null
}

interface Printed {
  readonly code?: number
  readonly msg?: string
  readonly ips?: readonly { readonly address: string; readonly gateway?: string }[]
}

/** Where the specification wins over the recording. */
const departures: Readonly<
  Record<number, { readonly why: string; readonly exit: number; readonly code?: number }>
> = {
  106: { why: 'B9: refused before anything is done, as one document and not two', exit: 1, code: 8 },
  107: { why: 'B9: a DEL in the own namespace releases and succeeds', exit: 0 },
}

/** Addresses and container IDs depend on what came before; the rest of a text has to agree. */
const comparable = (msg: unknown): string =>
  String(msg)
    .replace(/^host-local:/, 'ipkeeper:')
    .replace(/10\.1\.2\.[0-9]+ has been/, 'ADDRESS has been')

const file = join(import.meta.dirname, '..', 'fixtures', 'conformance', 'golden.json')
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly Golden[] }
const chosen = cases.filter(
  ({ reference, env, stdin }) =>
    reference === 'host-local' && env['CNI_COMMAND'] !== undefined && stdin?.includes('"ipam"'),
)

async function startFresh(t: Test): Promise<Daemon> {
  const folder = makeTempFolder()
  const daemon = await startDaemon({ socket: folder.file('s'), stateDir: folder.file('state') })
  t.teardown(async () => {
    await daemon.stop()
    folder.remove()
  })
  return daemon
}

function assertCase(t: Test, golden: Golden, exit: number | null, stdout: string): void {
  const departure = departures[golden.id]
  const printed = stdout === '' ? null : (JSON.parse(stdout) as Printed)
  if (departure) {
    t.equal(exit, departure.exit, departure.why)
    t.equal(printed?.code, departure.code, departure.why)
    return
  }
  t.equal(exit, golden.exit, 'exit code')
  if (golden.stdout === null) {
    t.equal(stdout, '', 'nothing is printed')
    return
  }
  const expected = golden.stdout as Printed
  if (expected.code !== undefined) {
    const ours = [2, 7, 11].includes(printed?.code ?? 0) || (printed?.code ?? 0) >= 100
    t.ok(expected.code === 999 ? ours : printed?.code === expected.code, `code ${printed?.code ?? 'none'}`)
    t.equal(comparable(printed?.msg), comparable(expected.msg))
    return
  }
  t.strictSame(Object.keys(printed ?? {}).sort(), Object.keys(expected).sort(), 'keys')
  const shape = ({ ips = [] }: Printed): unknown =>
    ips.map(({ address, gateway }) => [address.includes(':'), address.replace(/.*\//, ''), gateway])
  t.strictSame(shape(printed ?? {}), shape(expected), 'families, prefix lengths and gateways')
}

t.ok(chosen.length >= 30, `${chosen.length} cases`)
const groups = new Map<string, Golden[]>()
for (const golden of chosen) {
  const group = golden.sequence ?? String(golden.id)
  groups.set(group, [...(groups.get(group) ?? []), golden])
}

for (const [group, members] of groups) {
  t.test(
    members.length > 1 ? `sequence ${group}` : `${group} ${members[0]?.title.slice(0, 60) ?? ''}`,
    { skip: missing('executables') },
    async t => {
      const daemon = await startFresh(t)
      for (const golden of members) {
        const finished = await runPlugin({
          plugin: join(distFolder, 'ipkeeper'),
          command: '',
          config: (golden.stdin ?? '').replaceAll('"host-local"', '"ipkeeper"'),
          env: { ...golden.env, IPKEEPER_SOCKET: daemon.socket, IPKEEPER_STATE_DIR: daemon.stateDir },
        })
        assertCase(t, golden, finished.exit, finished.stdout)
      }
    },
  )
}
