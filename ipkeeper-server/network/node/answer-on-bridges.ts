import { readFile, writeFile } from 'node:fs/promises'
import { toProblem } from '../../../shared/problem/problem.ts'
import { runCommands, ipJson } from '../ip-commands.ts'
import { writeIpv6Setting, settingFile } from './kernel-settings.ts'
import type { Command } from '../plan/command.ts'
import { type AnsweringBridge, routeProtocol } from '../plan/plan-node-routes.ts'
import type { RunTool } from '../run-tool.ts'

/**
 * Has this node answer on its pods' bridges for pods of other nodes: their subnet is on the link for the pods there, so they
 * ask for them instead of sending to the gateway. In IPv4 the kernel answers for whatever it has a route to through another
 * link (proxy_arp), in IPv6 for the addresses that it is told of, which bear our number (linux:Documentation/networking/
 * ip-sysctl). The kernel would wait for up to 0.8 s before each such answer.
 *
 * @param bridges all bridges of the host: proxies of ours on those that no longer answer are removed
 * @returns what went wrong
 */
export async function answerOnBridges(
  run: RunTool,
  bridges: readonly string[],
  answering: readonly AnsweringBridge[],
): Promise<unknown[]> {
  const problems: unknown[] = []
  const wanted = new Map(answering.map(one => [one.bridge, one]))
  for (const bridge of bridges) {
    const own = wanted.get(bridge)
    try {
      if (own?.ipv4 === true) {
        await write(`ipv4/neigh/${bridge}/proxy_delay`, '0')
        await write(`ipv4/conf/${bridge}/proxy_arp`, '1')
      }
      if (own && own.ipv6.length > 0) {
        await write(`ipv6/neigh/${bridge}/proxy_delay`, '0')
        await writeIpv6Setting(bridge, 'proxy_ndp', '1')
      }
      const commands = proxyCommands(bridge, await presentProxies(run, bridge), own?.ipv6 ?? [])
      await runCommands(run, commands, undefined)
    } catch (error) {
      problems.push(toProblem(error))
    }
  }
  return problems
}

/**
 * Ends that this node answers on a bridge for addresses that are now to be had there: asked whether anybody has one, it would
 * say so of itself. In IPv4 the kernel answers nobody who has no address yet.
 */
export async function stopAnswering(
  run: RunTool,
  bridge: string,
  addresses: readonly string[],
): Promise<void> {
  const present = (await presentProxies(run, bridge)).filter(address => addresses.includes(address))
  await runCommands(run, proxyCommands(bridge, present, []), undefined)
}

async function write(key: string, value: string): Promise<void> {
  if ((await readFile(`/proc/sys/net/${key}`, 'utf8')).trim() !== value)
    await writeFile(settingFile(key), value)
}

async function presentProxies(run: RunTool, bridge: string): Promise<readonly string[]> {
  const words = ['-N', '-6', 'neighbour', 'show', 'proxy', 'dev', bridge]
  const shown = (await ipJson(run, words)) as readonly {
    readonly dst?: string
    readonly protocol?: string
  }[]
  return shown.flatMap(({ dst, protocol }) => (protocol === routeProtocol && dst !== undefined ? [dst] : []))
}

function proxyCommands(bridge: string, present: readonly string[], wanted: readonly string[]): Command[] {
  const there = new Set(present)
  const goals = new Set(wanted)
  return [
    ...wanted
      .filter(address => !there.has(address))
      .map((address): Command => ({
        place: 'host',
        words: ['neighbour', 'replace', 'proxy', address, 'dev', bridge, 'protocol', routeProtocol],
        about: `answer for ${address} on ${bridge}`,
      })),
    ...present
      .filter(address => !goals.has(address))
      .map((address): Command => ({
        place: 'host',
        words: ['neighbour', 'delete', 'proxy', address, 'dev', bridge],
        about: `no longer answer for ${address} on ${bridge}`,
        missing: 'fine',
      })),
  ]
}
