/** From host-local to ipkeeper on a node whose pods run on: real containerd, real host-local, nothing restarted. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { startContainerd } from '../rigs/containerd.ts'
import type { Pod } from '../rigs/cri.ts'
import { startDaemon } from '../rigs/daemon.ts'
import { until } from '../rigs/poll.ts'
import { startPrivateHost } from '../rigs/private-host.ts'
import { distFolder, missing, testedPlugin } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('namespaces', 'reference-plugins', 'containerd', 'executables')

interface Item {
  readonly address: string
  readonly verdict: string
  readonly as: string | null
  readonly containerId: string | null
  readonly ifname: string | null
  readonly reason: string
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string | null } | null
}

interface Report {
  readonly items: readonly Item[]
  readonly unreadable: readonly { readonly address: string; readonly why: string }[]
  readonly counts: Readonly<Record<string, number>>
}

t.test('pods that host-local gave their addresses', { skip }, async t => {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  const socket = folder.file('ipkeeper.sock')
  const stateDir = folder.file('state')
  const daemon = await startDaemon({ socket, stateDir, host })
  const conflist = (ipam: object): object => ({
    cniVersion: '1.0.0',
    name: 'fixed',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        capabilities: { 'io.kubernetes.cri.pod-annotations': true },
        ipam: { ranges: [[{ subnet: '10.22.0.0/16' }], [{ subnet: 'fd00:22::/64' }]], ...ipam },
      },
    ],
  })
  const containerd = await startContainerd({
    ...{ host, folder, conflist: conflist({ type: 'host-local' }) },
    plugins: { ipkeeper: testedPlugin },
  })
  t.teardown(async () => {
    await containerd.close()
    await daemon.stop()
    await host.close()
  })
  const pod = (name: string): Pod => ({ namespace: 'shop', name, uid: randomUUID(), annotations: {} })
  const { cri } = containerd
  const pods = [pod('web-0'), pod('db-0'), pod('web-6d4cf56db6-x2x5z')] as const
  const ids: string[] = []
  for (const one of pods) ids.push(await cri.run(one))
  const [web = '', db = ''] = ids

  const networks = '/var/lib/cni/networks/fixed'
  const write = (name: string, text: string): Promise<string> =>
    host.must('sh', ['-c', `printf '${text}' > ${networks}/${name}`])
  const digest = (): Promise<string> =>
    host.must('sh', ['-c', `cd ${networks} && ls -l --time-style=full-iso && md5sum *`])
  const runImport = async (
    ...words: readonly string[]
  ): Promise<{ exit: number | null; report: Report; text: string }> => {
    const finished = await host.run(join(distFolder, 'ipkeeperctl'), [
      ...['import', 'host-local', '--socket', socket, '--net-dir', containerd.confDir, '-o', 'json'],
      ...['--runtime', folder.file('containerd.sock'), ...words],
    ])
    const text = finished.stdout + finished.stderr
    return { exit: finished.exit, report: JSON.parse(finished.stdout || 'null') as Report, text }
  }
  const verdicts = ({ items }: Report): string[] =>
    items.map(({ address, verdict }) => `${address} ${verdict}`).sort()

  await write('10.22.0.77', '')
  await write('10.22.0.78', 'no container at all')
  await write('10.22.0.88', `${'ab'.repeat(32)}\\r\\neth0`)
  await write('10.22.0.1', `${web}\\r\\neth9`)
  const before = await digest()
  const live = ['10.22.0.2', '10.22.0.3', '10.22.0.4', 'fd00:22::2', 'fd00:22::3', 'fd00:22::4']

  await t.test('a dry run shows what would become of each, and changes nothing', async t => {
    const { exit, report } = await runImport()
    t.same(verdicts(report), [
      '10.22.0.1 unfit',
      '10.22.0.2 adopt',
      '10.22.0.3 adopt',
      '10.22.0.4 adopt',
      '10.22.0.88 unfit',
      'fd00:22::2 adopt',
      'fd00:22::3 adopt',
      'fd00:22::4 adopt',
    ])
    t.match(
      report.items.find(({ address }) => address === '10.22.0.1')?.reason,
      /the gateway of 10\.22\.0\.0\/16/,
    )
    t.match(
      report.items.find(({ address }) => address === '10.22.0.88')?.reason,
      /cannot determine whether it is running: no runtime of this node lists/,
    )
    t.match(
      report.items.find(({ address }) => address === '10.22.0.2'),
      {
        containerId: web,
        ifname: 'eth0',
        pod: { namespace: 'shop', name: 'web-0', uid: pods[0].uid },
      },
    )
    t.same(report.unreadable.map(({ address }) => address).sort(), ['10.22.0.77', '10.22.0.78'])
    t.equal(exit, 1, 'somebody has to see to the one that has the gateway, and to the one that is in no list')
    t.same(await daemon.leases(), [])
  })

  await t.test('adopted once, ours ever after; the source is as it was', async t => {
    await host.must('rm', [`${networks}/10.22.0.1`, `${networks}/10.22.0.88`])
    const source = await digest()
    const applied = await runImport('--apply', '--retain', 'while-owner-exists')
    t.equal(applied.exit, 0)
    t.equal(applied.report.counts['adopt'], 6)
    t.same((await daemon.boundLeases()).map(({ address }) => address).sort(), live)
    const again = await runImport('--apply')
    t.equal(again.report.counts['ours'], 6)
    t.equal(again.report.counts['adopt'], 0)
    t.equal(await digest(), source)
    t.not(before, source)
    for (const id of ids) t.ok((await cri.status(id)).ip, 'its sandbox runs on')
  })

  await t.test(
    'with ipkeeper in the conflist: nobody gets what is adopted, and DEL gives it back',
    async t => {
      containerd.writeConflist(conflist({ type: 'ipkeeper', socket, stateDir }))
      let fresh = ''
      await until('a pod whose address is from ipkeeper', async () => {
        const one = pod(`new-${randomUUID().slice(0, 4)}`)
        const id = await cri.run(one)
        fresh = (await cri.status(id)).ip
        const known = (await daemon.boundLeases()).some(({ containerId }) => containerId === id)
        if (!known) await cri.stop(id)
        return known
      })
      t.notOk(live.includes(fresh), `${fresh} was nobody's`)

      await cri.stop(db)
      await cri.remove(db)
      t.match(
        (await daemon.leases()).find(({ address }) => address === '10.22.0.3'),
        { state: 'held' },
      )
      const backId = await cri.run(pod('db-0'))
      t.equal((await cri.status(backId)).ip, '10.22.0.3', 'the pod of a StatefulSet has its address again')

      await cri.stop(ids[2] ?? '')
      const lease = (await daemon.leases()).find(({ address }) => address === '10.22.0.4')
      t.match(lease, { state: 'held' }, 'kept as it was asked for')
    },
  )

  await t.test('what is in conflict is listed, and exits with 1', async t => {
    await write('10.22.0.3', `${web}\\r\\neth0`)
    const { exit, report } = await runImport('--apply')
    t.equal(exit, 1)
    t.match(
      report.items.find(({ address }) => address === '10.22.0.3'),
      {
        verdict: 'conflict',
        reason: /it is bound to shop\/db-0 on node/,
      },
    )
  })
})
