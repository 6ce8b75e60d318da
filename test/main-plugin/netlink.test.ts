/** Whatever keeps the library of netlink from being loaded: pods are wired by `ip`, and the log says why in one line. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { findProgram } from '../rigs/find-program.ts'
import { startPrivateHost } from '../rigs/private-host.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'
import { addressOf, podRanges, startWiredNode, type WiredNode } from '../rigs/wired-node.ts'

const skip = missing('namespaces', 'nft', 'executables')

const place = '/run/containerd/state'
const native = `${place}/native`

/** A node whose state folder is a file system of its own. */
async function makeNode(t: Test, options: string, commands: readonly string[]): Promise<WiredNode> {
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const made = [`mkdir -p ${place}`, `mount -t tmpfs -o mode=0700,${options} tmpfs ${place}`, ...commands]
  await host.must('sh', ['-ec', made.join('\n')])
  return await startWiredNode(host, {
    ...{ folder: tempFolder(t), settings: { mode: 'bridge' }, stateDir: place },
    env: { IPK_NETLINK: '' },
  })
}

interface Row {
  readonly what: string
  /** How the state folder is mounted. */
  readonly options?: string
  /** Run in it before the daemon starts. */
  readonly commands?: readonly string[]
  /** What the log says; undefined: nothing, and netlink is used. */
  readonly says: RegExp | undefined
}

const rows: readonly Row[] = [
  { what: 'a state folder as it should be', says: undefined },
  {
    what: 'a library that somebody put there',
    commands: [`mkdir ${native}`, `head -c 5000 /dev/zero >${native}/koffi.node`],
    says: undefined,
  },
  { what: 'a file in place of its folder', commands: [`touch ${native}`], says: undefined },
  { what: 'no right to execute', options: 'noexec', says: /koffi\.node: failed to map segment/ },
  {
    what: 'no room for it',
    commands: [`mount -o remount,size=4m ${place}`],
    says: /ENOSPC/,
  },
  {
    what: 'a folder that cannot be removed',
    commands: [`mkdir ${native}`, `mount -t tmpfs tmpfs ${native}`],
    says: /EBUSY/,
  },
]

for (const { what, options = 'exec', commands = [], says } of rows)
  t.test(what, { skip }, async t => {
    const node = await makeNode(t, options, commands)
    for (const pod of [await node.pod(), await node.pod()]) {
      const result = await pod.add()
      const [link] = (await pod.namespace.ip('address', 'show', 'dev', 'eth0')) as readonly {
        readonly addr_info: readonly { readonly local: string }[]
      }[]
      const found = link?.addr_info.map(({ local }) => local) ?? []
      for (const family of [4, 6] as const) t.ok(found.includes(addressOf(result, family)), found.join())
    }
    const said = node
      .daemon()
      .log()
      .split('\n')
      .filter(line => line.includes('netlink cannot be used'))
    t.equal(said.length, says ? 1 : 0, said.join('\n'))
    if (says) t.match(said[0], says)
    const left = await node.host.must('ls', [place])
    t.equal(/^native$/m.test(left), what === 'a folder that cannot be removed', left)
  })

t.test('pods of IPv4 come and go without a program', { skip }, async t => {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const [program, log] = [folder.file('ip'), folder.file('log')]
  writeFileSync(program, `#!/bin/sh\necho "$@" >>${log}\nexec ${findProgram('ip') ?? 'ip'} "$@"\n`)
  chmodSync(program, 0o755)
  const env = { IPK_NETLINK: '', PATH: `${folder.path}:/usr/sbin:/usr/bin:/sbin:/bin` }
  for (const mode of ['bridge', 'ptp']) {
    const node = await startWiredNode(host, {
      ...{ folder, env, settings: { mode }, ipam: { ranges: [podRanges.ipv4] } },
    })
    const pods = await Promise.all(Array.from({ length: 12 }, () => node.pod()))
    for (const pod of pods) await pod.add()
    const [first, ...others] = pods
    await first?.del()
    await Promise.all(others.map(pod => pod.del()))
    const links = await host.must('ip', ['-o', 'link', 'show', 'type', 'veth'])
    await node.daemon().stop()
    t.equal(links, '', mode)
  }
  const programs = readFileSync(log, 'utf8').match(/^.*(?:-batch|monitor).*$/gm)
  t.strictSame(programs, null, 'links are watched without one as well')
})
