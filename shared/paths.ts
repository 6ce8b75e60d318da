/** Where things are unless told otherwise. Plugin, daemon and docs read them from here. */
export const defaultPaths = {
  socket: '/run/ipkeeper/ipkeeper.sock',
  stateDir: '/var/lib/ipkeeper',
  config: '/etc/ipkeeper/config.yaml',
  /** Of runtimes: where they have network configurations and plugins from. */
  confDir: '/etc/cni/net.d',
  binDir: '/opt/cni/bin',
} as const

/** Where Multus looks for networks, unless its "confDir" names another folder. */
export const multusConfDir = '/etc/cni/multus/net.d'

/** Where container runtimes serve the CRI. */
export const runtimeSockets = ['/run/containerd/containerd.sock', '/run/crio/crio.sock'] as const

/** Where libcni, cri-dockerd and plugins keep results of ADDs; within its own folder, Multus keeps those of libcni. */
export const resultCacheFolders = {
  results: ['/var/lib/cni/results', '/var/lib/cni/cache/results', '/var/lib/cni/multus/results'],
  flannel: ['/var/lib/cni/flannel'],
  multus: ['/var/lib/cni/multus'],
  hostLocal: ['/var/lib/cni/networks'],
} as const

/** Folders below the state folder that plugin and daemon share. */
export const stateFolders = {
  /** Queue of DELs that the daemon has not seen yet; one file each. Names that begin with a dot are being written. */
  deferredDels: 'deferred-dels',
  /** The same, for when the disk is full (shared/spare-dels.ts). */
  spareDels: 'spare-dels',
  /** What could not be understood, with the reason beside it; nothing here is ever removed by ipkeeper. */
  quarantine: 'quarantine',
  /** What says that a plugin answers its ADD; shared/mark-name.ts. */
  answered: 'answered',
  /** One line per run of the plugin, in numbered files (shared/flight-files.ts). */
  flights: 'flights',
  /** Which uplink is a port of which bridge, and what moved with it; one file each (mode underlay). */
  uplinks: 'uplinks',
} as const

/** Files of the state folder, beside the store. */
export const stateFiles = {
  /** Empty; its time of change is when the daemon last answered a plugin. */
  daemonAnswered: 'daemon-answered',
  /** Made by a person, and used once: the ledger may begin empty although there was one. */
  beginAnew: 'begin-anew',
  /** A copy of the configuration that was last in force, for a start whose file is refused. */
  keptConfig: 'last-good-config.json',
  /** Which addresses of bridges are the daemon's work, in this boot. */
  gateways: 'gateways.json',
  /** How full pools were over time. */
  poolUse: 'pool-use.json',
  /** Which entries of the history a syslog receiver has. */
  historyExport: 'history-export.json',
} as const
