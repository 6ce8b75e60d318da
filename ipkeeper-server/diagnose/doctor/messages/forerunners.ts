import * as type from './advice.ts'
import type { TextGroup } from './text-group.ts'

/** Plugins that ask a daemon, as crd-ipkeeper and kube-ovn do: same words, since one was made after the other. */
export const forerunners: TextGroup = {
  title: 'A plugin could not use the answer of its daemon (crd-ipkeeper, cni-terway, kube-ovn)',
  texts: [
    {
      id: 'daemon-error-lost',
      examples: ['request ip return 500 {}', 'delete ip return 500 {}'],
      templates: ['request ip return <n> {}', 'delete ip return <n> {}'],
      means:
        'The daemon of that plugin failed, and its error was lost on the way: it was written as an empty object.',
      why: 'An error value of Go, or of JavaScript, has no fields that a JSON encoder sees, so it becomes {}. Only the log of that daemon has more.',
      affects: 'crd-ipkeeper, all versions; never ipkeeper, whose errors have a code',
      mend: captures => [
        {
          argv: ['kubectl', 'logs', '--namespace', 'kube-system', 'POD_OF_THE_DAEMON'],
          does: 'shows what the daemon wrote',
        },
        type.explain(captures),
      ],
      source: 'generals-space/crd-ipkeeper, pkg/server/handler.go',
    },
    {
      id: 'daemon-refused',
      examples: [
        'request ip return 500 no address allocated to pod shop/web-0, please see kube-ovn-controller logs to find errors',
      ],
      templates: ['no address allocated to pod <pod>', 'request ip return <n>', 'delete ip return <n>'],
      means: 'The daemon of kube-ovn, or of crd-ipkeeper, refused; the text behind it is its own.',
      why: 'Usually its controller has not assigned an address to the pod within 20 seconds.',
      affects: 'kube-ovn and crd-ipkeeper, all versions',
      mend: captures => [
        {
          argv: ['kubectl', 'logs', '--namespace', 'kube-system', 'deployment/kube-ovn-controller'],
          does: 'shows why',
        },
        type.explain(captures),
      ],
      source: 'kubeovn/kube-ovn, pkg/daemon/handler.go; kubeovn/kube-ovn#2003',
    },
    {
      id: 'daemon-broke-off',
      examples: ['RPC failed; request ip failed: Post "http://dummy/api/v1/add": EOF'],
      templates: [
        'Post "http://dummy/api/v1/add": EOF',
        'Post "http://dummy/api/v1/del": EOF',
        'http://dummy/api/v1/<word>: EOF',
      ],
      means: 'The daemon of that plugin broke off in the middle of a request, usually by a crash.',
      why: 'A panic ends the connection without an answer.',
      affects: 'kube-ovn and crd-ipkeeper',
      mend: () => [
        {
          argv: ['kubectl', 'logs', '--previous', '--namespace', 'kube-system', 'POD_OF_THE_DAEMON'],
          does: 'shows the crash',
        },
      ],
      source: 'kubeovn/kube-ovn#6581, kubeovn/kube-ovn#6002',
    },
    {
      id: 'daemon-socket-dead',
      examples: [
        'RPC failed; request ip failed: dial unix /run/openvswitch/kube-ovn-daemon.sock: connect: connection refused',
        'dial unix /var/run/cniserver.sock: connect: no such file or directory',
      ],
      templates: [
        'dial unix <socket>: connect: connection refused',
        'dial unix <socket>: connect: no such file or directory',
        'dial unix <socket>: connect: permission denied',
      ],
      means:
        'No process serves this socket: its daemon is not running, or the socket file was left by one that was killed.',
      why: 'A socket file outlives a daemon that was killed, and is lost when its folder is emptied.',
      affects: 'every plugin with a daemon',
      mend: ({ socket = '/run/ipkeeper/ipkeeper.sock' }) => [
        { argv: ['ls', '-l', socket], does: 'shows whether the file is there' },
        { argv: ['ss', '-xlp', 'src', socket], does: 'shows who listens on it' },
        type.doctor,
      ],
      source: 'kubeovn/kube-ovn#6775, kubeovn/kube-ovn#5836',
    },
    {
      id: 'server-socket-not-configured',
      examples: ['server_socket missing'],
      templates: ['server_socket missing', 'server_socket is required in cni.conf'],
      means:
        'The configuration that kube-ovn, or crd-ipkeeper, was given at DEL or ADD names no socket of its daemon.',
      why: 'As a rule the sandbox never got a network, so that nothing is remembered of it; its DEL fails forever, and keeps its name reserved.',
      affects: 'kube-ovn under Multus; crd-ipkeeper',
      mend: captures => [type.lintAll, type.removeSandbox(captures)],
      source: 'cozystack/cozystack#2310',
    },
    {
      id: 'terway-answer-not-json',
      examples: ['terway cni plugin response not a json format'],
      templates: ['terway cni plugin response not a json format'],
      means: 'What terway read as the answer of its plugin is not a JSON document.',
      why: 'It was empty, or had a line of a log in it.',
      affects: 'terway of Alibaba Cloud',
      mend: () => [type.tryConflist, type.runtimeLog],
      source: 'AliyunContainerService/terway#147',
    },
    {
      id: 'dhcp-daemon-away',
      examples: [
        'error dialing DHCP daemon: dial unix /run/cni/dhcp.sock: connect: no such file or directory',
      ],
      templates: [
        'error dialing DHCP daemon: dial unix <socket>: connect: no such file or directory',
        'error dialing DHCP daemon: dial unix <socket>: connect: connection refused',
      ],
      means: 'The dhcp plugin needs a daemon of its own, and it does not run.',
      why: '`dhcp daemon` has to run on each node that uses this IPAM plugin.',
      affects: 'reference plugin dhcp, all versions',
      mend: () => [{ argv: ['/opt/cni/bin/dhcp', 'daemon'], does: 'starts it in the foreground' }],
      source: 'containernetworking/plugins, plugins/ipam/dhcp',
    },
    {
      id: 'forerunner-pool-empty',
      examples: ['no more IP avaliable in sip'],
      templates: ['no more IP avaliable in sip'],
      means: 'The StaticIP object of crd-ipkeeper has no free address left.',
      why: 'crd-ipkeeper never frees the addresses of Deployments: a pool of N lasts for N pods.',
      affects: 'crd-ipkeeper, all versions; not ipkeeper, which reads the same annotations',
      mend: captures => [
        { argv: ['kubectl', 'get', 'staticips', '--all-namespaces'], does: 'shows what it holds' },
        type.explain(captures),
      ],
      source: 'generals-space/crd-ipkeeper, pkg/controller',
    },
    {
      id: 'forerunner-kind',
      examples: [`doesn't support resource type StatefulSet`],
      templates: [`doesn't support resource type`],
      means: 'crd-ipkeeper gives fixed addresses to bare pods and Deployments only.',
      why: 'Other kinds were never implemented; ipkeeper accepts the same annotations on all of them.',
      affects: 'crd-ipkeeper, all versions',
      mend: captures => [type.explain(captures)],
      source: 'generals-space/crd-ipkeeper, pkg/server/handler.go',
    },
    {
      id: 'address-answers-elsewhere',
      examples: ['IP address 10.16.0.15 has already been used by host with MAC 00:00:00:aa:bb:cc'],
      templates: ['IP address <address> has already been used by host with MAC <word>'],
      means: 'Another machine on the network answers for the address that the pod was to get.',
      why: 'It has the address, or a switch or router still answers for one that is gone.',
      affects: 'kube-ovn underlay; ipkeeper reports it as IPK_ADDRESS_DUPLICATE',
      mend: captures => [type.who(captures), type.history(captures)],
      source: 'kubeovn/kube-ovn#3170',
    },
  ],
}
