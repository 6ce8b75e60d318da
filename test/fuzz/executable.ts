/** The packaged plugin with the packaged daemon: the dispatcher's promises, seen from outside. */
import fc from 'fast-check'
import type { LeasesReply } from '../../shared/api/listing.schema.ts'
import { supportedVersions } from '../../shared/cni/versions.ts'
import type { Daemon } from '../rigs/daemon.ts'
import { testedPlugin } from '../rigs/requirements.ts'
import { runProgram, type Finished } from '../rigs/run-program.ts'
import { environment } from './arbitraries/environment.ts'
import { stdinText } from './arbitraries/netconf.ts'
import { property, type Property } from './property.ts'

/** What execve refuses is nothing that a runtime can send: a NUL ends a string. */
const passable = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value.replaceAll('\0', '')]],
    ),
  )

const call = fc.record({
  env: environment.map(passable),
  stdin: stdinText,
})

interface Call {
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
}

/** A code of the specification that we use, or one of ours. */
const codes = [1, 2, 4, 5, 6, 7, 8, 11, 50, 51]

function checkEnd({ env }: Call, { exit, signal, stdout, stderr }: Finished): string {
  const verb = env['CNI_COMMAND'] ?? ''
  if (exit !== 0 && exit !== 1) throw new Error(`${verb} ended with ${String(exit ?? signal)}: ${stderr}`)
  if (verb === '') {
    if (exit !== 0 || stdout !== '') throw new Error('without a command there is only the about text')
    return 'about'
  }
  const speaks = exit === 1 || verb === 'ADD' || verb === 'VERSION'
  if (!speaks) {
    if (stdout !== '') throw new Error(`${verb} succeeded and said ${stdout}`)
    return `${verb} succeeded`
  }
  const document = JSON.parse(stdout) as Record<string, unknown>
  if (exit === 0) {
    const { ips, ip4, ip6, supportedVersions: spoken } = document
    const result = Array.isArray(ips) ? ips.length > 0 : Boolean(ip4 ?? ip6)
    if (verb === 'VERSION' ? !Array.isArray(spoken) : !result)
      throw new Error(`${verb} succeeded with ${stdout}`)
    return `${verb} succeeded`
  }
  const { code, msg, cniVersion } = document
  const known = typeof code === 'number' && (codes.includes(code) || (Number.isInteger(code) && code >= 100))
  if (!known || code === 199 || typeof msg !== 'string' || msg === '')
    throw new Error(`an error of ${stdout}`)
  if (!(supportedVersions as readonly unknown[]).includes(cniVersion))
    throw new Error(`version ${String(cniVersion)}`)
  if (verb === 'DEL' && /not found|no such file or directory/i.test(stdout))
    throw new Error(`DEL says ${stdout}`)
  return 'failed'
}

/** Several at once, because that is how pods come; one address is never given to two. */
export function executableRuns(daemon: Daemon): Property {
  const run = async (given: Call): Promise<string> => {
    const env = {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      ...given.env,
      // Nothing may reach a daemon of this machine, or its state.
      IPKEEPER_SOCKET: daemon.socket,
      IPKEEPER_STATE_DIR: daemon.stateDir,
    }
    return checkEnd(given, await runProgram(testedPlugin, [], { env, input: given.stdin }))
  }
  return property({
    name: 'the executables',
    runs: 75,
    cases: fc.array(call, { minLength: 4, maxLength: 4 }),
    check: async calls => {
      const ends = await Promise.all(calls.map(run))
      const bound = await daemon.ask('GET', '/v1/leases')
      const { leases } = JSON.parse(bound.body) as LeasesReply
      const keys = leases.map(({ segment, address }) => `${segment} ${address}`)
      if (new Set(keys).size < keys.length) throw new Error(`an address is given twice: ${bound.body}`)
      // Each case begins without what the one before it left.
      for (const { network, containerId, ifname } of leases) {
        if (containerId === null) continue
        const attachment = { containerId, ifname, netns: '', args: '', path: '', config: { name: network } }
        const reply = await daemon.ask('POST', '/v1/cni/del', attachment)
        if (reply.status !== 200) throw new Error(`DEL of ${network} ${containerId} ${ifname}: ${reply.body}`)
      }
      if (ends.includes('ADD succeeded')) return 'an ADD succeeded'
      return ends.every(end => end === 'failed') ? 'all failed' : 'something succeeded'
    },
    shares: { 'an ADD succeeded': 1, 'something succeeded': 15 },
  })
}
