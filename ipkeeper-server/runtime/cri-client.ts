import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import {
  emptyMessage,
  readConditions,
  readSandboxAddresses,
  readSandboxList,
  readVersion,
  sandboxStatusRequest,
} from './cri-messages.ts'
import type { RuntimeCondition, RuntimeVersion, Sandbox } from './sandboxes.ts'

/** A list of some thousands of sandboxes; kubelet takes as much (16 MiB). */
const longestMessage = 16 * 1024 * 1024
/** gRPC's NOT_FOUND. */
const notFound = 5

/** One container runtime, asked over its socket. Nothing runs between two calls. */
export class CriClient {
  readonly #client: Client
  readonly #deadlineMs: number

  /** @param socket absolute path */
  constructor(socket: string, deadlineMs = 5_000) {
    this.#deadlineMs = deadlineMs
    this.#client = new Client(`unix://${socket}`, credentials.createInsecure(), {
      'grpc.max_receive_message_length': longestMessage,
      // Else it is the path of the socket, percent-encoded, which containerd refuses.
      'grpc.default_authority': 'localhost',
      'grpc.service_config_disable_resolution': 1,
      // One that was away for hours is found again soon; the usual pause grows to two minutes.
      'grpc.max_reconnect_backoff_ms': 10_000,
    })
  }

  /** Rejects with an Error that says in one line what the runtime, or the way to it, had to say. */
  async sandboxes(): Promise<readonly Sandbox[]> {
    return await this.#call('ListPodSandbox', emptyMessage(), readSandboxList)
  }

  /** Empty for one that is not known. Rejects as above. */
  async addressesOf(id: string): Promise<readonly string[]> {
    try {
      return await this.#call('PodSandboxStatus', sandboxStatusRequest(id), readSandboxAddresses)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === notFound) return []
      throw error
    }
  }

  /** NetworkReady among them, with the reason why not. Rejects as above. */
  async conditions(): Promise<readonly RuntimeCondition[]> {
    return await this.#call('Status', emptyMessage(), readConditions)
  }

  /** What it is. Rejects as above. */
  async version(): Promise<RuntimeVersion> {
    return await this.#call('Version', emptyMessage(), readVersion)
  }

  close(): void {
    this.#client.close()
  }

  async #call<T>(method: string, request: Uint8Array, read: (bytes: Uint8Array) => T): Promise<T> {
    return await new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        `/runtime.v1.RuntimeService/${method}`,
        (bytes: Uint8Array) => Buffer.from(bytes),
        (bytes: Buffer) => read(bytes),
        request,
        new Metadata(),
        { deadline: Date.now() + this.#deadlineMs },
        (error: ServiceError | null, reply?: T) => {
          if (error) reject(Object.assign(new Error(error.details || error.message), { code: error.code }))
          else if (reply === undefined) reject(new Error('an empty reply'))
          else resolve(reply)
        },
      )
    })
  }
}
