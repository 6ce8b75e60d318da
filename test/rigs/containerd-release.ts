import { join } from 'node:path'
import { callersFolder } from './callers.ts'
import { findProgram } from './find-program.ts'
import { findReferencePlugins } from './requirements.ts'

/** What differs between releases of containerd for one that runs sandboxes and nothing else. */
export interface ContainerdRelease {
  readonly containerd: string
  readonly ctr: string
  /** Where it looks for its shim, and for runc. */
  readonly path: string
  /** Folder of the reference plugins that go with it. */
  readonly referencePlugins: string
  /** Text of its config.toml. */
  configuration(places: ContainerdPlaces): string
}

export interface ContainerdPlaces {
  readonly root: string
  readonly state: string
  readonly socket: string
  readonly binDir: string
  readonly confDir: string
  readonly pauseImage: string
}

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Plugins of containerd that a sandbox does not need; some write outside the folders given, some ask the kernel. */
const disabledPlugins = [
  'io.containerd.internal.v1.opt',
  'io.containerd.snapshotter.v1.aufs',
  'io.containerd.snapshotter.v1.blockfile',
  'io.containerd.snapshotter.v1.btrfs',
  'io.containerd.snapshotter.v1.devmapper',
  'io.containerd.snapshotter.v1.erofs',
  'io.containerd.snapshotter.v1.zfs',
  'io.containerd.tracing.processor.v1.otlp',
]

const general = (version: number, { root, state, socket }: ContainerdPlaces): string => `
version = ${version}
root = "${root}"
state = "${state}"
# Nothing of the machine's own containerd.
imports = []
disabled_plugins = [${disabledPlugins.map(name => JSON.stringify(name)).join(', ')}]

[grpc]
  address = "${socket}"
`

/** The machine's own: 1.6 on Debian 12, 1.7 on others. */
export function installedContainerd(): ContainerdRelease {
  const referencePlugins = findReferencePlugins()
  if (referencePlugins === undefined) throw new Error('no reference CNI plugins on this machine')
  return {
    containerd: findProgram('containerd') ?? 'containerd',
    ctr: findProgram('ctr') ?? 'ctr',
    path: systemPath,
    referencePlugins,
    configuration: places => `${general(2, places)}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${places.pauseImage}"
  # Without CAP_SYS_RESOURCE a container's oom score cannot go below that of containerd.
  restrict_oom_score_adj = true
  disable_tcp_service = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${places.binDir}"
    conf_dir = "${places.confDir}"
`,
  }
}

/** containerd 2, from `make callers`, with the reference plugins of the same day. */
export const currentContainerd: ContainerdRelease = {
  containerd: join(callersFolder, 'containerd'),
  ctr: join(callersFolder, 'ctr'),
  path: `${callersFolder}:${systemPath}`,
  referencePlugins: callersFolder,
  configuration: places => `${general(3, places)}
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "${places.pauseImage}"

[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true

  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["${places.binDir}"]
    conf_dir = "${places.confDir}"

# Its socket would stand in the machine's /run.
[plugins."io.containerd.nri.v1.nri"]
  disable = true
`,
}
