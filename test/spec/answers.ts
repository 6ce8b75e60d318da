import type { Test } from 'tap'
import { supportedVersions, verbSince, type CniVersion, type Verb } from '../../shared/cni/versions.ts'
import { network, type Config } from './network.ts'
import type { Answer, Input, Rig } from './rig.ts'
import type { Case } from './row.ts'

export const allVersions: readonly CniVersion[] = supportedVersions

/** The versions that have a verb. */
export function versionsWith(verb: Verb): readonly CniVersion[] {
  return allVersions.slice(allVersions.indexOf(verbSince[verb] ?? '0.1.0'))
}

/** The other ones: where the verb has to be refused. */
export function versionsWithout(verb: Verb): readonly CniVersion[] {
  const having = versionsWith(verb)
  return allVersions.filter(version => !having.includes(version))
}

export const isByFamily = (version: CniVersion): boolean => version === '0.1.0' || version === '0.2.0'

/** What an error has to say. A text that is not given may be anything. */
export interface Refusal {
  readonly code: number
  readonly msg: string | RegExp
  readonly details?: string | RegExp
}

function assertText(t: Test, actual: unknown, expected: string | RegExp, name: string): void {
  if (typeof expected === 'string') t.equal(actual, expected, name)
  else t.match(actual, expected, name)
}

/** An error as the specification wants it: exit 1, the error object alone on stdout, nothing of a result. */
export function assertRefused(t: Test, answer: Answer, refusal: Refusal, why: string): void {
  const { document = {} } = answer
  t.equal(answer.exit, 1, `${why}: exit 1`)
  t.equal(document['code'], refusal.code, `${why}: code`)
  assertText(t, document['msg'], refusal.msg, `${why}: msg`)
  if (refusal.details !== undefined) assertText(t, document['details'], refusal.details, `${why}: details`)
  const { cniVersion, code, msg, details = '', ...others } = document
  t.match({ cniVersion, code, msg, details }, { cniVersion: String, code: Number, msg: /./, details: String })
  t.strictSame(others, {}, `${why}: no other key`)
  t.equal(answer.stderr, '', `${why}: nothing on stderr`)
}

/** A success that has nothing to say. */
export function assertSilent(t: Test, answer: Answer, why: string): void {
  t.strictSame([answer.exit, answer.stdout], [0, ''], `${why}: exit 0, and nothing on stdout`)
}

/** Keys that the result of a version may have (rows E1, H6). Interfaces are a main plugin's, not an IPAM plugin's. */
function keysOf(version: CniVersion): { top: string[]; ip: string[]; route: string[] } {
  const route = ['dst', 'gw']
  if (isByFamily(version))
    return { top: ['cniVersion', 'ip4', 'ip6', 'dns'], ip: ['ip', 'gateway', 'routes'], route }
  const top = ['cniVersion', 'ips', 'routes', 'dns']
  const ip = ['address', 'gateway', ...(version.startsWith('0.') ? ['version'] : [])]
  const more = ['mtu', 'advmss', 'priority', 'table', 'scope']
  return { top, ip, route: version === '1.1.0' ? [...route, ...more] : route }
}

interface ResultDocument {
  readonly ip4?: { readonly ip: string; readonly routes?: readonly object[] }
  readonly ip6?: { readonly ip: string; readonly routes?: readonly object[] }
  readonly ips?: readonly { readonly address: string }[]
  readonly routes?: readonly object[]
}

/** A result in the strict shape of its version. Returns its addresses in CIDR notation, IPv4 first. */
export function assertResult(t: Test, answer: Answer, version: CniVersion, why: string): readonly string[] {
  t.equal(answer.exit, 0, `${why}: exit 0 ${answer.exit === 0 ? '' : answer.stdout}`)
  const { document = {} } = answer
  t.equal(document['cniVersion'], version, `${why}: in its own version`)
  const result = document as ResultDocument
  const families = [result.ip4, result.ip6].filter(family => family !== undefined)
  const allowed = keysOf(version)
  const onlyKeys = (objects: readonly object[], keys: readonly string[], what: string): void => {
    const strange = objects.flatMap(object => Object.keys(object)).filter(key => !keys.includes(key))
    t.strictSame(strange, [], `${why}: no other key in ${what}`)
  }
  onlyKeys([document], allowed.top, 'the result')
  onlyKeys([...(result.ips ?? []), ...families], allowed.ip, 'an address')
  onlyKeys([...(result.routes ?? []), ...families.flatMap(one => one.routes ?? [])], allowed.route, 'a route')
  const addresses = [...families.map(family => family.ip), ...(result.ips ?? []).map(ip => ip.address)]
  t.not(addresses.length, 0, `${why}: an address`)
  return addresses.sort((one, other) => Number(one.includes(':')) - Number(other.includes(':')))
}

type RefusalRow = readonly [
  why: string,
  input: Input,
  ...refusal: readonly [Refusal['code'], Refusal['msg'], Refusal['details']?],
]

/** A case of inputs that are all refused and leave nothing behind; those without a configuration get the usual one. */
export function refuses(
  title: string,
  rowsOf: (version: CniVersion) => readonly RefusalRow[],
  options: Pick<Case, 'versions' | 'differs'> = {},
): Case {
  return {
    title,
    changesNothing: true,
    ...options,
    run: async (t, rig, version) => {
      for (const [why, input, code, msg, details] of rowsOf(version)) {
        const answer = await rig.run({ config: network(version), ...input })
        assertRefused(t, answer, { code, msg, ...(details !== undefined && { details }) }, why)
      }
    },
  }
}

/** ADD of a container, which has to succeed. Returns its addresses. */
export async function added(
  t: Test,
  rig: Rig,
  version: CniVersion,
  input: Input = {},
  why = 'ADD',
): Promise<readonly string[]> {
  return assertResult(t, await rig.run({ config: network(version), ...input }), version, why)
}

/** Any verb that has to succeed in silence. */
export async function silent(
  t: Test,
  rig: Rig,
  input: Input & { readonly config: Config },
  why: string,
): Promise<void> {
  assertSilent(t, await rig.run(input), why)
}

/** The environment of another container. */
export const container = (id: string, ifname = 'eth0'): Record<string, string> => ({
  CNI_CONTAINERID: id,
  CNI_IFNAME: ifname,
})
