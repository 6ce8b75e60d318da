import type { Test } from 'tap'
import { startLan, type Lan } from './lan.ts'
import { tempFolder } from './temp-folder.ts'
import { startWiredNode, type NodeOptions, type WiredNode } from './wired-node.ts'

export interface WiredLan extends Lan {
  /** One for each host, in their order. */
  readonly nodes: readonly WiredNode[]
}

/**
 * A LAN whose hosts are nodes with a daemon of their own, made for one test and gone when it ends.
 *
 * @param ofHost options of the node on the host of this number, from 1
 */
export async function makeWiredLan(
  t: Test,
  options: { readonly hosts: number; readonly mtu?: number },
  ofHost: (number: number) => Omit<NodeOptions, 'folder'>,
): Promise<WiredLan> {
  const folder = tempFolder(t)
  const lan = await startLan(options)
  t.teardown(() => lan.close())
  const nodes: WiredNode[] = []
  for (const [index, host] of lan.hosts.entries())
    nodes.push(await startWiredNode(host, { ...ofHost(index + 1), folder }))
  return { ...lan, nodes }
}
