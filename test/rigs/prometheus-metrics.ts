/** The metrics of other programs that alerts and dashboard may use; ours are in the table. */

/** containerd's, each seen in a real scrape by test/privileged and test/callers. */
export const containerdMetrics = [
  'grpc_server_handled_total',
  'containerd_cri_network_plugin_operations_errors_total_total',
  'containerd_cri_sandbox_runtime_stop_seconds_bucket',
  'containerd_cri_sandbox_create_network_seconds_bucket',
  'containerd_cri_sandbox_delete_network_seconds_bucket',
] as const

/** kubelet's, by the metrics reference of Kubernetes; those of cAdvisor and kube-state-metrics, by their docs. */
export const kubernetesMetrics = [
  'kubelet_runtime_operations_errors_total',
  'kubelet_orphaned_runtime_pods_total',
  'kubelet_running_pods',
  'container_start_time_seconds',
  'kube_pod_info',
] as const

/** Of every scrape. */
export const prometheusMetrics = ['up'] as const
