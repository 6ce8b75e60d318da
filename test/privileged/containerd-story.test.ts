/** The main job on a real containerd: what `make demo` tells, each step asserted. */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { startContainerdRuntime } from '../rigs/containerd-runtime.ts'
import type { Pod } from '../rigs/cri.ts'
import { startDaemon } from '../rigs/daemon.ts'
import { besideLab, fixedNetwork, labPool, wiringPlugins } from '../rigs/fixed-network.ts'
import { kernelState } from '../rigs/kernel-state.ts'
import type { Sandbox } from '../rigs/pod-runtime.ts'
import { startPrivateHost } from '../rigs/private-host.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('namespaces', 'reference-plugins', 'containerd', 'nft', 'executables')

for (const wiring of wiringPlugins) {
  t.test(`pods on containerd, wired by ${wiring}`, { skip }, async t => {
    const folder = tempFolder(t)
    const host = await startPrivateHost()
    const socket = folder.file('ipkeeper.sock')
    const stateDir = folder.file('state')
    const config = folder.file('config.yaml')
    writeFileSync(config, JSON.stringify({ pools: [labPool] }))
    let daemon = await startDaemon({ socket, stateDir, host, config })
    const runtime = await startContainerdRuntime({
      host,
      folder,
      conflist: fixedNetwork({ wiring, socket, stateDir, timeout: 5, ranges: besideLab }),
      plugins: { ipkeeper: testedPlugin },
    })
    t.teardown(async () => {
      await runtime.close()
      await daemon.stop()
      await host.close()
    })

    const pod = (name: string, annotations: Readonly<Record<string, string>> = {}): Pod => ({
      namespace: 'shop',
      name,
      uid: randomUUID(),
      annotations,
    })
    const asking = { 'ipkeeper.io/ip': '10.22.0.50' }
    const holderOf = async (address: string): Promise<string | null | undefined> =>
      (await daemon.boundLeases()).find(lease => lease.address === address)?.containerId
    const failure = async (asked: Pod): Promise<string> => {
      const error: unknown = await runtime.run(asked).then(
        sandbox => new Error(`it got ${sandbox.ip}`),
        (reason: unknown) => reason,
      )
      return error instanceof Error ? error.message : String(error)
    }

    const web = pod('web-0', asking)
    let sandbox = await runtime.run(web)

    await t.test('a pod gets the address of its annotation', async t => {
      t.equal(sandbox.ip, '10.22.0.50')
      t.match(await daemon.boundLeases(), [
        {
          address: '10.22.0.50',
          containerId: sandbox.id,
          pod: { namespace: 'shop', name: 'web-0', uid: web.uid },
        },
      ])
    })

    await t.test('a second pod that asks for it is refused with address, holder and remedy', async t => {
      const message = await failure(pod('intruder', asking))
      t.match(message, '10.22.0.50')
      t.match(message, 'shop/web-0')
      t.equal((await daemon.boundLeases()).length, 1)
    })

    const cache = await runtime.run(pod('cache'))

    await t.test('a pod without annotation gets the lowest free address', t => {
      t.equal(cache.ip, '10.22.0.2')
      t.end()
    })

    await t.test('stopped, removed and run again it has its address again', async t => {
      await runtime.stop(sandbox.id)
      t.equal(await holderOf('10.22.0.50'), undefined, 'the default retention is release')
      await runtime.remove(sandbox.id)
      const reborn = pod('web-0', asking)
      const before = sandbox.id
      sandbox = await runtime.run(reborn)
      t.equal(sandbox.ip, '10.22.0.50')
      t.not(sandbox.id, before)

      await t.test('killed by hand, the same pod takes its lease over', async t => {
        const dead = sandbox
        await runtime.kill(dead.id)
        sandbox = await runtime.run({ ...reborn, attempt: 1 })
        t.equal(sandbox.ip, '10.22.0.50')
        t.equal(await holderOf('10.22.0.50'), sandbox.id)
        await runtime.stop(dead.id)
        await runtime.remove(dead.id)
        t.equal(await holderOf('10.22.0.50'), sandbox.id, 'a late DEL does not touch the new sandbox')
      })
    })

    await t.test('an annotation that cannot be meant is refused, and nothing changes', async t => {
      const before = await daemon.boundLeases()
      const cases: readonly (readonly [annotations: Record<string, string>, words: readonly RegExp[]])[] = [
        [{ 'ipkeeper.io/ips0': '10.22.0.60' }, [/ipkeeper\.io\/ips0/, /did you mean/i]],
        [{ 'ipkeeper.io/ip': 'ten' }, [/ipkeeper\.io\/ip/, /ten/]],
        [{ 'ipkeeper.io/ip': '192.0.2.7' }, [/192\.0\.2\.7/]],
        [{ 'ipkeeper.io/ip': '10.22.0.1' }, [/10\.22\.0\.1/, /gateway/i]],
        [{ 'ipkeeper.io/ip': '10.22.0.0' }, [/10\.22\.0\.0/, /network/i]],
        [{ 'ipkeeper.io/ip': '10.22.255.255' }, [/10\.22\.255\.255/, /broadcast/i]],
        [{ 'ipkeeper.io/ip': '10.22.0.60/24' }, [/\/24/, /\/16/]],
      ]
      for (const [annotations, words] of cases) {
        const message = await failure(pod('wrong', annotations))
        for (const word of words) t.match(message, word)
      }
      t.same(await daemon.boundLeases(), before)
    })

    await t.test(
      'without the daemon the error names its socket, and its restart knows every lease',
      async t => {
        const before = await daemon.boundLeases()
        await daemon.stop()
        t.match(await failure(pod('late')), socket)
        daemon = await startDaemon({ socket, stateDir, host, config })
        t.same(await daemon.boundLeases(), before)
      },
    )

    const gone = async (...sandboxes: readonly Sandbox[]): Promise<void> => {
      for (const { id } of sandboxes) {
        await runtime.stop(id)
        await runtime.remove(id)
      }
    }

    await t.test('when all pods are gone no lease is in use', async t => {
      await gone(sandbox, cache)
      t.same(await daemon.boundLeases(), [])
    })

    await t.test('pods of a set share a range, each at its ordinal, over scaling down and up', async t => {
      const ranged = { 'ipkeeper.io/ips': '10.22.0.60-10.22.0.62' }
      // The last one first: nobody takes what is another's.
      const [web2, web0, web1] = [
        await runtime.run(pod('web-2', ranged)),
        await runtime.run(pod('web-0', ranged)),
        await runtime.run(pod('web-1', ranged)),
      ]
      t.strictSame([web0.ip, web1.ip, web2.ip], ['10.22.0.60', '10.22.0.61', '10.22.0.62'])
      t.match(await failure(pod('web-3', ranged)), /pod shop\/web-3 has ordinal 3, but .* lists 3 addresses/)

      await gone(web2, web1)
      // 10.22.0.2 rests since a pod had it.
      const other = await runtime.run(pod('other'))
      const [again1, again2] = [
        await runtime.run(pod('web-1', ranged)),
        await runtime.run(pod('web-2', ranged)),
      ]
      t.strictSame([other.ip, again1.ip, again2.ip], ['10.22.0.3', '10.22.0.61', '10.22.0.62'])
      await gone(web0, again1, again2, other)
    })

    await t.test('pods of a Deployment that have one address between them', async t => {
      const single = { 'ipkeeper.io/ips': '10.22.0.70' }
      const old = await runtime.run(pod('api-6d4cf56db6-x2x5z', single))
      t.equal(old.ip, '10.22.0.70')
      const surging = pod('api-7f9c8d5b4-b7k2q', single)
      const message = await failure(surging)
      for (const word of ['10.22.0.70', 'shop/api-6d4cf56db6-x2x5z', 'maxSurge 0', 'IPK_CANDIDATES_BUSY'])
        t.match(message, word)
      await gone(old)
      const fresh = await runtime.run(surging)
      t.equal(fresh.ip, '10.22.0.70', 'the runtime tries again, and the old pod is gone')
      await gone(fresh)
    })

    await t.test("a pool of the daemon's configuration", async t => {
      const pooled = await runtime.run(pod('pooled', { 'ipkeeper.io/pool': 'lab' }))
      t.equal(pooled.ip, '10.22.200.10')
      t.match(await failure(pod('slip', { 'ipkeeper.io/pool': 'lav' })), /pool "lav".*did you mean "lab"/)
      await gone(pooled)
      t.same(await daemon.boundLeases(), [])
    })

    await t.test('and nothing is left of them on the host', async t => {
      const state = await kernelState(host)
      t.same(
        state.links.filter(link => /^(veth|ipk[0-9a-f]{12})/.test(link)),
        [],
      )
      t.same(state.namespaces, [])
    })
  })
}
