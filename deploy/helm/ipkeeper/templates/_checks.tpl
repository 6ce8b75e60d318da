{{- define "ipkeeper.checkStore" }}
{{- with .Values.store }}
{{- if and (eq .kind "etcd") (not .endpoints) }}
{{- fail "store.endpoints: with store.kind etcd every member has to be named, such as https://10.0.0.1:2379" }}
{{- end }}
{{- range .endpoints }}
{{- if not (regexMatch `^https?://[^/, ]+$` .) }}
{{- fail (printf "store.endpoints: %q is not a member of etcd, such as https://10.0.0.1:2379" .) }}
{{- end }}
{{- end }}
{{- if and (ne .kind "etcd") (or .endpoints .secret) }}
{{- fail (printf "store.endpoints and store.secret are for store.kind etcd, which is %s: set store.kind to etcd, or leave them out" .kind) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "ipkeeper.checkNetwork" }}
{{- with .Values.network }}
{{- if .conflist }}
{{- if ne .subnet (include "ipkeeper.ownSubnet" $) }}
{{- fail "network.subnet is for the conflist that comes with ipkeeper, and network.conflist is another: leave one of them out" }}
{{- end }}
{{- $network := fromJson .conflist }}
{{- if $network.Error }}
{{- fail (printf "network.conflist is not a JSON object: %s; see: ipkeeperctl lint FILE" $network.Error) }}
{{- end }}
{{- if or (not $network.name) (not (kindIs "slice" $network.plugins)) }}
{{- fail "network.conflist has no name, or no list of plugins; see: ipkeeperctl lint FILE" }}
{{- end }}
{{- $uses := false }}
{{- range $network.plugins }}
{{- if and (kindIs "map" .) (or (eq (dig "type" "" .) "ipkeeper") (eq (dig "ipam" "type" "" .) "ipkeeper")) }}{{- $uses = true }}{{- end }}
{{- end }}
{{- if not $uses }}
{{- fail "network.conflist has no plugin and no ipam of type ipkeeper: its pods would have nothing of ipkeeper; see docs/guides/main-plugin.md" }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "ipkeeper.checkParts" }}
{{- with .Values.webhook }}
{{- if and .secret (not .caBundle) (not .annotations) }}
{{- fail "webhook.caBundle: with webhook.secret the API server has to know the authority of its certificate: set it, or let cert-manager put it in by webhook.annotations" }}
{{- end }}
{{- if and .caBundle (not .secret) }}
{{- fail "webhook.caBundle is for a certificate of your own: set webhook.secret as well, or leave both out" }}
{{- end }}
{{- end }}
{{- if and .Values.metrics.enabled (hasKey .Values.config "metrics") }}
{{- fail "config.metrics: with metrics.enabled the chart writes it: leave one of them out" }}
{{- end }}
{{- if and .Values.metrics.enabled .Values.webhook.enabled (eq (int .Values.metrics.port) (int .Values.webhook.port)) }}
{{- fail (printf "metrics.port and webhook.port are both %d: set another one" (int .Values.metrics.port)) }}
{{- end }}
{{- if and .Values.nodePolicy.enabled (ne .Values.store.kind "kubernetes") }}
{{- fail (printf "nodePolicy.enabled is for leases in custom resources, and store.kind is %s: set it to kubernetes, or leave the policy out" .Values.store.kind) }}
{{- end }}
{{- end }}

{{- define "ipkeeper.checkVersion" }}
{{- $version := .Capabilities.KubeVersion.Version }}
{{- if and (eq .Values.store.kind "kubernetes") .Values.crds.install (not (semverCompare ">=1.31.0-0" $version)) }}
{{- fail (printf "the definitions of the custom resources have rules for addresses, which Kubernetes knows since 1.31, and this is %s: upgrade it, or use store.kind etcd or sqlite" $version) }}
{{- end }}
{{- if and .Values.nodePolicy.enabled (not (semverCompare ">=1.30.0-0" $version)) }}
{{- fail (printf "nodePolicy.enabled: tokens name their nodes since Kubernetes 1.30, and this is %s: leave the policy out" $version) }}
{{- end }}
{{- end }}

{{- /* Without a cluster, as with "helm template", lookups find nothing, and nothing is refused here. */}}
{{- define "ipkeeper.checkCluster" }}
{{- $namespace := lookup "v1" "Namespace" "" .Release.Namespace }}
{{- $level := dig "metadata" "labels" "pod-security.kubernetes.io/enforce" "" $namespace }}
{{- if and $level (ne $level "privileged") }}
{{- fail (printf "the namespace %s takes no pods that see the node: it enforces the Pod Security Standard %s. Another namespace, or: kubectl label --overwrite namespace %s pod-security.kubernetes.io/enforce=privileged" .Release.Namespace $level .Release.Namespace) }}
{{- end }}
{{- $role := lookup "rbac.authorization.k8s.io/v1" "ClusterRole" "" "ipkeeper" }}
{{- $release := dig "metadata" "annotations" "meta.helm.sh/release-name" "" $role }}
{{- $where := dig "metadata" "annotations" "meta.helm.sh/release-namespace" "" $role }}
{{- if and $release (or (ne $release .Release.Name) (ne $where .Release.Namespace)) }}
{{- fail (printf "ipkeeper is in this cluster already, as release %s of namespace %s, and a node has one daemon: helm upgrade %s --namespace %s, or first helm uninstall %s --namespace %s" $release $where $release $where $release $where) }}
{{- end }}
{{- $nodes := (lookup "v1" "Node" "" "").items | default list }}
{{- if and (eq .Values.store.kind "sqlite") (gt (len $nodes) 1) (not (dig "store" "singleNode" false .Values.config)) }}
{{- fail (printf "store.kind sqlite is a ledger of each node's own, and this cluster has %d nodes, which could give an address twice: use kubernetes or etcd, or set config.store.singleNode where each node has ranges of its own" (len $nodes)) }}
{{- end }}
{{- if and (eq .Values.store.kind "kubernetes") (not .Values.crds.install) $nodes (not (.Capabilities.APIVersions.Has "ipkeeper.io/v1alpha1")) }}
{{- fail "crds.install is false, and the cluster does not know ipkeeper's custom resources: leave it true, or first kubectl apply --server-side -k deploy/crds" }}
{{- end }}
{{- end }}
