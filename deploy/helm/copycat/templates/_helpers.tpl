{{/* The name that all objects of a release begin with. */}}
{{- define "copycat.name" -}}
{{- if contains "copycat" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-copycat" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* What tells the pods of a role: (dict "root" $ "role" "config"). */}}
{{- define "copycat.selector" -}}
app.kubernetes.io/name: {{ hasPrefix "spark-" .role | ternary "copycat-spark" "copycat" }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "copycat.labels" -}}
{{ include "copycat.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "copycat.image" -}}
{{- $images := .root.Values.images -}}
{{- with $images.registry }}{{ . | trimSuffix "/" }}/{{ end }}copycat-{{ .role }}
{{- with index $images.digests .role }}@{{ . }}{{ else }}:{{ $images.tag }}{{ end }}
{{- end }}

{{- define "copycat.secretName" -}}
{{- .Values.clusterSecret.existingSecret | default (printf "%s-cluster" (include "copycat.name" .)) }}
{{- end }}

{{- define "copycat.ports" -}}
{{ dict "config" 9101 "offset" 9102 "status" 9103 "scheduler" 9104 "executor" 9105 "gateway" 8083 | toJson }}
{{- end }}

{{- define "copycat.sparkSecretName" -}}
{{- .Values.spark.secret.existingSecret | default (printf "%s-spark" (include "copycat.name" .)) }}
{{- end }}

{{/* The pods of the Spark cluster, as a peer of network policies. */}}
{{- define "copycat.sparkPods" -}}
{{ dict "podSelector" (dict "matchLabels" (dict "app.kubernetes.io/name" "copycat-spark" "app.kubernetes.io/instance" .Release.Name)) | toJson }}
{{- end }}

{{/* Where a pod runs, and what it may do there. */}}
{{- define "copycat.placement" -}}
{{- $root := .root -}}
serviceAccountName: {{ include "copycat.name" $root }}-{{ .role }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with $root.Values.images.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
# One node lost takes one instance, where there are nodes enough.
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "copycat.selector" . | nindent 8 }}
{{- end }}

{{- define "copycat.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* The volumes of those that run connectors, or partitions of them. */}}
{{- define "copycat.connectorMounts" -}}
- {name: data, mountPath: /data}
{{- if .Values.connectorSecret }}
- {name: connector-secret, mountPath: /run/secrets/copycat, readOnly: true}
{{- end }}
{{- end }}

{{- define "copycat.connectorVolumes" -}}
- name: data
  {{- if .Values.executor.dataClaim }}
  persistentVolumeClaim: {claimName: {{ .Values.executor.dataClaim }}}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- with .Values.connectorSecret }}
- name: connector-secret
  secret: {secretName: {{ . }}}
{{- end }}
{{- end }}

{{/* What every pod of a service is, whatever its role; the caller adds what its own needs. */}}
{{- define "copycat.pod" -}}
{{- $root := .root -}}
{{- $port := index (include "copycat.ports" $root | fromJson) .role -}}
{{- $port_name := eq .role "gateway" | ternary "rest" "grpc" -}}
metadata:
  labels: {{- include "copycat.labels" . | nindent 4 }}
  annotations:
    checksum/properties: {{ include (print $root.Template.BasePath "/configmap.yaml") $root | sha256sum }}
    checksum/secret: {{ include (print $root.Template.BasePath "/secret.yaml") $root | sha256sum }}
    {{- with $root.Values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  {{- include "copycat.placement" . | nindent 2 }}
  containers:
    - name: {{ .role }}
      image: {{ include "copycat.image" . | quote }}
      imagePullPolicy: {{ $root.Values.images.pullPolicy }}
      env:
        - name: COPYCAT_ROLE
          value: {{ .role }}
        - name: COPYCAT_CLUSTER_SECRET
          valueFrom:
            secretKeyRef: {name: {{ include "copycat.secretName" $root }}, key: secret}
        - name: COPYCAT_POD
          valueFrom:
            fieldRef: {fieldPath: metadata.name}
        {{- if and $root.Values.spark.enabled (eq .role "executor") }}
        - name: COPYCAT_SPARK_SECRET
          valueFrom:
            secretKeyRef: {name: {{ include "copycat.sparkSecretName" $root }}, key: secret}
        {{- end }}
        {{- with $root.Values.extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
      ports:
        - name: {{ $port_name }}
          containerPort: {{ $port }}
      {{- if eq .role "gateway" }}
      # Nodes go on sending it requests for a moment after it was asked to end.
      lifecycle:
        preStop:
          exec:
            command: [python, -c, "import time; time.sleep(5)"]
      {{- end }}
      {{- /* Until a service first serves it is not restarted; after that one that hangs is, within a minute. */}}
      startupProbe:
        tcpSocket: {port: {{ $port_name }}}
        periodSeconds: 2
        failureThreshold: 90
      livenessProbe:
        tcpSocket: {port: {{ $port_name }}}
        periodSeconds: 15
        failureThreshold: 4
      {{- /* Kubernetes' own probe of gRPC speaks no TLS, and the gateway no gRPC. */}}
      {{- if or (eq .role "gateway") $root.Values.servicesTls.secret }}
      readinessProbe:
        exec:
          command: [copycat-worker, /etc/copycat/worker.properties, --role, {{ .role }}, --probe]
        periodSeconds: 15
        timeoutSeconds: 10
      {{- else }}
      readinessProbe:
        grpc: {port: {{ $port }}}
        periodSeconds: 5
        timeoutSeconds: 5
      {{- end }}
      resources: {{- toYaml .settings.resources | nindent 8 }}
      securityContext: {{- include "copycat.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - {name: properties, mountPath: /etc/copycat, readOnly: true}
        - {name: tmp, mountPath: /tmp}
        {{- if $root.Values.servicesTls.secret }}
        - {name: certificates, mountPath: /etc/copycat-certificates, readOnly: true}
        {{- end }}
        {{- if eq .role "executor" }}
        {{- include "copycat.connectorMounts" $root | nindent 8 }}
        {{- end }}
  volumes:
    - name: properties
      configMap: {name: {{ include "copycat.name" $root }}}
    - name: tmp
      emptyDir: {}
    {{- with $root.Values.servicesTls.secret }}
    - name: certificates
      secret: {secretName: {{ . }}, defaultMode: 0440}
    {{- end }}
    {{- if eq .role "executor" }}
    {{- include "copycat.connectorVolumes" $root | nindent 4 }}
    {{- end }}
{{- end }}
