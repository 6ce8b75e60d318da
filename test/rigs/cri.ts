/** The kubelet's side of the Container Runtime Interface, as far as a pod's sandbox and its network go. */
import { join } from 'node:path'
import { credentials, loadPackageDefinition, type Client, type ServiceError } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

export interface Pod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Counts the sandboxes of one pod, as kubelet does; containerd refuses a repeated one. Default: 0. */
  readonly attempt?: number
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  /** Ports of the host that lead to ports of the pod. */
  readonly ports?: readonly {
    readonly protocol: 'TCP' | 'UDP'
    readonly containerPort: number
    readonly hostPort: number
  }[]
}

export interface SandboxStatus {
  readonly id: string
  readonly ready: boolean
  /** First address, '' when there is none. */
  readonly ip: string
  readonly additionalIps: readonly string[]
}

/** What the runtime said when a call failed: the text that kubelet puts into the pod's events. */
export class CriError extends Error {
  override readonly name = 'CriError'
}

export interface Cri {
  version(): Promise<string>
  /** Conditions by type, such as NetworkReady: whether it holds, and why not. */
  conditions(): Promise<Readonly<Record<string, { readonly status: boolean; readonly message: string }>>>
  hasImage(name: string): Promise<boolean>
  /** Runs a sandbox and gives its id. */
  run(pod: Pod): Promise<string>
  stop(id: string): Promise<void>
  remove(id: string): Promise<void>
  status(id: string): Promise<SandboxStatus>
  list(): Promise<readonly { readonly id: string; readonly name: string; readonly ready: boolean }[]>
  close(): void
}

interface Reply {
  readonly runtime_name: string
  readonly runtime_version: string
  readonly pod_sandbox_id: string
  readonly image: { readonly id: string } | null
  readonly status: {
    readonly id: string
    readonly state: string
    readonly network: {
      readonly ip: string
      readonly additional_ips: readonly { readonly ip: string }[]
    } | null
    readonly conditions: readonly {
      readonly type: string
      readonly status: boolean
      readonly message: string
    }[]
  }
  readonly items: readonly {
    readonly id: string
    readonly state: string
    readonly metadata: { readonly name: string }
  }[]
}

type Answer = (error: ServiceError | null, reply: Reply) => void
type Call = (request: object, options: { deadline: number }, answer: Answer) => void
type ServiceClient = Client & Readonly<Record<string, Call | undefined>>
type ServiceConstructor = new (
  address: string,
  security: ReturnType<typeof credentials.createInsecure>,
) => Client

/** kubelet waits two minutes for a sandbox; a test has less patience. */
const callTimeoutMs = 60_000

/**
 * Opens a connection to a runtime's socket.
 *
 * @param options.cgroupParent cgroup that sandboxes go under, so that the rig can remove it
 * @param options.logDirectory where the runtime puts logs of containers
 */
export function openCri(
  socket: string,
  options: { readonly cgroupParent: string; readonly logDirectory: string },
): Cri {
  const definition = loadSync(join(import.meta.dirname, 'cri.proto'), {
    keepCase: true,
    defaults: true,
    enums: String,
    longs: String,
  })
  const runtime = loadPackageDefinition(definition)['runtime'] as unknown as {
    readonly v1: { readonly RuntimeService: ServiceConstructor; readonly ImageService: ServiceConstructor }
  }
  const open = (service: ServiceConstructor): ServiceClient =>
    new service(`unix:${socket}`, credentials.createInsecure()) as ServiceClient
  const sandboxes = open(runtime.v1.RuntimeService)
  const images = open(runtime.v1.ImageService)

  const call = (client: ServiceClient, method: string, request: object): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const send = client[method]
      if (send === undefined) throw new Error(`cri.proto has no method ${method}`)
      send.call(client, request, { deadline: Date.now() + callTimeoutMs }, (error, reply) => {
        if (error === null) resolve(reply)
        else reject(new CriError(error.details === '' ? error.message : error.details))
      })
    })

  return {
    version: async () => {
      const reply = await call(sandboxes, 'Version', {})
      return `${reply.runtime_name} ${reply.runtime_version}`
    },
    conditions: async () => {
      const { status } = await call(sandboxes, 'Status', {})
      return Object.fromEntries(
        status.conditions.map(({ type, status, message }) => [type, { status, message }]),
      )
    },
    hasImage: async name => (await call(images, 'ImageStatus', { image: { image: name } })).image !== null,
    run: async pod => {
      const { namespace, name, uid, attempt = 0, annotations = {}, labels = {}, ports = [] } = pod
      const config = {
        metadata: { name, uid, namespace, attempt },
        hostname: name,
        log_directory: options.logDirectory,
        annotations,
        labels,
        port_mappings: ports.map(({ protocol, containerPort, hostPort }) => ({
          protocol,
          container_port: containerPort,
          host_port: hostPort,
        })),
        linux: { cgroup_parent: options.cgroupParent },
      }
      return (await call(sandboxes, 'RunPodSandbox', { config })).pod_sandbox_id
    },
    stop: async id => {
      await call(sandboxes, 'StopPodSandbox', { pod_sandbox_id: id })
    },
    remove: async id => {
      await call(sandboxes, 'RemovePodSandbox', { pod_sandbox_id: id })
    },
    status: async id => {
      const { status } = await call(sandboxes, 'PodSandboxStatus', { pod_sandbox_id: id })
      return {
        id: status.id,
        ready: status.state === 'SANDBOX_READY',
        ip: status.network?.ip ?? '',
        additionalIps: status.network?.additional_ips.map(entry => entry.ip) ?? [],
      }
    },
    list: async () => {
      const { items } = await call(sandboxes, 'ListPodSandbox', {})
      return items.map(item => ({
        id: item.id,
        name: item.metadata.name,
        ready: item.state === 'SANDBOX_READY',
      }))
    },
    close: () => {
      sandboxes.close()
      images.close()
    },
  }
}
