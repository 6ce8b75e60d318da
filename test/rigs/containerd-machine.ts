import { startCleanMachine, type CleanMachine } from './clean-machine.ts'
import { pauseImage } from './pause-image.ts'

/**
 * A clean machine on which containerd runs, as after its package was installed, and crictl is there. It has the image of
 * the sandbox, since nothing can be fetched.
 */
export async function startContainerdMachine(t: {
  teardown(clean: () => unknown): unknown
}): Promise<CleanMachine> {
  const machine = await startCleanMachine()
  t.teardown(() => machine.close())
  const double = `${machine.checkout}/test/rigs/crictl-double.ts`
  await machine.must(`
# Without CAP_SYS_RESOURCE a container's oom score cannot go below that of containerd.
sed -i 's/^ *.plugins."io.containerd.grpc.v1.cri".$/&\\nrestrict_oom_score_adj = true/' /etc/containerd/config.toml
printf '#!/bin/sh\\nexec ${machine.checkout}/node_modules/.bin/node ${double} "$@"\\n' >/usr/local/bin/crictl
chmod 0755 /usr/local/bin/crictl
systemctl start containerd
`)
  const name = (
    await machine.must(`containerd config dump | sed -n 's/^ *sandbox_image = "\\(.*\\)"/\\1/p'`)
  ).trim()
  await machine.must('ctr --namespace k8s.io image import -', { input: pauseImage(name) })
  return machine
}
