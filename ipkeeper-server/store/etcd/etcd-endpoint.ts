import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  type ChannelCredentials,
  status,
  type ServiceError,
} from '@grpc/grpc-js'
import { sameTls, type TlsMaterial } from '../../host/tls-material.ts'
import { EtcdFailure } from './etcd-failure.ts'

/** A call: its method, such as "KV/Txn", what goes there and how what comes back is read. */
export interface EtcdCall<T> {
  readonly method: string
  readonly request: Uint8Array
  readonly read: (bytes: Uint8Array) => T
}

/** What a stream of both directions brings. */
export interface StreamEvents<T> {
  message(message: T): void
  /** Once, when it is over. */
  ended(failure: EtcdFailure): void
}

export interface EtcdStream {
  send(request: Uint8Array): void
  cancel(): void
}

/** Of pages of a list, and of fragments of a watch. */
const longestMessage = 32 * 1024 * 1024

const channelOptions = {
  'grpc.max_receive_message_length': longestMessage,
  'grpc.service_config_disable_resolution': 1,
  // etcd is a part of the cluster; a proxy of the environment leads out of it.
  'grpc.enable_http_proxy': 0,
  // A channel that is given up must not leave its connection to the next one.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
  // Half-open connections are found out while something is under way. etcd breaks with who asks every 5 s.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
}

function channelCredentials(url: URL, tls: TlsMaterial): ChannelCredentials {
  if (url.protocol !== 'https:') return credentials.createInsecure()
  const pem = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text))
  return credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert))
}

/** One member of etcd, and the one connection to it. */
export class EtcdEndpoint {
  readonly url: string
  readonly #tlsNow: (again: boolean) => TlsMaterial
  readonly #underWay = new Set<{ cancel(): void }>()
  #tls: TlsMaterial = {}
  #client: Client | undefined
  /** Whether the last attempt ended for want of a connection: certificates may have been renewed. */
  #doubtful = false
  #closed = false

  constructor(url: string, tls: (again: boolean) => TlsMaterial) {
    this.url = url
    this.#tlsNow = tls
  }

  /**
   * One attempt. Rejects with EtcdFailure.
   *
   * @param token see Auth/Authenticate; undefined where there is none
   */
  async call<T>(
    { method, request, read }: EtcdCall<T>,
    token: string | undefined,
    milliseconds: number,
  ): Promise<T> {
    const client = this.#connection()
    return await new Promise((resolve, reject) => {
      const call = client.makeUnaryRequest(
        `/etcdserverpb.${method}`,
        (bytes: Uint8Array) => Buffer.from(bytes),
        (bytes: Buffer) => read(bytes),
        request,
        metadata(token),
        { deadline: Date.now() + milliseconds },
        (error: ServiceError | null, reply?: T) => {
          this.#underWay.delete(call)
          if (!error && reply !== undefined) resolve(reply)
          else
            reject(this.#failure(client, error ?? { code: status.UNAVAILABLE, details: 'an empty answer' }))
        },
      )
      this.#underWay.add(call)
    })
  }

  stream<T>(
    method: string,
    read: (bytes: Uint8Array) => T,
    token: string | undefined,
    events: StreamEvents<T>,
  ): EtcdStream {
    const client = this.#connection()
    const stream = client.makeBidiStreamRequest(
      `/etcdserverpb.${method}`,
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes: Buffer) => read(bytes),
      metadata(token),
    )
    this.#underWay.add(stream)
    let over = false
    const end = (code: status, details: string): void => {
      if (over) return
      over = true
      this.#underWay.delete(stream)
      stream.cancel()
      events.ended(this.#failure(client, { code, details }))
    }
    stream.on('data', (message: T) => {
      if (!over) events.message(message)
    })
    stream.on('error', (error: Partial<ServiceError>) => {
      end(error.code ?? status.UNAVAILABLE, error.details ?? error.message ?? '')
    })
    stream.on('end', () => {
      end(status.UNAVAILABLE, 'the stream ended')
    })
    return {
      send: request => {
        if (!over) stream.write(request)
      },
      cancel: () => {
        end(status.CANCELLED, 'cancelled')
      },
    }
  }

  /** Ends what is under way. */
  close(): void {
    this.#closed = true
    for (const call of this.#underWay) call.cancel()
    this.#client?.close()
  }

  #connection(): Client {
    if (this.#closed)
      throw new EtcdFailure(this.url, status.UNAVAILABLE, 'Channel closed before call started')
    const tls = this.#tlsNow(this.#doubtful)
    if (this.#client && sameTls(this.#tls, tls)) return this.#client
    this.#client?.close()
    const url = new URL(this.url)
    // "[::1]" is no name that could be looked up.
    const target = url.hostname.startsWith('[') ? `ipv6:${url.host}` : `dns:${url.host}`
    this.#tls = tls
    this.#client = new Client(target, channelCredentials(url, tls), channelOptions)
    return this.#client
  }

  #failure(client: Client, { code, details }: Pick<ServiceError, 'code' | 'details'>): EtcdFailure {
    const failure = new EtcdFailure(this.url, code, shorten(details))
    this.#doubtful = failure.verdict === 'unreachable'
    // Where packets are lost, TCP tries again after ever longer pauses: a new connection is there sooner.
    const stuck =
      code === status.DEADLINE_EXCEEDED &&
      client.getChannel().getConnectivityState(false) !== connectivityState.READY
    if (stuck && this.#client === client && !this.#closed) {
      client.close()
      this.#client = undefined
    }
    return failure
  }
}

function metadata(token: string | undefined): Metadata {
  const made = new Metadata()
  // A member that is cut off from the others says so, instead of keeping us waiting.
  made.set('hasleader', 'true')
  if (token !== undefined) made.set('token', token)
  return made
}

/** Without what grpc-js tells of its own affairs. */
function shorten(details: string): string {
  return details
    .replace(/\. Resolution note: .*$/s, '')
    .replace(/^(Deadline exceeded after [\d.]+s),.*$/s, '$1')
}
