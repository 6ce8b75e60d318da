/** A result that ipkeeper wrote anew, read by a real libcni of today: CHECK and DEL with it work as with its own. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeCallerSite, type CallerSite } from '../rigs/caller-site.ts'
import { openCnitool } from '../rigs/cnitool.ts'
import { makeNetworkNamespace } from '../rigs/netns.ts'
import type { Conflist } from '../rigs/pod-runtime.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import type { Finished } from '../rigs/run-program.ts'

const skip = missing('go', 'callers', 'namespaces', 'nft', 'executables')

const succeeds = (t: Test, finished: Finished, what: string): void => {
  t.equal(finished.exit, 0, `${what}: ${finished.stderr}${finished.stdout}`)
}

const plugins: Readonly<Record<string, (site: CallerSite) => Conflist['plugins'][number]>> = {
  'ipkeeper, bridge': site => ({ type: 'ipkeeper', bridge: 'cni0', isGateway: true, ipam: site.ipam() }),
  'ipkeeper, ptp': site => ({ type: 'ipkeeper', mode: 'ptp', ipam: site.ipam() }),
  'the reference ptp': site => ({ type: 'ptp', ipam: site.ipam() }),
}

for (const [what, plugin] of Object.entries(plugins)) {
  for (const cniVersion of ['0.4.0', '1.1.0']) {
    t.test(`${what}, ${cniVersion}`, { skip }, async t => {
      const site = await makeCallerSite(t, folder => ({
        resultCache: { mode: 'report' },
        conflist: { directory: folder.file('conf-0') },
      }))
      const conflist: Conflist = { cniVersion, name: 'fixed', plugins: [plugin(site)] }
      const namespace = await makeNetworkNamespace(site.host)
      const before = await site.links()
      const cnitool = openCnitool({ site, conflist, namespace })
      succeeds(t, await cnitool('add'), 'add')
      const [lease] = await site.daemon().boundLeases()
      const path = `/var/lib/cni/results/fixed-${lease!.containerId!}-eth0`
      await site.host.must('truncate', ['--size', '0', path])
      t.match((await cnitool('check')).stderr, /unexpected end of JSON input/, 'CHECK never forgives')

      const control = join(distFolder, 'ipkeeperctl')
      const words = ['cache', 'repair', path, '--socket', site.daemon().socket, '-o', 'json']
      const repaired = await site.host.run(control, words)
      succeeds(t, repaired, 'repair')
      t.match(JSON.parse(repaired.stdout), { files: [{ path, plan: 'rewrite', result: 'rewritten' }] })

      succeeds(t, await cnitool('check'), 'check')
      succeeds(t, await cnitool('del'), 'del')
      t.same(await site.daemon().boundLeases(), [])
      t.same(await site.links(before), before, 'no veth is left')
      t.equal((await site.host.run('test', ['-e', path])).exit, 1, 'libcni took the file away')
    })
  }
}
