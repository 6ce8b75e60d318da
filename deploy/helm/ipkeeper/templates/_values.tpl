{{- /* Made by scripts/generate-chart.ts from scripts/chart/values.schema.ts; change that, then: make generate */}}
{{- define "ipkeeper.checkForms" }}
{{- if not (regexMatch `^[a-z0-9][a-z0-9._/:-]*[a-z0-9]$` (toString .Values.image.repository)) }}
{{- fail (printf "image.repository: %q is not %s" (toString .Values.image.repository) "the name of an image without its tag, such as example.org/ipkeeper") }}
{{- end }}
{{- if not (regexMatch `^([A-Za-z0-9_][A-Za-z0-9._-]{0,127})?$` (toString .Values.image.tag)) }}
{{- fail (printf "image.tag: %q is not %s" (toString .Values.image.tag) "the tag of an image, such as 0.1.0") }}
{{- end }}
{{- if not (regexMatch `^(sha256:[0-9a-f]{64})?$` (toString .Values.image.digest)) }}
{{- fail (printf "image.digest: %q is not %s" (toString .Values.image.digest) "a digest: \"sha256:\" and 64 digits of 0-9 and a-f") }}
{{- end }}
{{- if not (regexMatch `^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$` (toString .Values.store.secret)) }}
{{- fail (printf "store.secret: %q is not %s" (toString .Values.store.secret) "the name of a Secret") }}
{{- end }}
{{- if not (regexMatch `^[0-9]{1,3}([.][0-9]{1,3}){3}/([0-9]|[12][0-9]|30)$` (toString .Values.network.subnet)) }}
{{- fail (printf "network.subnet: %q is not %s" (toString .Values.network.subnet) "an IPv4 network, such as 10.22.0.0/16") }}
{{- end }}
{{- if not (regexMatch `^[A-Za-z0-9][A-Za-z0-9._-]*[.]conflist$` (toString .Values.network.fileName)) }}
{{- fail (printf "network.fileName: %q is not %s" (toString .Values.network.fileName) "a file name that ends in .conflist") }}
{{- end }}
{{- if not (regexMatch `^(/[A-Za-z0-9._-]+)+$` (toString .Values.node.binDir)) }}
{{- fail (printf "node.binDir: %q is not %s" (toString .Values.node.binDir) "the absolute path of a folder, such as /opt/cni/bin") }}
{{- end }}
{{- if not (regexMatch `^(/[A-Za-z0-9._-]+)+$` (toString .Values.node.confDir)) }}
{{- fail (printf "node.confDir: %q is not %s" (toString .Values.node.confDir) "the absolute path of a folder, such as /opt/cni/bin") }}
{{- end }}
{{- if not (regexMatch `^(/[A-Za-z0-9._-]+)+$` (toString .Values.node.containerdDir)) }}
{{- fail (printf "node.containerdDir: %q is not %s" (toString .Values.node.containerdDir) "the absolute path of a folder, such as /opt/cni/bin") }}
{{- end }}
{{- if not (regexMatch `^(/[A-Za-z0-9._-]+)+$` (toString .Values.node.crioDir)) }}
{{- fail (printf "node.crioDir: %q is not %s" (toString .Values.node.crioDir) "the absolute path of a folder, such as /opt/cni/bin") }}
{{- end }}
{{- if not (regexMatch `^([1-9][0-9]{0,5}|([1-9][0-9]?|100)%)$` (toString .Values.maxUnavailable)) }}
{{- fail (printf "maxUnavailable: %q is not %s" (toString .Values.maxUnavailable) "a number of nodes of at least 1, or a share such as 10%") }}
{{- end }}
{{- if not (regexMatch `^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$` (toString .Values.webhook.secret)) }}
{{- fail (printf "webhook.secret: %q is not %s" (toString .Values.webhook.secret) "the name of a Secret") }}
{{- end }}
{{- if not (regexMatch `^[A-Za-z0-9+/=]*$` (toString .Values.webhook.caBundle)) }}
{{- fail (printf "webhook.caBundle: %q is not %s" (toString .Values.webhook.caBundle) "base64") }}
{{- end }}
{{- if not (regexMatch `^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$` (toString .Values.metrics.secret)) }}
{{- fail (printf "metrics.secret: %q is not %s" (toString .Values.metrics.secret) "the name of a Secret") }}
{{- end }}
{{- if not (regexMatch `^[1-9][0-9]*[sm]$` (toString .Values.metrics.interval)) }}
{{- fail (printf "metrics.interval: %q is not %s" (toString .Values.metrics.interval) "a duration, such as 30s") }}
{{- end }}
{{- if hasKey .Values.config "node" }}
{{- fail "config.node: the chart writes it: each daemon has the name of its node from its pod" }}
{{- end }}
{{- if hasKey .Values.config "election" }}
{{- fail "config.election: the chart writes it: the Lease is in the namespace of the release" }}
{{- end }}
{{- if hasKey .Values.config "webhook" }}
{{- fail "config.webhook: the chart writes it: use the value \"webhook\"" }}
{{- end }}
{{- end }}
