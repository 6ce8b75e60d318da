import { findClusterProgram } from './cluster-programs.ts'
import type { LanHost } from './lan.ts'
import { until } from './poll.ts'
import type { TempFolder } from './temp-folder.ts'

/** On which it listens for daemons. */
export const lanEtcdPort = 2379

/** A host, and the address of it that others reach. */
type EtcdHost = Pick<LanHost, 'ipv4' | 'run' | 'must'>

/**
 * Starts an etcd on the router of a LAN, and waits until it listens. It ends with that host.
 *
 * @returns its URL
 */
export async function startLanEtcd(
  { outside }: { readonly outside: EtcdHost },
  folder: TempFolder,
): Promise<string> {
  const url = `http://${outside.ipv4}:${lanEtcdPort}`
  const flags = ['--name=only', `--data-dir=${folder.file('etcd')}`, '--unsafe-no-fsync']
  const urls = [`--listen-client-urls=${url}`, `--advertise-client-urls=${url}`]
  const peers = '--listen-peer-urls=http://127.0.0.1:2380'
  const etcd = findClusterProgram('etcd') ?? 'etcd'
  void outside.run(etcd, [...flags, ...urls, peers]).catch(() => undefined)
  const listens = ['-Hltn', 'sport', '=', `:${lanEtcdPort}`]
  await until('etcd listens', async () => (await outside.must('ss', listens)) !== '')
  return url
}
