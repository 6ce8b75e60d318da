import { readFileSync, renameSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Test } from 'tap'
import { parse } from 'yaml'
import type { ContainerdRelease } from './containerd-release.ts'
import { startContainerd } from './containerd.ts'
import { readPage, type PageSample } from './metrics-page.ts'
import { startPrivateHost } from './private-host.ts'
import { tempFolder } from './temp-folder.ts'

const monitoring = join(import.meta.dirname, '..', '..', 'deploy', 'monitoring')

interface TalosPatch {
  readonly machine: { readonly files: readonly { readonly content: string }[] }
}

/** The settings that people are told to put into containerd's file: of any distribution, and of Talos. */
export const metricsSettings = {
  'containerd-metrics.toml': () => readFileSync(join(monitoring, 'containerd-metrics.toml'), 'utf8'),
  'talos-containerd-metrics.yaml': () => {
    const text = readFileSync(join(monitoring, 'talos-containerd-metrics.yaml'), 'utf8')
    return (parse(text) as TalosPatch).machine.files.map(({ content }) => content).join('\n')
  },
} as const

/**
 * Runs a containerd with these settings; a sandbox that comes and goes, one that does not come up, and one whose end fails.
 * Resolves to what it tells at the address that the settings name.
 */
export async function containerdScrape(
  t: Test,
  release: ContainerdRelease,
  settings: string,
): Promise<readonly PageSample[]> {
  const folder = tempFolder(t)
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const ipam = { type: 'host-local', dataDir: folder.file('ipam'), ranges: [[{ subnet: '10.9.0.0/24' }]] }
  const conflist = {
    cniVersion: '1.0.0',
    name: 'any',
    plugins: [{ type: 'bridge', bridge: 'cni0', isGateway: true, ipam }],
  }
  const containerd = await startContainerd({ host, folder, release, settings, conflist })
  const { cri, binDir } = containerd
  const run = (name: string): Promise<string> => cri.run({ namespace: 'shop', name, uid: randomUUID() })
  const [first, second] = [await run('a'), await run('b')]
  await cri.stop(first)
  await cri.remove(first)
  const plugin = join(binDir, 'bridge')
  renameSync(plugin, `${plugin}.away`)
  await t.rejects(cri.stop(second), /failed to find plugin/)
  await t.rejects(run('c'), /failed to find plugin/)
  renameSync(`${plugin}.away`, plugin)
  await cri.stop(second)
  const address = /^ *address = "(.*)"$/m.exec(settings)?.[1] ?? ''
  const script = `fetch('http://${address}/v1/metrics').then(r => r.text()).then(s => process.stdout.write(s))`
  const text = await host.must(process.execPath, ['-e', script])
  await containerd.close()
  return readPage(text)
}
