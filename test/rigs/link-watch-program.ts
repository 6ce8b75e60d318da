/**
 * The daemon's part that knows the links of its node, alone in a host. A line of stdin that is an address is answered by the
 * link that has it, or "-"; one that is a MAC by the links that have it; any other by the ports of the bridge it names. What is told of trouble comes
 * with "trouble: " before it, of an address that is gone with "gone: ". With the word "netlink" it listens by itself, else by
 * `ip monitor`. It ends with its stdin.
 */
import { createInterface } from 'node:readline'
import { loadRouteSockets } from '../../ipkeeper-server/network/netlink/load-route-sockets.ts'
import { NetlinkMonitor } from '../../ipkeeper-server/network/netlink/netlink-monitor.ts'
import { LinkWatch } from '../../ipkeeper-server/network/node/link-watch.ts'
import { runTool } from '../../ipkeeper-server/network/run-tool.ts'
import { parseAddress } from '../../shared/net/address.ts'

const say = (text: string): void => void process.stdout.write(`${text}\n`)

const sockets = process.argv[2] === 'netlink' ? await loadRouteSockets('/nonexistent') : undefined
const leave = (error: unknown): void => {
  say(`trouble: netlink is left: ${String(error)}`)
}

const watch = new LinkWatch({
  run: runTool,
  ...(sockets && { openMonitor: listener => new NetlinkMonitor(sockets, leave, listener) }),
  onTrouble: why => {
    say(`trouble: ${why ?? 'none'}`)
  },
  onAddressGone: ({ link, cidr }) => {
    say(`gone: ${link} ${cidr}`)
  },
  pauseMs: 300,
})
watch.start()
for await (const line of createInterface({ input: process.stdin })) {
  const address = parseAddress(line)
  const links = await watch.now()
  const own = address && links.own.find(address)
  if (address) say(own ? `${own.link} ${own.cidr}` : '-')
  else say((line.includes(':') ? links.withMac(line) : links.portsOf(line)).toSorted().join(' ') || '-')
}
watch.stop()
