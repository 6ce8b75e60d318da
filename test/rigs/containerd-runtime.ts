import { startContainerd, type ContainerdOptions } from './containerd.ts'
import type { PodRuntime } from './pod-runtime.ts'

/** Pods on a real containerd, asked over CRI as kubelet does. */
export async function startContainerdRuntime(options: ContainerdOptions): Promise<PodRuntime> {
  const containerd = await startContainerd(options)
  const { cri } = containerd
  return {
    name: await cri.version(),
    run: async pod => {
      const id = await cri.run(pod)
      return { id, ip: (await cri.status(id)).ip }
    },
    stop: id => cri.stop(id),
    remove: id => cri.remove(id),
    kill: id => containerd.killSandbox(id),
    close: () => containerd.close(),
  }
}
