import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { AddReply, CniRequest } from '../../shared/api/cni.schema.ts'
import type { HttpReply } from './daemon.ts'
import type { CallOptions, WiredNode } from './wired-node.ts'

const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()

/** A sandbox whose ADD and DEL go straight to the daemon's socket, as the plugin would send them: many of them, quickly. */
export interface RequestedPod {
  readonly name: string
  readonly containerId: string
  readonly netns: string
  /** An ADD that has to succeed: its addresses without prefix, and how long it took. */
  add(): Promise<{ readonly addresses: readonly string[]; readonly ms: number }>
  /** A DEL that has to succeed. */
  del(): Promise<void>
}

export interface RequestedPodOptions {
  readonly name?: string
  readonly uid?: string
  readonly containerId?: string
  readonly call?: CallOptions
}

/** @param netns path of a namespace that is there */
export function requestedPod(
  node: WiredNode,
  netns: string,
  options: RequestedPodOptions = {},
): RequestedPod {
  const containerId = options.containerId ?? randomBytes(32).toString('hex')
  const { name = `pod-${containerId.slice(0, 8)}`, uid = randomUUID() } = options
  const send = async (verb: 'add' | 'del'): Promise<HttpReply> => {
    const reply = await node.daemon().ask('POST', `/v1/cni/${verb}`, {
      invocationId: randomUUID(),
      startedAt: Number(process.hrtime.bigint() / 1000n),
      bootId,
      containerId,
      netns,
      ifname: 'eth0',
      args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${name};K8S_POD_INFRA_CONTAINER_ID=${containerId};K8S_POD_UID=${uid}`,
      path: '/opt/cni/bin',
      config: node.config(options.call),
    } satisfies CniRequest)
    if (reply.status !== 200) throw new Error(`${verb} of ${name}: ${reply.status} ${reply.body}`)
    return reply
  }
  return {
    ...{ name, containerId, netns },
    add: async () => {
      const began = performance.now()
      const reply = JSON.parse((await send('add')).body) as AddReply
      if (!('result' in reply)) throw new Error(`ADD of ${name} was left to ${reply.delegate.type}`)
      const addresses = (reply.result.ips ?? []).map(({ address }) => address.replace(/\/.*/, ''))
      return { addresses, ms: performance.now() - began }
    },
    del: async () => {
      await send('del')
    },
  }
}
