{{- /* Made by scripts/generate-chart.ts from deploy/cni/10-ipkeeper.conflist; change that, then: make generate */}}
{{- define "ipkeeper.ownConflist" -}}
{
  "cniVersion": "1.0.0",
  "name": "fixed",
  "plugins": [
    {
      "type": "ipkeeper",
      "mode": "bridge",
      "bridge": "ipk0",
      "isGateway": true,
      "ipMasq": true,
      "capabilities": { "io.kubernetes.cri.pod-annotations": true, "ips": true, "mac": true },
      "ipam": {
        "type": "ipkeeper",
        "ranges": [[{ "subnet": "{{ .Values.network.subnet }}" }]],
        "routes": [{ "dst": "0.0.0.0/0" }]
      }
    },
    { "type": "portmap", "capabilities": { "portMappings": true } }
  ]
}
{{- end }}
{{- define "ipkeeper.ownSubnet" }}10.22.0.0/16{{ end }}
