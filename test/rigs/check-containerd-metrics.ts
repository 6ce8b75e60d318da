import type { Test } from 'tap'
import { containerdScrape, metricsSettings } from './containerd-metrics.ts'
import type { ContainerdRelease } from './containerd-release.ts'
import type { PageSample } from './metrics-page.ts'
import { containerdMetrics } from './prometheus-metrics.ts'

/** What the alerts rely on, of one release of containerd. */
export async function checkContainerdMetrics(t: Test, release: ContainerdRelease): Promise<void> {
  for (const [file, settings] of Object.entries(metricsSettings)) {
    await t.test(`as ${file} says`, async t => {
      const page = await containerdScrape(t, release, settings())
      const sum = (name: string, holds: (labels: PageSample['labels']) => boolean): number =>
        page
          .filter(sample => sample.name === name && holds(sample.labels))
          .reduce((total, { value }) => total + value, 0)
      for (const name of containerdMetrics) t.ok(sum(name, () => true) > 0, `${name} is there, and counts`)
      const calls = (method: string, failed: boolean): number =>
        sum(
          'grpc_server_handled_total',
          ({ grpc_method, grpc_code }) => grpc_method === method && (grpc_code !== 'OK') === failed,
        )
      t.equal(calls('RunPodSandbox', false), 2)
      t.equal(calls('RunPodSandbox', true), 1)
      t.equal(calls('StopPodSandbox', false), 2)
      t.equal(calls('StopPodSandbox', true), 1)
      const errors = (type: string): number =>
        sum(
          'containerd_cri_network_plugin_operations_errors_total_total',
          ({ operation_type }) => operation_type === type,
        )
      t.ok(errors('set_up_pod') >= 1)
      t.ok(errors('tear_down_pod') >= 1)
    })
  }
}
