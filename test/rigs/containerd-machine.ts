import { startCleanMachine, type CleanMachine } from './clean-machine.ts'
import { pauseImage } from './pause-image.ts'
import type { Scope } from './teardown.ts'

/**
 * A clean machine on which containerd runs, as after its package was installed, with crictl and nerdctl. It has the image of
 * the sandbox, and one of the same for containers, since nothing can be fetched.
 */
export async function startContainerdMachine(t: Scope): Promise<CleanMachine> {
  const machine = await startCleanMachine()
  t.teardown(() => machine.close())
  await machine.must(`
# Without CAP_SYS_RESOURCE a container's oom score cannot go below that of containerd.
sed -i 's/^ *.plugins."io.containerd.grpc.v1.cri".$/&\\nrestrict_oom_score_adj = true/' /etc/containerd/config.toml
for name in crictl nerdctl; do
  printf '#!/bin/sh\\nexec %s %s "$@"\\n' ${machine.checkout}/node_modules/.bin/node \\
    ${machine.checkout}/test/rigs/$name-double.ts >/usr/local/bin/$name
  chmod 0755 /usr/local/bin/$name
done
systemctl start containerd
`)
  const name = (
    await machine.must(`containerd config dump | sed -n 's/^ *sandbox_image = "\\(.*\\)"/\\1/p'`)
  ).trim()
  await machine.must('ctr --namespace k8s.io image import -', { input: pauseImage(name) })
  await machine.must('ctr --namespace default image import -', {
    input: pauseImage('localhost/ipkeeper-pause:1'),
  })
  return machine
}
