import * as type from './advice.ts'
import type { TextGroup } from './text-group.ts'

/** The runtime cannot use its network configuration. */
export const conflist: TextGroup = {
  title: 'The runtime has no usable network configuration',
  texts: [
    {
      id: 'cni-not-initialized',
      examples: [
        'Network plugin returns error: cni plugin not initialized',
        'network plugin is not ready: cni config uninitialized',
      ],
      templates: ['cni plugin not initialized', 'cni config uninitialized'],
      means: 'The runtime has not loaded any network configuration, so the node is NotReady.',
      why: 'The folder is empty, or its first file is broken: then containerd loads no other file, whichever program wrote the first. It also drops what it had loaded before.',
      affects: 'containerd; "uninitialized" is what dockershim and CRI-O say',
      mend: captures => [type.lintFile(captures), type.conflists, type.restartRuntime],
      source: 'kubernetes/kubernetes#43815, containerd/containerd#8419',
    },
    {
      id: 'cni-not-initialized-at-stop',
      examples: [
        'failed to destroy network for sandbox "3f2a91c0d1e24b7d8e9f0a1b2c3d4e5f60718293a4b5c6d7e8f9a0b1c2d3e4f5": cni plugin not initialized',
      ],
      templates: ['failed to destroy network for sandbox "<containerId>": cni plugin not initialized'],
      means: 'Pods cannot be deleted either while no network configuration is loaded.',
      why: 'The conflist was removed or broken after the pod was created: containerd needs it to undo the network.',
      affects: 'containerd, all versions',
      mend: captures => [type.lintAll, type.conflists, type.restartRuntime, type.flights(captures)],
      source: 'containerd/containerd#8197, cilium/cilium#22053',
    },
    {
      id: 'no-network-config',
      examples: [
        'no network config found in /etc/cni/net.d: cni plugin not initialized: failed to load cni config',
        'No CNI configuration file in /etc/cni/net.d/. Has your network provider started?',
      ],
      templates: [
        'no network config found in <path>: cni plugin not initialized',
        'no network config found in <path>',
        'No CNI configuration file in <path>. Has your network provider started?',
      ],
      means: 'The folder has no file that ends in .conflist, .conf or .json.',
      why: 'The network is not installed yet, was removed, or its file has another extension.',
      affects: 'containerd and CRI-O, all versions',
      mend: ({ path = '/etc/cni/net.d' }) => [
        { argv: ['ls', '-la', path], does: 'shows what is there' },
        type.lintFile({ path }),
      ],
      source: 'containerd/containerd#11548, kubernetes/kubernetes#94393',
    },
    {
      id: 'list-in-a-conf-file',
      examples: [
        `Error loading CNI config file /etc/cni/net.d/10-fixed.conf: error parsing configuration: missing 'type'`,
      ],
      templates: [
        `CNI config file <path>: error parsing configuration: missing 'type'`,
        `error parsing configuration: missing 'type'`,
      ],
      means: 'A file that ends in .conf has a list of plugins, or a plugin without a type.',
      why: 'In a .conf or .json file there is one plugin; a list belongs in a .conflist file.',
      affects: 'every libcni',
      mend: captures => [type.lintFile(captures)],
      source: 'kubernetes/kubernetes#72468',
    },
    {
      id: 'no-valid-networks',
      examples: ['no valid networks found in /etc/cni/net.d'],
      templates: ['no valid networks found in <path>', 'no valid networks found in'],
      means: 'Every file of the folder was refused.',
      why: 'The log of the runtime has a line for each refusal.',
      affects: 'dockershim, cri-dockerd, CRI-O, containerd',
      mend: captures => [type.lintFile(captures), type.runtimeLog],
      source: 'kubernetes/kubernetes#72468',
    },
    {
      id: 'conflist-trailing-comma',
      examples: [
        `failed to load CNI config list file /etc/cni/net.d/10-fixed.conflist: error parsing configuration list: invalid character '}' looking for beginning of object key string: invalid cni config: failed to load cni config`,
        `invalid character ']' looking for beginning of value`,
      ],
      templates: [
        `CNI config list file <path>: error parsing configuration list: invalid character '}' looking for beginning of object key string`,
        `invalid character '}' looking for beginning of object key string`,
        `invalid character '}' looking for beginning of value`,
        `invalid character ']' looking for beginning of value`,
      ],
      means: 'A comma stands before a closing bracket in a file of the folder.',
      why: 'JSON has no trailing commas. The runtime does not name the line and often not even the file.',
      affects: 'every libcni',
      mend: captures => [type.lintFile(captures)],
      source: 'kubernetes/kubernetes#53536, cilium/cilium#8474',
    },
    {
      id: 'conflist-syntax',
      examples: [
        `error parsing configuration list: invalid character '#' looking for beginning of object key string`,
        `error parsing configuration: invalid character '"' after object key:value pair`,
      ],
      templates: [
        `CNI config list file <path>: error parsing configuration list: invalid character`,
        `error parsing configuration list: invalid character`,
        `error parsing configuration: invalid character`,
        `invalid character '<word>' looking for beginning of object key string`,
        `invalid character '<word>' after object key:value pair`,
      ],
      means: 'A file of the folder is not JSON: a comment, a wrong quote, a missing comma.',
      why: 'It was edited by hand, or a template was rendered wrongly.',
      affects: 'every libcni',
      mend: captures => [type.lintFile(captures)],
      source: 'kubernetes/kubernetes#53536, weaveworks/weave#3920',
    },
    {
      id: 'conflist-cut-off',
      examples: [
        'Error loading CNI config list file /etc/cni/net.d/10-fixed.conflist: error parsing configuration list: unexpected end of JSON input',
      ],
      templates: [
        'CNI config list file <path>: error parsing configuration list: unexpected end of JSON input',
        'CNI config file <path>: error parsing configuration: unexpected end of JSON input',
        'error parsing configuration list: unexpected end of JSON input',
        'error parsing configuration: unexpected end of JSON input',
      ],
      means: 'A file of the folder is empty, or ends in the middle.',
      why: 'It was being written when the runtime read it, or the node went down then. A new file has to be renamed into place.',
      affects: 'every libcni',
      mend: captures => [type.lintFile(captures), type.restartRuntime],
      source: 'aws/amazon-vpc-cni-k8s#1437, containerd/containerd#8662',
    },
    {
      id: 'conflist-incomplete',
      examples: [`error parsing configuration list: no 'plugins' key`],
      templates: [
        `error parsing configuration list: no name`,
        `error parsing configuration list: missing 'name'`,
        `error parsing configuration list: no 'plugins' key`,
        `error parsing configuration list: no plugins in list`,
        `error parsing configuration list: invalid 'plugins' type`,
      ],
      means: 'A .conflist file lacks its name or its list of plugins.',
      why: 'A single plugin belongs in a .conf file; a list has "name" and "plugins".',
      affects: 'every libcni',
      mend: captures => [type.lintFile(captures)],
      source: 'containernetworking/cni, libcni/conf.go',
    },
    {
      id: 'conflist-reload-failed',
      wrapping: true,
      examples: [
        'failed to reload cni configuration after receiving fs change event(WRITE "/etc/cni/net.d/10-fixed.conflist")',
      ],
      templates: [
        'failed to reload cni configuration after receiving fs change event(<word>"<path>")',
        'failed to reload cni configuration after receiving fs change event',
      ],
      means: 'containerd saw a change in the folder and could not load what it found: it has no network now.',
      why: 'It drops its networks before it reads the new ones.',
      affects: 'containerd, all versions',
      mend: captures => [type.lintFile(captures), type.restartRuntime],
      source: 'containerd/containerd, internal/cri/server/cni_conf_syncer.go',
    },
    {
      id: 'plugin-missing',
      examples: ['failed to find plugin "ipkeeper" in path [/usr/lib/cni]'],
      templates: [
        'failed to find plugin "<plugin>" in path [<path>',
        'failed to find plugin "<plugin>" in path',
      ],
      means: 'The conflist names a plugin that is in none of the folders where the runtime looks.',
      why: "It was not installed, or into another folder: Debian's containerd looks in /usr/lib/cni, most others in /opt/cni/bin.",
      affects: 'every libcni; ADD fails, and DEL is retried forever',
      mend: captures => [
        type.pluginFile(captures),
        ...(captures.plugin === 'ipkeeper'
          ? [
              {
                argv: ['make', 'install', `CNI_BIN_DIR=${captures.path ?? '/opt/cni/bin'}`],
                does: 'installs ipkeeper there, from its sources',
              },
            ]
          : []),
        type.lintAll,
      ],
      source: 'containernetworking/cni, pkg/invoke/find.go',
    },
    {
      id: 'conflist-without-networks',
      examples: ['CNI config list /etc/cni/net.d/10-fixed.conflist has no networks, skipping'],
      templates: ['CNI config list <path> has no networks, skipping'],
      means: 'The list of plugins in this file is empty.',
      why: 'An installer of a chained plugin overwrote the file, or a template was rendered without its input.',
      affects: 'dockershim, cri-dockerd, CRI-O',
      mend: captures => [type.lintFile(captures)],
      source: 'istio/istio#33971, kmesh-net/kmesh#150',
    },
    {
      id: 'node-network-not-ready',
      wrapping: true,
      examples: ['container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady'],
      templates: ['NetworkReady=false', 'network is not ready: container runtime network not ready'],
      means: 'The runtime tells kubelet that it has no network, so the node is NotReady.',
      why: 'No configuration is loaded, or the STATUS of a plugin fails; the text behind it says which.',
      affects: 'every runtime; STATUS from containerd 2.0.1 and CRI-O 1.32 on',
      mend: () => [type.doctor, type.lintAll],
      source: 'kubernetes/kubernetes#43815',
    },
  ],
}
