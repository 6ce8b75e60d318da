/** What the daemon reads out of a request: annotations, addresses, ranges, lists. A request or a problem, nothing else. */
import { isIP } from 'node:net'
import fc from 'fast-check'
import {
  readIdentity,
  readIpamConfig,
  readPreviousAddresses,
  readValidAttachments,
} from '../../ipkeeper-server/ipam/request/network-config.ts'
import type { AddressRequest, PodRequest } from '../../ipkeeper-server/ipam/request/request.ts'
import { readPodRequest } from '../../ipkeeper-server/kubernetes/annotations/read-pod-request.ts'
import { readPlainly, plainNode } from '../ipkeeper-server/http/app-parts.ts'
import { isJsonObject, type JsonObject } from '../../shared/json/fold.ts'
import { formatAddress } from '../../shared/net/address.ts'
import { catalogue, type ProblemCode } from '../../shared/problem/catalogue.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { prefixed, spelt } from './arbitraries/address-text.ts'
import { args } from './arbitraries/environment.ts'
import { print } from './arbitraries/json-text.ts'
import { annotations, netconfDocument } from './arbitraries/netconf.ts'
import { oddOrHugeText } from './arbitraries/odd-text.ts'
import { property } from './property.ts'

/** Far more than any value takes, and less than one takes whose length counts twice. */
const longestMs = 5_000

type Outcome<Value> = { readonly value: Value } | { readonly problem: Problem }

function attempt<Value>(run: () => Value, codes: readonly ProblemCode[]): Outcome<Value> {
  try {
    return { value: run() }
  } catch (error) {
    if (!(error instanceof Problem) || !codes.includes(error.code)) throw error
    if (error.message === '' || error.hint === '')
      throw new Error(`${error.code} says nothing`, { cause: error })
    return { problem: error }
  }
}

/** Every code but that of a bug. */
const anyCode = (Object.keys(catalogue) as ProblemCode[]).filter(code => code !== 'IPK_INTERNAL')

/** Reads, and looks at what reading must never do: throw what is no such problem, take for ever, reach other objects. */
function read<Value>(run: () => Value, codes: readonly ProblemCode[] = anyCode): Outcome<Value> {
  const started = performance.now()
  const outcome = attempt(run, codes)
  const ms = performance.now() - started
  if (ms > longestMs) throw new Error(`reading took ${ms} ms`)
  if (Object.keys(Object.prototype).length > 0) throw new Error('every object has a key more')
  return outcome
}

/** "10.22.0.5" or "fd00:22::5/64" as Node writes it; undefined when Node says that it is none. */
function canonical(text: string): string | undefined {
  const [address = '', length, ...more] = text.split('/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 0 || more.length > 0) return undefined
  const shown = family === 4 ? address : new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(shown)
  const halves = mapped?.slice(1).map(half => Number.parseInt(half, 16))
  const plain = halves ? halves.flatMap(half => [half >> 8, half & 255]).join('.') : shown
  if (length === undefined) return plain
  const longest = plain.includes(':') ? 128 : 32
  return /^(0|[1-9][0-9]*)$/.test(length) && Number(length) <= longest ? `${plain}/${length}` : undefined
}

const show = ({ address, prefixLength }: AddressRequest): string =>
  prefixLength === undefined ? formatAddress(address) : `${formatAddress(address)}/${prefixLength}`

const annotationCodes = ['IPK_ANNOTATION_INVALID', 'IPK_ADDRESS_INVALID', 'IPK_REQUESTS_DISAGREE'] as const

/** What a pod's own annotations ask for, without a namespace. */
const readAnnotations = (podAnnotations: Readonly<Record<string, string>>, ifname: string): PodRequest =>
  readPodRequest({ podAnnotations, namespace: undefined, ifname, dialects: new Set() })

/** What the annotations of an interface say about its addresses, when they may say it. */
function spokenAddresses(
  given: Readonly<Record<string, string>>,
  ifname: string,
): readonly string[] | undefined {
  const keys = [...(ifname === 'eth0' ? ['ipkeeper.io/ip'] : []), `ipkeeper.io/ip.${ifname}`]
  const values = keys.flatMap(key => (Object.hasOwn(given, key) ? [given[key] ?? ''] : []))
  return values[0]?.split(',').map(part => part.trim())
}

export const podAnnotations = property({
  name: 'annotations',
  runs: 1000,
  cases: fc.record({ given: annotations, ifname: fc.constantFrom('eth0', 'eth0', 'net1', 'toString') }),
  check: ({ given, ifname }) => {
    const outcome = read(() => readAnnotations(given, ifname), annotationCodes)
    if ('problem' in outcome) {
      if (!outcome.problem.message.includes('ipkeeper.io/')) throw new Error('the annotation is not named')
      return outcome.problem.code
    }
    const { addresses, candidates, pools, gateways, retain, mac } = outcome.value
    if (gateways.length > 0) throw new Error('no annotation of ours names a gateway')
    if (addresses.length > 0 && candidates.length > 0) throw new Error('it asks for addresses twice')
    const spoken = spokenAddresses(given, ifname)
    const named = addresses.map(show)
    const wanted = (spoken ?? []).map(text => canonical(text) ?? `no address: ${text}`)
    if (named.join() !== wanted.join()) throw new Error(`${wanted.join()} was read as ${named.join()}`)
    if (new Set(addresses.map(each => each.address.family)).size < named.length)
      throw new Error('two of a family')
    if (named.length > 0) return 'asks for addresses'
    if (candidates.length > 0) return 'asks for candidates'
    if (pools.length > 0) return 'asks for a pool'
    return retain !== undefined || mac !== undefined ? 'asks for something else' : 'asks for nothing'
  },
  shares: {
    'asks for addresses': 10,
    'asks for candidates': 0.5,
    'asks for a pool': 0.2,
    'asks for something else': 0.5,
    'asks for nothing': 10,
    IPK_ANNOTATION_INVALID: 8,
    IPK_ADDRESS_INVALID: 1,
    IPK_REQUESTS_DISAGREE: 0.1,
  },
})

const space = fc.constantFrom('', '', ' ', '\t', '  ')
const requestText = fc
  .array(fc.tuple(fc.oneof(spelt, prefixed), space, space), { minLength: 1, maxLength: 2 })
  .map(list => ({
    value: list.map(([{ text }, before, after]) => before + text + after).join(','),
    families: list.map(([{ address }]) => address.family),
    wanted: list.map(([one]) => {
      const length = 'prefixLength' in one ? `/${one.prefixLength}` : ''
      return formatAddress(one.address) + length
    }),
  }))

export const askedAddresses = property({
  name: 'addresses that are asked for',
  runs: 600,
  cases: requestText,
  check: ({ value, families, wanted }) => {
    const key = 'ipkeeper.io/ip'
    const outcome = read(() => readAnnotations({ [key]: value }, 'eth0'), annotationCodes)
    const twice = new Set(families).size < families.length
    if (twice !== 'problem' in outcome)
      throw new Error(twice ? 'two of a family are one too many' : 'refused')
    if ('problem' in outcome) return 'two of a family'
    const named = outcome.value.addresses.map(show)
    if (named.join() !== wanted.join()) throw new Error(`${wanted.join()} was read as ${named.join()}`)
    return named.length === 2 ? 'one of each family' : 'one'
  },
  shares: { one: 30, 'one of each family': 10, 'two of a family': 10 },
})

/** A configuration as the route's schema has it. Cases keep the text: what nests deep cannot be shown otherwise. */
function configOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}
const configText = netconfDocument.map(print)

const facts = { ...plainNode, readResolvConf: () => ({ nameservers: ['10.0.0.53'] }) }

/** Every text anywhere in a value. */
function* textsIn(value: unknown): Generator<string> {
  const left: unknown[] = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === 'string') yield next
    else if (typeof next === 'object' && next !== null) left.push(...(Object.values(next) as unknown[]))
  }
}

export const addRequests = property({
  name: 'ADD as the daemon reads it',
  runs: 1500,
  cases: fc.record({
    containerId: fc.oneof(
      { weight: 12, arbitrary: fc.constant('c1') },
      { weight: 1, arbitrary: oddOrHugeText },
    ),
    netns: fc.constantFrom('/run/netns/a', ''),
    ifname: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom('eth0', 'net1') },
      { weight: 1, arbitrary: oddOrHugeText },
    ),
    args: fc.oneof({ weight: 6, arbitrary: args }, { weight: 1, arbitrary: oddOrHugeText }),
    text: configText,
  }),
  check: ({ text, ...named }) => {
    const request = { ...named, path: '/opt/cni/bin', config: configOf(text) }
    const outcome = read(() => readPlainly(request, facts))
    if ('problem' in outcome) return 'refused'
    const { pod, inline: pool, key } = outcome.value
    if (key.containerId !== request.containerId || key.ifname !== request.ifname)
      throw new Error('another attachment')
    if (!pool || pool.rangeSets.length === 0 || pool.rangeSets.some(set => set.length === 0))
      throw new Error('nothing to give')
    const spelled = new Set(
      [...textsIn(request)].flatMap(text => text.split(/[,;=]/)).map(part => canonical(part.trim()) ?? ''),
    )
    const invented = pod.addresses.map(show).filter(address => !spelled.has(address))
    if (invented.length > 0) throw new Error(`nobody asked for ${invented.join()}`)
    return pod.addresses.length > 0 ? 'asks for addresses' : 'asks for none'
  },
  shares: { refused: 20, 'asks for addresses': 7, 'asks for none': 7 },
})

export const lists = property({
  name: 'lists of attachments and earlier addresses',
  runs: 600,
  cases: configText,
  check: text => {
    const given = configOf(text)
    const valid = read(() => readValidAttachments(given), ['IPK_CONFIG_UNDECODABLE', 'IPK_CONFIG_INVALID'])
    const previous = read(() => readPreviousAddresses(given), [])
    if ('value' in previous && previous.value?.some(text => typeof text !== 'string'))
      throw new Error('no text')
    const ipam = read(() => readIpamConfig(given, readIdentity(given)))
    if ('problem' in valid) return 'list refused'
    if (valid.value === undefined) return 'no list'
    const named = valid.value.every(
      each => typeof each.containerId === 'string' && typeof each.ifname === 'string',
    )
    if (!named) throw new Error('an attachment without its name')
    return 'value' in ipam ? 'list' : 'list, no ranges'
  },
  shares: { list: 5, 'no list': 30, 'list refused': 3 },
})
