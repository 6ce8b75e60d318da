import * as type from './advice.ts'
import type { TextGroup } from './text-group.ts'

const everyLibcni = 'every libcni; the plugin is named from libcni 1.0.0 on'

/** What libcni says of what a plugin printed, or did not print. */
export const pluginOutput: TextGroup = {
  title: 'A plugin printed nothing, rubbish, or failed',
  texts: [
    {
      id: 'plugin-printed-nothing',
      examples: [
        'plugin type="terway" failed (add): failed to unmarshal raw result: unexpected end of JSON input',
        'NetworkPlugin cni failed to set up pod "web-0_shop" network: unexpected end of JSON input',
      ],
      templates: [
        'failed to unmarshal raw result: unexpected end of JSON input',
        'failed to set up pod "<oldpod>" network: unexpected end of JSON input',
      ],
      means: 'The plugin ended with success, but printed no result, or only the first part of one.',
      why: 'It forgot to print, or was cut off: a full pipe, or an exit before all was written. What it did print is in no log of the runtime.',
      affects: everyLibcni,
      mend: () => [type.tryConflist, type.runtimeLog],
      source: 'generals-space/cni-terway 4060835, containernetworking/cni#670',
    },
    {
      id: 'plugin-printed-noise',
      examples: [
        `plugin type="aws-cni" failed (add): failed to unmarshal raw result: invalid character 's' looking for beginning of value`,
      ],
      templates: [
        `failed to unmarshal raw result: invalid character '<word>' looking for beginning of value`,
        `failed to set up pod "<oldpod>" network: invalid character '<word>' looking for beginning of value`,
      ],
      means: 'The plugin printed something else before its result, such as a line of its log.',
      why: 'Only one JSON document may go to stdout; a log level that writes there, or a library that does, spoils it.',
      affects: everyLibcni,
      mend: () => [type.tryConflist, type.runtimeLog],
      source: 'aws/amazon-vpc-cni-k8s#1248, containernetworking/cni#571',
    },
    {
      id: 'plugin-printed-twice',
      examples: [
        `plugin type="azure-vnet" failed (add): failed to unmarshal raw result: invalid character '{' after top-level value`,
      ],
      templates: [`invalid character '<word>' after top-level value`],
      means: 'The plugin printed two documents, usually a result and an error, or text after its result.',
      why: 'A plugin that fails has to print the error only; the runtime can use neither, and retries forever.',
      affects: everyLibcni,
      mend: () => [type.tryConflist, type.runtimeLog],
      source: 'containernetworking/cni#571, kubernetes/kubernetes#66481',
    },
    {
      id: 'result-undecodable',
      examples: ['decoding version from network config: unexpected end of JSON input'],
      templates: ['decoding version from network config: unexpected end of JSON input'],
      means:
        'Something that has to be JSON is empty: at ADD the result of a plugin, at DEL and CHECK a file of the result cache.',
      why: 'libcni 1.0.1 says "network config" of an empty result as well. At DEL it is a file that a power cut left at zero bytes.',
      affects: 'libcni 1.0.1 at ADD; up to 1.1.2 at DEL',
      mend: () => [type.cacheScan, type.tryConflist],
      source: 'containernetworking/cni#1055',
    },
    {
      id: 'plugin-killed',
      examples: ['plugin type="bridge" failed (add): netplugin failed with no error message: signal: killed'],
      templates: ['netplugin failed with no error message: signal: killed'],
      means: 'The plugin was killed before it could say anything.',
      why: 'The runtime kills a plugin at its deadline, and the kernel kills one when memory runs out.',
      affects: 'every libcni',
      mend: captures => [
        type.flights(captures),
        { argv: ['dmesg'], does: 'shows whether the kernel ran out of memory' },
      ],
      source: 'containernetworking/cni, pkg/invoke/raw_exec.go',
    },
    {
      id: 'plugin-failed-silently',
      examples: [
        'plugin type="bridge" failed (add): netplugin failed with no error message: exit status 1',
        'NetworkPlugin cni failed to set up pod "web-0_shop" network: netplugin failed with no error message',
      ],
      templates: [
        'netplugin failed with no error message: exit status <n>',
        'netplugin failed with no error message',
      ],
      means: 'The plugin failed and printed nothing at all.',
      why: 'It is a bug of the plugin: an error has to be one JSON document on stdout.',
      affects: 'every libcni; the exit status is named by newer ones',
      mend: () => [type.tryConflist, type.runtimeLog],
      source: 'containernetworking/cni, pkg/invoke/raw_exec.go',
    },
    {
      id: 'plugin-failed-on-stderr',
      examples: [
        'plugin type="calico" failed (add): netplugin failed: "panic: runtime error: invalid memory address"',
      ],
      templates: ['netplugin failed: "'],
      means: 'The plugin failed without an error document; what follows is its stderr, usually a crash.',
      why: 'Only a document on stdout carries a code; a crash cannot print one.',
      affects: 'libcni from 0.8 on; older ones lose the text',
      mend: () => [type.tryConflist, type.runtimeLog],
      source: 'containernetworking/cni, pkg/invoke/raw_exec.go',
    },
    {
      id: 'plugin-error-unparsable',
      examples: [
        'netplugin failed but error parsing its diagnostic message "": unexpected end of JSON input',
      ],
      templates: [
        'netplugin failed but error parsing its diagnostic message "',
        'error parsing its diagnostic message "',
      ],
      means: 'The plugin failed, and what it printed is no error document.',
      why: 'It crashed, or printed plain text where one JSON document has to be.',
      affects: 'libcni up to 0.7',
      mend: () => [type.tryConflist, type.runtimeLog],
      source: 'projectcalico/libcalico-go#415, Azure/azure-container-networking#176',
    },
    {
      id: 'plugin-failed-with-a-result',
      examples: ['plugin type="terway" failed (add): '],
      templates: [
        'plugin type="<plugin>" failed (add):<end>',
        'plugin type="<plugin>" name="<network>" failed (add):<end>',
      ],
      means: 'The plugin ended with a failure but printed a result, or another document without a message.',
      why: 'libcni takes what it finds for the error, and it has no text.',
      affects: 'libcni from 1.0.0 on; older ones show an empty message',
      mend: () => [type.tryConflist, type.runtimeLog],
      source: 'containernetworking/cni, pkg/invoke/raw_exec.go',
    },
    {
      id: 'plugin-version-unreadable',
      examples: [
        'Error validating CNI config list: [plugin azure-vnet does not support config version: decoding version info: unexpected end of JSON input]',
      ],
      templates: ['decoding version info: unexpected end of JSON input'],
      means: 'The plugin printed nothing when it was asked for its versions.',
      why: 'CRI-O, podman and cri-dockerd ask each plugin before they take a network; a plugin that needs its daemon for that fails.',
      affects: 'runtimes that validate: CRI-O, podman, cri-dockerd',
      mend: captures => [type.lintFile(captures), type.tryConflist],
      source: 'Azure/azure-container-networking#918',
    },
    {
      id: 'result-version-unsupported',
      examples: ['plugin type="old" failed (add): unsupported CNI result version "9.9.9"'],
      templates: ['unsupported CNI result version "<word>"'],
      means: 'The plugin answered in a version of the protocol that the runtime does not know.',
      why: 'It has to answer in the version of the configuration.',
      affects: 'every libcni',
      mend: captures => [type.lintFile(captures), type.tryConflist],
      source: 'containernetworking/cni, pkg/types/create',
    },
    {
      id: 'sandbox-without-address',
      examples: [
        'failed to find network info for sandbox "3f2a91c0d1e24b7d8e9f0a1b2c3d4e5f60718293a4b5c6d7e8f9a0b1c2d3e4f5"',
      ],
      templates: [
        'failed to find network info for sandbox "<containerId>"',
        'failed to find network info for sandbox',
      ],
      means: 'The plugin said that all went well, but its result has no address for eth0.',
      why: 'A result that is null or {}, and an error document with exit code 0, count as success; so does one whose addresses belong to another interface.',
      affects: 'containerd',
      mend: captures => [type.flights(captures), type.tryConflist],
      source: 'containerd/containerd, internal/cri/server/sandbox_run.go',
    },
    {
      id: 'plugin-gave-no-address',
      examples: ['plugin type="bridge" failed (add): IPAM plugin returned missing IP config'],
      templates: ['IPAM plugin returned missing IP config'],
      means: 'The IPAM plugin said that all went well, but gave no address.',
      why: 'Its result is empty; ipkeeper answers with an address or with an error.',
      affects: 'reference plugins, all versions',
      mend: captures => [type.flights(captures), type.tryConflist],
      source: 'containernetworking/plugins, plugins/main/bridge',
    },
    {
      id: 'plugin-being-written',
      examples: ['failed to setup network: fork/exec /opt/cni/bin/bridge: text file busy'],
      templates: ['fork/exec <path>: text file busy', 'text file busy'],
      means: 'The file of the plugin is being written at this moment.',
      why: 'An installer copied over the file in place instead of renaming a new one over it.',
      affects: 'every libcni; it tries six times, one second apart',
      mend: () => [
        {
          argv: ['make', 'install'],
          does: 'installs ipkeeper under another name and renames it, from its sources',
        },
      ],
      source: 'containernetworking/cni, pkg/invoke/raw_exec.go; kubeovn/kube-ovn#7035',
    },
    {
      id: 'interface-exists',
      examples: ['plugin type="bridge" failed (add): container veth name provided (eth0) already exists'],
      templates: ['container veth name provided (<ifname>) already exists'],
      means: 'The pod has an interface of that name already.',
      why: 'Two networks use one name, or the runtime sent ADD again without DEL.',
      affects: 'reference plugins, all versions',
      mend: captures => [type.flights(captures), type.lintAll],
      source: 'containernetworking/plugins, pkg/ip',
    },
    {
      id: 'bridge-has-another-address',
      examples: [
        'plugin type="bridge" failed (add): failed to set bridge addr: "cni0" already has an IP address different from 10.244.1.1/24',
      ],
      templates: ['failed to set bridge addr: "<ifname>" already has an IP address different from <address>'],
      means: 'The bridge has the gateway address of another range, usually of an earlier network.',
      why: 'The ranges of the conflist changed, and the bridge of the old ones is still there.',
      affects: 'the reference bridge, and flannel with it',
      mend: ({ ifname = 'cni0' }) => [
        { argv: ['ip', 'address', 'show', 'dev', ifname], does: 'shows which address it has' },
        type.pools,
      ],
      source: 'containernetworking/plugins, plugins/main/bridge',
    },
    {
      id: 'result-of-before-missing',
      examples: ['plugin type="bridge" failed (check): Required prevResult missing'],
      templates: ['Required prevResult missing', 'must be called as chained plugin'],
      means: 'A plugin needs the result of the ADD or of the plugin before it, and got none.',
      why: 'The file in the result cache is gone, or the plugin stands first in the list.',
      affects: 'reference plugins, all versions',
      mend: () => [type.cacheScan, type.lintAll],
      source: 'containernetworking/plugins, plugins/main/bridge and plugins/meta',
    },
    {
      id: 'namespace-gone',
      examples: [
        'failed to open netns "/var/run/netns/cni-0f1e2d3c": failed to Statfs "/var/run/netns/cni-0f1e2d3c": no such file or directory',
      ],
      templates: ['failed to Statfs "<path>": no such file or directory', 'unknown FS magic on "<path>"'],
      means: 'The network namespace of the pod is gone, or its path is an ordinary file.',
      why: 'The node was restarted, or the sandbox ended while its network was still being removed.',
      affects: 'reference plugins, all versions',
      mend: captures => [type.removeSandbox(captures), type.audit],
      source: 'containernetworking/plugins, pkg/ns',
    },
    {
      id: 'flannel-not-started',
      examples: [
        'plugin type="flannel" failed (add): open /run/flannel/subnet.env: no such file or directory',
      ],
      templates: ['open /run/flannel/subnet.env: no such file or directory'],
      means: "flannel's own daemon has not written the network of this node.",
      why: 'It does not run, or the folder was emptied by a restart of the node. Not ipkeeper.',
      affects: 'flannel, all versions',
      mend: () => [
        {
          argv: ['kubectl', '--namespace', 'kube-flannel', 'get', 'pods', '-o', 'wide'],
          does: 'shows whether it runs',
        },
      ],
      source: 'flannel-io/flannel',
    },
    {
      id: 'plugin-refused',
      wrapping: true,
      examples: [
        'plugin type="calico" name="k8s-pod-network" failed (add): error getting ClusterInformation',
      ],
      templates: [
        'plugin type="<plugin>" name="<network>" failed (',
        'plugin type="<plugin>" failed (',
        'NetworkPlugin cni failed to',
      ],
      means: 'This plugin refused; the text behind it is its own.',
      why: 'Only that plugin can say why. For ipkeeper the code in brackets tells more.',
      affects: 'libcni from 1.0.0 on, dockershim',
      mend: captures => [type.flights(captures), type.tryConflist, type.pluginFile(captures)],
      source: 'containernetworking/cni, libcni',
    },
  ],
}
