import type { PrivateHost } from './private-host.ts'

/** Where namespaces live on whose path is gone: a folder of the host that nobody looks into. */
const cellar = '/run/containerd/held'

/** Makes network namespaces in one go; their paths. */
export async function makeNamespaces(
  host: PrivateHost,
  prefix: string,
  count: number,
): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
  await host.must('ip', ['-batch', '-'], { input: names.map(name => `netns add ${name}\n`).join('') })
  return names.map(name => `/run/netns/${name}`)
}

/**
 * Takes the paths of namespaces away, as a runtime does that never sends their DEL. `held`: each lives on, under another
 * path, so that its links stay; else the kernel removes it with its links.
 */
export async function loseNamespaces(
  host: PrivateHost,
  paths: readonly string[],
  held: boolean,
): Promise<void> {
  const hold = held ? `touch "${cellar}/\${path##*/}" && mount --bind "$path" "${cellar}/\${path##*/}"` : ':'
  const script = `mkdir -p ${cellar}; while read -r path; do ${hold} && umount -l "$path" && rm "$path" || exit 1; done`
  await host.must('sh', ['-c', script], { input: paths.map(path => `${path}\n`).join('') })
}
