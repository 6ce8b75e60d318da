import { buildConnector, Pool, type Dispatcher } from 'undici'
import { type TlsMaterial, sameTls } from '../host/tls-material.ts'
import { version } from '../../shared/build-info.ts'
import { isJsonObject, type JsonObject } from '../../shared/json/fold.ts'
import { ApiError, statusError } from './api-error.ts'
import { failedBy } from '../../shared/system-code.ts'

export interface ApiSecrets {
  readonly token: string | undefined
  readonly tls: TlsMaterial
}

/** Where the Kubernetes API is, and by what it knows us. */
export interface ApiAccess {
  /** "https://10.96.0.1:443", or with a path: "https://rancher.example/k8s/clusters/c-1"; no slash at the end. */
  readonly server: string
  /** Where this was learnt, for people: "kubeconfig /etc/ipkeeper/kubeconfig, context prod". Holds no secret. */
  readonly source: string
  /**
   * Tokens and certificates rotate: what is returned was looked at within the last minute, or just now if `again` is
   * set. A file that cannot be read any more leaves what was last read in force.
   */
  secrets(again: boolean): ApiSecrets
}

export interface ApiLimits {
  /** Milliseconds that a whole answer may take, and the beginning of a watch. */
  readonly timeout: number
  /** Bytes of one answer. */
  readonly size: number
  /** Requests under way at once, watches not counted: a start with many pods must not look like an attack. */
  readonly requests: number
}

const standardLimits: ApiLimits = { timeout: 30_000, size: 64 * 1024 * 1024, requests: 4 }

/** Bytes of an answer that says why it is none. */
const errorSize = 64 * 1024

/** Only names, labels, annotations and owners of an object: pods are ten times larger (API concepts, "Metadata only"). */
export const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'
export const metadataListOnly =
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'

interface ApiRequest {
  readonly query?: Readonly<Record<string, string>>
  readonly accept?: string
  /** Milliseconds that this answer may take, the wait for a turn included; that of the limits when absent. */
  readonly timeout?: number
}

/** What an object has to be for a deletion to be carried out. */
interface Preconditions {
  readonly uid?: string
  readonly resourceVersion?: string
}

/** A change of a JSON document (RFC 6902). */
type JsonPatch = readonly { readonly op: 'replace' | 'add'; readonly path: string; readonly value: unknown }[]

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface Call extends ApiRequest {
  readonly method: Method
  readonly path: string
  readonly body?: { readonly type: string; readonly value: object }
  readonly isWatch?: true
}

/** Connections that were made with the same certificates. */
interface Pools {
  readonly tls: TlsMaterial
  readonly requests: Pool
  /** Each has a connection of its own for minutes. */
  readonly watches: Pool
}

/**
 * Requests to the Kubernetes API, over HTTP/1.1: one connection for each watch, and up to `limits.requests` others that
 * are closed when idle. Every failure is an ApiError.
 *
 * A 401 has the credentials read again, and the request is sent once more: a token may have been renewed meanwhile.
 */
export class ApiClient {
  readonly #access: ApiAccess
  readonly #limits: ApiLimits
  readonly #origin: string
  readonly #prefix: string
  readonly #pools = new Set<Pools>()
  readonly #waiting: (() => void)[] = []
  #current: Pools | undefined
  #underWay = 0
  #closed = false

  constructor(access: ApiAccess, limits: Partial<ApiLimits> = {}) {
    this.#access = access
    this.#limits = { ...standardLimits, ...limits }
    const { origin, pathname } = new URL(access.server)
    this.#origin = origin
    this.#prefix = pathname.replace(/\/+$/, '')
  }

  /** Of the server, for people. */
  get server(): string {
    return this.#access.server
  }

  get source(): string {
    return this.#access.source
  }

  async get(path: string, request: ApiRequest = {}): Promise<JsonObject> {
    return await this.#ask({ ...request, method: 'GET', path })
  }

  async post(path: string, value: object, request: ApiRequest = {}): Promise<JsonObject> {
    return await this.#ask({ ...request, method: 'POST', path, body: { type: 'application/json', value } })
  }

  /** Replaces an object; one that bears a `resourceVersion` only if that is still its own. */
  async put(path: string, value: object): Promise<JsonObject> {
    return await this.#ask({ method: 'PUT', path, body: { type: 'application/json', value } })
  }

  /** A JSON merge patch (RFC 7386). */
  async patch(path: string, value: object): Promise<JsonObject> {
    return await this.#ask({ method: 'PATCH', path, body: { type: 'application/merge-patch+json', value } })
  }

  async jsonPatch(path: string, value: JsonPatch, request: ApiRequest = {}): Promise<JsonObject> {
    const body = { type: 'application/json-patch+json', value }
    return await this.#ask({ ...request, method: 'PATCH', path, body })
  }

  /** Resolves to the object while something of it stays, else to a Status. */
  async delete(path: string, preconditions: Preconditions, request: ApiRequest = {}): Promise<JsonObject> {
    const value = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions }
    return await this.#ask({ ...request, method: 'DELETE', path, body: { type: 'application/json', value } })
  }

  /**
   * Resolves when the server has begun to answer; then gives bytes until the server, the network or `signal` ends it.
   * What the iteration throws is an ApiError as well.
   */
  async watch(path: string, request: ApiRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const begun = new AbortController()
    const late = setTimeout(() => {
      begun.abort(new ApiError(`GET ${path}: no answer within ${this.#limits.timeout} ms`))
    }, this.#limits.timeout)
    const stop = (): void => {
      begun.abort(signal.reason)
    }
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    const call: Call = { ...request, method: 'GET', path, isWatch: true }
    let reply: Dispatcher.ResponseData
    try {
      reply = await this.#authorised(call, begun.signal)
    } catch (error) {
      signal.removeEventListener('abort', stop)
      throw error
    } finally {
      clearTimeout(late)
    }
    const { body } = reply
    const describe = (error: unknown): ApiError => this.#failure(call, error)
    return (async function* () {
      try {
        for await (const chunk of body) yield chunk as Uint8Array
      } catch (error) {
        throw describe(error)
      } finally {
        signal.removeEventListener('abort', stop)
        body.destroy()
      }
    })()
  }

  /** Ends all connections at once. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(
      [...this.#pools].flatMap(({ requests, watches }) => [requests.destroy(), watches.destroy()]),
    )
  }

  async #ask(call: Call): Promise<JsonObject> {
    const { timeout = this.#limits.timeout } = call
    const late = new AbortController()
    const timer = setTimeout(() => {
      late.abort(new ApiError(`${call.method} ${call.path}: no answer within ${Math.round(timeout)} ms`))
    }, timeout)
    try {
      await this.#turn(late.signal)
      try {
        const reply = await this.#authorised(call, late.signal)
        const text = await this.#text(call, reply, this.#limits.size)
        const value = parse(text)
        if (isJsonObject(value)) return value
        throw new ApiError(`${call.method} ${call.path}: the answer is no JSON object`)
      } finally {
        this.#underWay--
        this.#waiting.shift()?.()
      }
    } finally {
      clearTimeout(timer)
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#underWay >= this.#limits.requests) {
      await new Promise<void>((resolve, reject) => {
        const giveUp = (): void => {
          const index = this.#waiting.indexOf(proceed)
          if (index >= 0) this.#waiting.splice(index, 1)
          reject(signal.reason as ApiError)
        }
        const proceed = (): void => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        }
        signal.addEventListener('abort', giveUp, { once: true })
        this.#waiting.push(proceed)
      })
    }
    this.#underWay++
  }

  /** A reply of 200 to 299; its body is not read yet. */
  async #authorised(call: Call, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    let reply = await this.#send(call, this.#access.secrets(false), signal)
    if (reply.statusCode === 401) {
      await this.#text(call, reply, errorSize).catch(() => undefined)
      reply = await this.#send(call, this.#access.secrets(true), signal)
    }
    if (reply.statusCode >= 200 && reply.statusCode < 300) return reply
    const text = await this.#text(call, reply, errorSize)
    const hint = reply.statusCode === 401 ? ` (credentials: ${this.#access.source})` : ''
    const retryAfter = reply.headers['retry-after']
    throw statusError(
      `${call.method} ${call.path}${hint}`,
      reply.statusCode,
      parse(text) ?? text,
      typeof retryAfter === 'string' ? retryAfter : undefined,
    )
  }

  async #send(call: Call, secrets: ApiSecrets, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const query = new URLSearchParams(call.query).toString()
    const request: Dispatcher.RequestOptions = {
      method: call.method,
      path: `${this.#prefix}${call.path}${query === '' ? '' : `?${query}`}`,
      headers: {
        accept: call.accept ?? 'application/json',
        'user-agent': `ipkeeper-server/${version}`,
        ...(secrets.token !== undefined && { authorization: `Bearer ${secrets.token}` }),
        ...(call.body && { 'content-type': call.body.type }),
      },
      signal,
      ...(call.body && { body: JSON.stringify(call.body.value) }),
    }
    const { requests, watches } = this.#poolsFor(secrets.tls)
    const pool = call.isWatch ? watches : requests
    try {
      return await pool.request(request)
    } catch (error) {
      // An idle connection may be closed by the server just when it is used again.
      if (call.method !== 'GET' || signal.aborted || !isBrokenConnection(error))
        throw this.#failure(call, error)
    }
    try {
      return await pool.request(request)
    } catch (error) {
      throw this.#failure(call, error)
    }
  }

  async #text(call: Call, reply: Dispatcher.ResponseData, limit: number): Promise<string> {
    const chunks: Uint8Array[] = []
    let size = 0
    try {
      for await (const chunk of reply.body as AsyncIterable<Uint8Array>) {
        size += chunk.length
        if (size > limit) {
          throw new ApiError(`${call.method} ${call.path}: the answer is larger than ${limit} bytes`)
        }
        chunks.push(chunk)
      }
    } catch (error) {
      throw this.#failure(call, error)
    }
    return Buffer.concat(chunks).toString('utf8')
  }

  /** Connections are bound to the certificates they were made with: renewed ones get a pool of their own. */
  #poolsFor(tls: TlsMaterial): Pools {
    if (this.#closed) throw new ApiError('the client is closed')
    if (this.#current && sameTls(this.#current.tls, tls)) return this.#current
    const connect = buildConnector({
      ...(tls.ca !== undefined && { ca: tls.ca }),
      ...(tls.cert !== undefined && { cert: tls.cert }),
      ...(tls.key !== undefined && { key: tls.key }),
      ...(tls.insecure && { rejectUnauthorized: false }),
      timeout: Math.min(this.#limits.timeout, 10_000),
      keepAliveInitialDelay: 30_000,
    })
    const options: Pool.Options = {
      // Every request has a timer of its own here; undici's would tick twice a second as long as a watch lasts.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 20_000,
      // undici prefers the name in the URL to one that is configured.
      connect: (target, callback) => {
        connect(tls.servername === undefined ? target : { ...target, servername: tls.servername }, callback)
      },
    }
    const former = this.#current
    this.#current = {
      tls,
      requests: new Pool(this.#origin, { ...options, connections: this.#limits.requests }),
      watches: new Pool(this.#origin, options),
    }
    this.#pools.add(this.#current)
    if (former) {
      // Watches that still run there end by themselves, within minutes.
      void Promise.all([former.requests.close(), former.watches.close()]).then(() =>
        this.#pools.delete(former),
      )
    }
    return this.#current
  }

  #failure(call: Call, error: unknown): ApiError {
    if (error instanceof ApiError) return error
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    const said = error instanceof Error ? error.message : String(error)
    const what = said.includes(code ?? '') ? said || (code ?? 'failed') : `${code ?? ''} ${said}`.trim()
    const where = `${call.method} ${this.#origin}${this.#prefix}${call.path}`
    return new ApiError(`${where}: ${what}`, { code, cause: error })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isBrokenConnection(error: unknown): boolean {
  return failedBy(error, 'UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE')
}
