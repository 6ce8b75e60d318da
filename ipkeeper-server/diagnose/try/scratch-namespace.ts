import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../../../shared/problem/problem.ts'
import { formatCidr, parseCidr } from '../../../shared/net/cidr.ts'
import { escapeIpJson } from '../../network/plan/command.ts'
import { findProgram, systemFolders } from '../../host/find-program.ts'
import { runProgram } from '../../host/run-program.ts'
import type { NamespaceRoute, ScratchView } from './judge-result.ts'

/** Names of network namespaces that are ours: no other is ever touched. */
export const namespacePrefix = 'ipkeeper-try-'
const ownName = /^ipkeeper-try-[0-9]+-[0-9a-f]{8}$/

const namespaceFolder = '/run/netns'
export const namespacePath = (name: string): string => join(namespaceFolder, name)

export function isOwnName(name: string): boolean {
  return ownName.test(name)
}

const timeoutMs = 15_000

export interface HostLink {
  readonly name: string
  /** "veth", "bridge", ...; "" for a plain one. */
  readonly kind: string
  /** The bridge that it is a port of, or another link that it is a part of. */
  readonly master: string | undefined
}

/** What a try does to the kernel by itself, all of it by `ip`. Each rejects with IPK_TRY_REFUSED. */
export interface ScratchNamespaces {
  readonly add: (name: string) => Promise<void>
  readonly view: (name: string) => Promise<ScratchView>
  /** Whether it is there no more; one that never was is gone, too. */
  readonly remove: (name: string) => Promise<boolean>
  readonly hostLinks: () => Promise<readonly HostLink[]>
  /** Of the host; whether it is gone. */
  readonly removeLink: (name: string) => Promise<boolean>
  /** Exit code of a program inside; null when it did not end in time. */
  readonly run: (name: string, argv: readonly string[], timeoutMs: number) => Promise<number | null>
}

/** Throws IPK_TOOL_MISSING where there is no `ip`. */
export function scratchNamespaces(path: string | undefined): ScratchNamespaces {
  const found = findProgram('ip', path)
  if (found === undefined)
    throw new Problem('IPK_TOOL_MISSING', 'ip is not installed', { hint: 'apt-get install iproute2' })
  const program: string = found
  const env = { LC_ALL: 'C', PATH: systemFolders.join(':') }
  const tryIp = (args: readonly string[], limit = timeoutMs): ReturnType<typeof runProgram> =>
    runProgram({ path: program, args, env, timeoutMs: limit, ownGroup: true })

  async function ip(...args: readonly string[]): Promise<string> {
    const end = await tryIp(args)
    if (end.kind === 'ended' && end.exit === 0) return end.stdout
    const why =
      end.kind === 'late'
        ? 'no end within 15 s'
        : end.kind === 'not-started'
          ? end.error.message
          : end.stderr.trim()
    throw new Problem('IPK_TRY_REFUSED', `ip ${args.join(' ')}: ${why.replaceAll(/\p{Cc}+/gu, ' ')}`)
  }

  async function json(...args: readonly string[]): Promise<readonly unknown[]> {
    const text = (await ip(...args)).trim()
    const value: unknown = text === '' ? [] : JSON.parse(escapeIpJson(text))
    return Array.isArray(value) ? (value as readonly unknown[]) : []
  }

  const routes = async (name: string, family: '4' | '6'): Promise<readonly NamespaceRoute[]> => {
    const listed = await json('-n', name, '-json', `-${family}`, 'route', 'show', 'table', 'main')
    return listed.map(entry => readRoute(entry as RouteJson, family))
  }

  return {
    add: async name => {
      await ip('netns', 'add', name)
      await ip('-n', name, 'link', 'set', 'lo', 'up')
    },
    view: async name => {
      const [links, routes4, routes6] = await Promise.all([
        json('-n', name, '-json', 'address', 'show'),
        routes(name, '4'),
        routes(name, '6'),
      ])
      return { links: links.map(link => readLink(link as LinkJson)), routes: [...routes4, ...routes6] }
    },
    remove: async name => {
      if (!isOwnName(name)) return false
      if (existsSync(namespacePath(name))) await tryIp(['netns', 'delete', name])
      return !existsSync(namespacePath(name))
    },
    hostLinks: async () =>
      (await json('-json', '-details', 'link', 'show')).map(entry => {
        const { ifname = '', linkinfo, master } = entry as LinkJson
        return { name: ifname, kind: linkinfo?.info_kind ?? '', master }
      }),
    removeLink: async name => {
      const end = await tryIp(['link', 'delete', 'dev', name])
      return end.kind === 'ended' && end.exit === 0
    },
    run: async (name, argv, limit) => {
      const end = await tryIp(['netns', 'exec', name, ...argv], limit)
      return end.kind === 'ended' ? end.exit : null
    },
  }
}

interface LinkJson {
  readonly ifname?: string
  readonly address?: string
  readonly linkinfo?: { readonly info_kind?: string }
  readonly master?: string
  readonly addr_info?: readonly { readonly local?: string; readonly prefixlen?: number }[]
}

interface RouteJson {
  readonly dst?: string
  readonly gateway?: string
  readonly via?: unknown
}

/** `ip` may write an address otherwise than we do; both are brought to one form. */
function canonical(text: string): string {
  const cidr = parseCidr(text)
  return cidr ? formatCidr(cidr) : text
}

function readLink({
  ifname = '',
  address = '',
  addr_info: addresses = [],
}: LinkJson): ScratchView['links'][0] {
  return {
    name: ifname,
    mac: address,
    addresses: addresses.map(({ local = '', prefixlen = 0 }) => canonical(`${local}/${prefixlen}`)),
  }
}

function readRoute({ dst = '', gateway, via }: RouteJson, family: '4' | '6'): NamespaceRoute {
  const whole =
    dst === 'default'
      ? { 4: '0.0.0.0/0', 6: '::/0' }[family]
      : dst.includes('/')
        ? dst
        : `${dst}/${{ 4: 32, 6: 128 }[family]}`
  return { dst: canonical(whole), gateway: gateway ?? (via === undefined ? undefined : 'another family') }
}
