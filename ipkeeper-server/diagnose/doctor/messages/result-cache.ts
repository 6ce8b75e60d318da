import * as type from './advice.ts'
import type { TextGroup } from './text-group.ts'

/** Files in which runtimes and plugins remember what an ADD gave. */
export const resultCache: TextGroup = {
  title: 'A pod cannot be deleted because of a cached result',
  texts: [
    {
      id: 'cached-result-empty',
      examples: [
        'failed to get network "fixed" cached result: decoding version from network config: unexpected end of JSON input',
        'NetworkPlugin cni failed to teardown pod "web-0_shop" network: unexpected end of JSON input',
      ],
      templates: [
        'failed to get network "<network>" cached result: decoding version from network config: unexpected end of JSON input',
        'failed to get network "<network>" cached result: unexpected end of JSON input',
        'failed to destroy network for sandbox "<containerId>": unexpected end of JSON input',
        'failed to teardown pod "<oldpod>" network: unexpected end of JSON input',
        'failed to tear down pod "<oldpod>" network: unexpected end of JSON input',
      ],
      means:
        'The file in which libcni caches the result of the ADD is empty, so the pod stays Terminating forever.',
      why: 'The node lost power, or its disk was full, between creating the file and writing it. libcni writes it in place.',
      affects:
        'libcni 0.7.1 to 1.1.2: containerd 1.6 and 1.7. From libcni 1.2.0 on (containerd 2.0) only CHECK fails. A conflist with cniVersion 0.3.1 has no such files',
      mend: () => [type.cacheScan, type.cacheRepair, type.cacheRepairOthers],
      source: 'containerd/containerd#8197, containernetworking/cni#1055, aws/amazon-vpc-cni-k8s#2283',
    },
    {
      id: 'cached-result-bad',
      examples: [
        `failed to get network "fixed" cached result: failed to unmarshal cached network "fixed" config: invalid character 'x' looking for beginning of value`,
      ],
      templates: [
        'failed to get network "<network>" cached result: <...> looking for beginning of value',
        'failed to get network "<network>" cached result:',
      ],
      means: 'The file in which libcni caches the result of the ADD cannot be used.',
      why: 'It was cut off, overwritten, or written by another version.',
      affects: 'libcni 0.7.1 to 1.1.2 at DEL; every libcni at CHECK',
      mend: () => [type.cacheScan, type.cacheRepair, type.cacheRepairOthers],
      source: 'containernetworking/cni#1055, containernetworking/cni#1149',
    },
    {
      id: 'flannel-cache-empty',
      examples: [
        'plugin type="flannel" failed (delete): failed to parse netconf: unexpected end of JSON input',
      ],
      templates: ['failed to parse netconf: unexpected end of JSON input'],
      means:
        'flannel caches its own configuration in a file in /var/lib/cni/flannel, and that file is empty.',
      why: 'The same power cut as with the result cache; flannel keeps a cache of its own.',
      affects: 'flannel-cni-plugin up to 1.1.0',
      mend: () => [type.cacheScan, type.cacheRepairOthers],
      source: 'flannel-io/flannel#1662, k3s-io/k3s#6185',
    },
    {
      id: 'multus-cache-empty',
      examples: [
        'delegateDel: error invoking ConflistDel - "cbr0": conflistDel: error in getting result from DelNetworkList: failed to parse netconf: unexpected end of JSON input',
        'Multus: error unmarshalling delegates from scratch: unexpected end of JSON input',
      ],
      templates: [
        'error invoking ConflistDel - "<network>": conflistDel: error in getting result from DelNetworkList: failed to parse netconf: unexpected end of JSON input',
        'error in getting result from DelNetworkList: failed to parse netconf: unexpected end of JSON input',
        'Multus: error unmarshalling delegates from scratch: unexpected end of JSON input',
      ],
      means: 'The file in which Multus, or a plugin under it, caches the ADD is empty.',
      why: 'The same power cut as with the result cache; Multus keeps a cache of its own in /var/lib/cni/multus.',
      affects: 'Multus 3 and 4',
      mend: () => [type.cacheScan, type.cacheRepairOthers],
      source: 'k8snetworkplumbingwg/multus-cni#1448, k8snetworkplumbingwg/multus-cni#1087',
    },
    {
      id: 'cached-network-missing',
      examples: ['error loading cached network config: network "fixed" not found in CNI cache'],
      templates: [
        'error loading cached network config: network "<network>" not found in CNI cache',
        'error loading cached network config',
      ],
      means: 'CRI-O found nothing in the result cache and uses the configuration on disk instead.',
      why: 'The file was moved away or never written. Nothing to do: it is a warning.',
      affects: 'CRI-O, all versions',
      mend: captures => [type.flights(captures)],
      source: 'cri-o/ocicni',
    },
  ],
}
