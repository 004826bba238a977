{{- define "leafid.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "leafid.selector" -}}
app.kubernetes.io/name: leafid-server
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "leafid.labels" -}}
{{ include "leafid.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "leafid.secret" -}}
{{- .Values.store.existingSecret | default (include "leafid.name" .) -}}
{{- end -}}

{{- define "leafid.scheme" -}}
{{- if index .Values.options "tls-cert" }}HTTPS{{ else }}HTTP{{ end -}}
{{- end -}}
