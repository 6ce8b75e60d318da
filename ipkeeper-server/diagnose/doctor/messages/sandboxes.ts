import * as type from './advice.ts'
import type { TextGroup } from './text-group.ts'

/** What an ADD without DEL, and a DEL that comes late, leave behind. */
export const sandboxes: TextGroup = {
  title: 'An older sandbox of the pod was not fully removed',
  texts: [
    {
      id: 'sandbox-name-reserved',
      examples: [
        'failed to reserve sandbox name "web-0_shop_7c9e6679-7425-40de-944b-e07fc1f90ae7_0": name "web-0_shop_7c9e6679-7425-40de-944b-e07fc1f90ae7_0" is reserved for "3f2a91c0d1e24b7d8e9f0a1b2c3d4e5f60718293a4b5c6d7e8f9a0b1c2d3e4f5"',
        'error reserving pod name k8s_web-0_shop_7c9e6679-7425-40de-944b-e07fc1f90ae7_0 for id 3f2a91c0d1e24b7d8e9f0a1b2c3d4e5f60718293a4b5c6d7e8f9a0b1c2d3e4f5: name is reserved',
        'name is reserved',
      ],
      templates: [
        'failed to reserve sandbox name "<...>": name "<sandbox>" is reserved for "<containerId>"',
        'name "<sandbox>" is reserved for "<containerId>"',
        'error reserving pod name k8s_<sandbox> for id',
        'name is reserved',
      ],
      means: 'The runtime still works on an earlier sandbox of this pod, or has not been able to remove it.',
      why: 'An ADD took longer than the four minutes that kubelet waits, or the DEL of the old sandbox fails forever. See what the runtime says about the older sandbox.',
      affects: 'containerd and CRI-O, all versions',
      mend: captures => [
        type.flights(captures),
        type.stopSandbox(captures),
        type.removeSandbox(captures),
        type.audit,
      ],
      source:
        'containerd/containerd#10842, containerd/containerd#12438, cri-o/cri-o#7010, siderolabs/talos#13411',
    },
    {
      id: 'address-already-assigned',
      examples: ['failed to assign an IP address to the pod: Address already assigned in block'],
      templates: ['Address already assigned in block'],
      means: "Calico's records say that the address is taken, usually by this pod's own older sandbox.",
      why: 'A power cut kept the DEL of that sandbox from being sent, and nothing else frees it. ipkeeper is not affected: its pods get their addresses back.',
      affects: 'Calico, all versions',
      mend: captures => [
        {
          argv: ['calicoctl', 'ipam', 'check', '--show-problem-ips'],
          does: "lists addresses that only Calico's records have",
        },
        type.audit,
        type.who(captures),
      ],
      source: 'projectcalico/calico#11358, projectcalico/calico#5093',
    },
    {
      id: 'sandbox-lost-its-address',
      examples: ['Sandbox for pod has no IP address. Need to start a new one'],
      templates: ['Sandbox for pod has no IP address. Need to start a new one'],
      means: 'kubelet recreates the pod, because the runtime reports no address of its sandbox.',
      why: 'The runtime was restarted or upgraded and has lost the results of the ADDs; each pod gets a new sandbox, and the DEL of the old one may come late or never.',
      affects: 'kubelet, all versions; seen at upgrades of kubelet and runtime',
      mend: captures => [type.audit, type.ofPod(captures), type.cacheScan],
      source: 'rancher/rke2#3723, kubernetes/kubernetes#44100',
    },
    {
      id: 'sandbox-changed',
      wrapping: true,
      examples: ['Pod sandbox changed, it will be killed and re-created.'],
      templates: ['Pod sandbox changed, it will be killed and re-created'],
      means: 'kubelet recreates the pod, because its sandbox ended or never came up.',
      why: 'This is normal after a failed ADD and after a restart of the node; the reason is in an earlier event.',
      affects: 'kubelet, all versions',
      mend: captures => [type.flights(captures), type.audit],
      source: 'kubernetes/kubernetes#56996',
    },
    {
      id: 'deadline-exceeded',
      examples: [
        'Failed to create pod sandbox: rpc error: code = DeadlineExceeded desc = context deadline exceeded',
      ],
      templates: [
        'code = DeadlineExceeded desc = context deadline exceeded',
        'stream terminated by RST_STREAM with error code: CANCEL',
      ],
      means:
        'kubelet has stopped waiting for the runtime; the sandbox may still come up, but kubelet no longer uses it.',
      why: 'A plugin, or a daemon behind it, hangs. The next attempt gets "name is reserved" until the first one ends.',
      affects: 'kubelet, all versions: four minutes',
      mend: captures => [type.flights(captures), type.doctor, type.runtimeLog],
      source: 'containerd/containerd#12438, k3s-io/k3s#14078, cri-o/cri-o#7010',
    },
    {
      id: 'create-sandbox-failed',
      wrapping: true,
      examples: ['Failed to create pod sandbox: rpc error: code = Unknown desc = something new'],
      templates: [
        'failed to setup network for sandbox "<containerId>"',
        'failed to set up sandbox container "<containerId>"',
        'Failed to create pod sandbox',
        'Failed create pod sandbox',
        'CreatePodSandboxError',
        'FailedCreatePodSandBox',
      ],
      means: 'The runtime could not create the sandbox of a pod; the text behind it says why.',
      why: 'What comes after "desc =" is from the runtime, and after "failed (add):" from a plugin.',
      affects: 'kubelet, all versions',
      mend: captures => [type.flights(captures), type.doctor, type.runtimeLog],
      source: 'kubernetes/kubernetes, pkg/kubelet/kuberuntime',
    },
    {
      id: 'kill-sandbox-failed',
      wrapping: true,
      examples: [
        'failed to "KillPodSandbox" for "7c9e6679-7425-40de-944b-e07fc1f90ae7" with KillPodSandboxError: "something new"',
      ],
      templates: [
        'KillPodSandboxError',
        'FailedKillPod',
        'failed to destroy network for sandbox "<containerId>"',
      ],
      means:
        'The runtime could not stop the sandbox of a pod, so the pod stays Terminating; the text behind it says why.',
      why: 'kubelet retries forever; the addresses and the name of the sandbox stay taken meanwhile.',
      affects: 'kubelet, all versions',
      mend: captures => [type.flights(captures), type.cacheScan, type.doctor, type.runtimeLog],
      source: 'kubernetes/kubernetes, pkg/kubelet/kuberuntime',
    },
    {
      id: 'json-cut-off',
      wrapping: true,
      examples: ['unexpected end of JSON input'],
      templates: ['unexpected end of JSON input'],
      means:
        'Something that has to be JSON is empty or cut off: at ADD what a plugin printed, at DEL and CHECK a file of the result cache, when a network is loaded its file.',
      why: 'A plugin printed no result, or a power cut left a file of zero bytes. Old versions say no more than this.',
      affects: 'libcni up to 0.7; newer ones say more before it',
      mend: () => [type.cacheScan, type.tryConflist, type.lintAll],
      source: 'containernetworking/cni#670, containernetworking/cni#1055',
    },
    {
      id: 'json-spoilt',
      wrapping: true,
      examples: [`invalid character 's' looking for beginning of value`],
      templates: [`invalid character '<word>' looking for beginning of value`],
      means:
        'Something that has to be JSON begins with something else: at ADD what a plugin printed, at DEL and CHECK a file of the result cache, when a network is loaded its file.',
      why: 'A plugin wrote a line of its log to stdout, or a file was overwritten. Old versions say no more than this.',
      affects: 'libcni up to 0.7; newer ones say more before it',
      mend: () => [type.tryConflist, type.cacheScan, type.lintAll],
      source: 'containernetworking/cni#571, containernetworking/cni#1055',
    },
  ],
}
