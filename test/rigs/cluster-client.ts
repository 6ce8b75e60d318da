/**
 * Requests to a Kubernetes API server as tests make them: JSON in, JSON out, a connection for each. Deliberately not the
 * daemon's client, which is what the tests are about.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { hangMs } from './poll.ts'
import { Agent, request, type Dispatcher } from 'undici'

/** An object of the API, or a list of them. What is in it the test knows. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type ApiObject = Record<string, any>

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: ApiObject
}

/** The server refused: what it said, with the HTTP status. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly status: number

  constructor(request: string, status: number, body: string) {
    super(`${request}: ${status} ${body}`)
    this.status = status
  }
}

export interface ClusterClient {
  /**
   * One request. A PATCH is a JSON merge patch.
   *
   * @throws RefusedError for a status that is not 2xx
   */
  request(method: Dispatcher.HttpMethod, path: string, body?: unknown): Promise<ApiObject>
  /** What the server has warned of so far, as kubectl prints it. */
  readonly warnings: readonly string[]
  /** A GET whose answer is no JSON, such as /readyz or /metrics. */
  readText(path: string): Promise<string>
  /** Creates an object from its manifest, and finds the path by its apiVersion and kind. */
  create(manifest: ApiObject): Promise<ApiObject>
  /** A collection as kubectl prints it without `-o`: each object by the names of its columns. */
  printed(path: string): Promise<readonly ApiObject[]>
  /**
   * GETs again and again until what comes is as wanted, and fails after `hangMs`. Errors mean "not yet". The failure names the
   * requests of this client that were refused meanwhile, whoever made them: a double of a controller retries its own.
   */
  until(path: string, wanted: (got: ApiObject) => boolean): Promise<ApiObject>
  /**
   * Events of a watch until the server ends it or the loop over them is left. `timeoutSeconds=N` in the query bounds it.
   *
   * @param path of the collection, with its query if there is one; `watch=true` is added
   * @param signal ends the loop with an AbortError, also while it waits
   */
  watch(path: string, signal?: AbortSignal): AsyncGenerator<WatchEvent, void, undefined>
}

export type Credentials =
  | { readonly token: string }
  /** Read anew for each request. */
  | { readonly tokenFile: string }
  | { readonly certificateFile: string; readonly keyFile: string }

export interface ClusterClientOptions {
  readonly url: string
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string
  readonly credentials: Credentials
}

/** How many refused requests a failure names. */
const namedRefusals = 5

export function openClusterClient({ url, ca, credentials }: ClusterClientOptions): ClusterClient {
  const refusals: { readonly at: number; readonly error: RefusedError }[] = []
  const refused = (request: string, status: number, body: string): RefusedError => {
    const error = new RefusedError(request, status, body)
    refusals.push({ at: performance.now(), error })
    return error
  }
  const warnings: string[] = []
  const send = (
    method: Dispatcher.HttpMethod,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
    accept?: string,
  ): Promise<Dispatcher.ResponseData> => {
    const { connect, headers } = presented(credentials)
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    return request(new URL(path, url), {
      method,
      // An agent for each: no pooled connection survives the server that it led to, or keeps the test alive.
      dispatcher: new Agent({ connect: { ca, ...connect } }),
      reset: true,
      headers: {
        ...headers,
        ...(accept === undefined ? {} : { accept }),
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  }

  const exchange = async (
    method: Dispatcher.HttpMethod,
    path: string,
    body?: unknown,
    accept?: string,
  ): Promise<string> => {
    const reply = await send(method, path, body, undefined, accept)
    const text = await reply.body.text()
    // 299 - "text", with what is quoted in the text escaped.
    for (const one of [reply.headers['warning'] ?? []].flat())
      warnings.push(one.replace(/^299 \S+ "|"$/g, '').replaceAll(/\\(.)/g, '$1'))
    if (reply.statusCode < 200 || reply.statusCode > 299)
      throw refused(`${method} ${path}`, reply.statusCode, text)
    return text
  }
  const ask: ClusterClient['request'] = async (method, path, body) =>
    JSON.parse(await exchange(method, path, body)) as ApiObject

  return {
    ...{ request: ask, warnings },
    readText: path => exchange('GET', path),
    printed: async path => {
      const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1'
      const { columnDefinitions, rows } = JSON.parse(await exchange('GET', path, undefined, accept)) as {
        columnDefinitions: { name: string; priority: number }[]
        rows: { cells: unknown[] }[]
      }
      return rows.map(({ cells }) =>
        Object.fromEntries(
          columnDefinitions.flatMap(({ name, priority }, index) =>
            priority === 0 ? [[name, cells[index]]] : [],
          ),
        ),
      )
    },
    create: async manifest => {
      const { apiVersion, kind, metadata } = manifest as {
        apiVersion: string
        kind: string
        metadata: ApiObject
      }
      const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
      const { resources } = (await ask('GET', root)) as { resources: ApiObject[] }
      const resource = resources.find(({ name, kind: its }) => its === kind && !String(name).includes('/'))
      if (resource === undefined) throw new Error(`the server knows no ${kind} in ${apiVersion}`)
      const namespace =
        resource['namespaced'] === true ? `/namespaces/${metadata['namespace'] ?? 'default'}` : ''
      return ask('POST', `${root}${namespace}/${resource['name']}`, manifest)
    },
    until: async (path, wanted) => {
      const began = performance.now()
      for (;;) {
        const got = await ask('GET', path).catch((error: unknown) => error)
        if (!(got instanceof Error) && wanted(got as ApiObject)) return got as ApiObject
        if (performance.now() > began + hangMs) {
          const meanwhile = refusals.filter(({ at, error }) => at >= began && error !== got)
          const told = meanwhile.slice(-namedRefusals).map(({ error }) => `\nrefused: ${error.message}`)
          throw new Error(`GET ${path}: not as wanted in time: ${inspect(got, { depth: 8 })}${told.join('')}`)
        }
        await delay(20)
      }
    },
    watch: async function* (path, signal) {
      const query = `${path.includes('?') ? '&' : '?'}watch=true`
      const reply = await send('GET', `${path}${query}`, undefined, signal)
      if (reply.statusCode !== 200) throw refused(`watch ${path}`, reply.statusCode, await reply.body.text())
      // Leaving the loop ends the connection, of which undici would tell somebody who no longer listens.
      reply.body.on('error', () => undefined)
      const decoder = new TextDecoder()
      let text = ''
      for await (const chunk of reply.body) {
        text += decoder.decode(chunk as Buffer, { stream: true })
        const lines = text.split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) yield JSON.parse(line) as WatchEvent
      }
    },
  }
}

/** What a connection and a request say about who makes them. */
function presented(credentials: Credentials): {
  readonly connect: { readonly cert?: Buffer; readonly key?: Buffer }
  readonly headers: Readonly<Record<string, string>>
} {
  if ('certificateFile' in credentials) {
    const { certificateFile, keyFile } = credentials
    return { connect: { cert: readFileSync(certificateFile), key: readFileSync(keyFile) }, headers: {} }
  }
  const token =
    'token' in credentials ? credentials.token : readFileSync(credentials.tokenFile, 'utf8').trim()
  return { connect: {}, headers: { authorization: `Bearer ${token}` } }
}
