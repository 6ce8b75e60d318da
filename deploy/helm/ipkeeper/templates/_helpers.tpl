{{- define "ipkeeper.labels" -}}
app.kubernetes.io/part-of: ipkeeper
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "ipkeeper.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "ipkeeper.args" -}}
{{- with .Values.store -}}
{{- if eq .kind "sqlite" }}[serve]
{{- else if eq .kind "etcd" }}[serve, --store, {{ printf "etcd:%s" (join "," .endpoints) | squote }}]
{{- else }}[serve, --store, 'kubernetes:']
{{- end -}}
{{- end -}}
{{- end }}

{{- /* What pods get. */}}
{{- define "ipkeeper.conflist" -}}
{{- .Values.network.conflist | default (include "ipkeeper.ownConflist" .) -}}
{{- end }}

{{- /* Another text is another name, hence a rollout, as it is with deploy/cni. */}}
{{- define "ipkeeper.networkName" -}}
ipkeeper-network-{{ printf "%s %s" .Values.network.fileName (include "ipkeeper.conflist" .) | sha256sum | trunc 10 }}
{{- end }}

{{- /* An address that a pod may ask for, in notes. */}}
{{- define "ipkeeper.exampleAddress" -}}
{{- with .Values.network -}}
{{- if or .conflist (gt (splitList "/" .subnet | last | int) 24) }}ADDRESS{{ else }}{{ regexReplaceAll `[0-9]+/[0-9]+$` .subnet "50" }}{{ end -}}
{{- end -}}
{{- end }}

{{- /* The daemon's configuration: what people write, and what the chart knows. */}}
{{- define "ipkeeper.config" -}}
{{- $own := dict "election" (dict "namespace" .Release.Namespace) }}
{{- if .Values.webhook.enabled }}
{{- $files := dict "certFile" "/etc/ipkeeper-webhook/tls.crt" "keyFile" "/etc/ipkeeper-webhook/tls.key" }}
{{- $listen := dict "listen" (printf "0.0.0.0:%d" (int .Values.webhook.port)) }}
{{- $issue := ternary dict (dict "issueFor" (include "ipkeeper.webhookHost" .)) (ne .Values.webhook.secret "") }}
{{- $_ := set $own "webhook" (merge $listen $files $issue) }}
{{- end }}
{{- if .Values.metrics.enabled }}
{{- $listen := printf "0.0.0.0:%d" (int .Values.metrics.port) }}
{{- $_ := set $own "metrics" (dict "listen" $listen "tokenFile" "/etc/ipkeeper-metrics/token") }}
{{- end }}
{{- merge $own .Values.config | toYaml }}
{{- end }}

{{- define "ipkeeper.metricsSecret" -}}
{{- .Values.metrics.secret | default "ipkeeper-metrics" -}}
{{- end }}

{{- define "ipkeeper.webhookSecret" -}}
{{- .Values.webhook.secret | default "ipkeeper-webhook" -}}
{{- end }}

{{- /* By which the API server reaches the daemons. */}}
{{- define "ipkeeper.webhookHost" -}}
ipkeeper-webhook.{{ .Release.Namespace }}.svc
{{- end }}

{{- /*
What the API server trusts of the webhook ("caBundle"), and the Secret that is made for it ("secret"): an authority of which each daemon
issues itself a certificate. One that is there stays for a year, of the ten that it is valid. The one before is trusted on: daemons read the
new one a minute later.
*/}}
{{- define "ipkeeper.certificate" -}}
{{- if .Values.webhook.secret }}
{{- dict "caBundle" .Values.webhook.caBundle | toYaml }}
{{- else }}
{{- $name := include "ipkeeper.webhookSecret" . }}
{{- $there := lookup "v1" "Secret" .Release.Namespace $name }}
{{- $data := $there.data | default dict }}
{{- $renewAfter := dig "metadata" "annotations" "ipkeeper.io/renew-after" "0" $there | int64 }}
{{- if or (not $data) (le $renewAfter (now | unixEpoch | int64)) }}
{{- $authority := genCA "ipkeeper-webhook" 3650 }}
{{- $before := index $data "ca.crt" | default "" | b64dec }}
{{- $latest := regexFind `(?s)^-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n?` $before }}
{{- $data = dict "tls.crt" (b64enc $authority.Cert) "tls.key" (b64enc $authority.Key) "ca.crt" (printf "%s%s" $authority.Cert $latest | b64enc) }}
{{- $renewAfter = now | date_modify "8760h" | unixEpoch | int64 }}
{{- end }}
{{- $annotations := dict "ipkeeper.io/renew-after" (toString $renewAfter) }}
{{- $labels := include "ipkeeper.labels" . | fromYaml }}
{{- $metadata := dict "name" $name "namespace" .Release.Namespace "labels" $labels "annotations" $annotations }}
{{- $secret := dict "apiVersion" "v1" "kind" "Secret" "type" "kubernetes.io/tls" "metadata" $metadata "data" $data }}
{{- dict "caBundle" (index $data "ca.crt") "secret" $secret | toYaml }}
{{- end }}
{{- end }}
