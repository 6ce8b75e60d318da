import { dirname, resolve } from 'node:path'
import { LineCounter, parseDocument } from 'yaml'
import type { ApiAccess, ApiSecrets } from './api-client.ts'
import { FreshFile } from '../host/fresh-file.ts'
import { checkTls, type TlsMaterial } from '../host/tls-material.ts'
import { isJsonObject, jsonTypeName, type JsonObject } from '../../shared/json/fold.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { nearestWord } from '../../shared/text/nearest-word.ts'

/** The files of one reading of the kubeconfig. */
interface Opened {
  readonly text: string
  readonly context: KubeconfigContext
  secrets(again: boolean): ApiSecrets
}

function open(path: string, text: string, wanted: string | undefined, monotonic: () => number): Opened {
  const context = parseKubeconfig(text, path, wanted)
  const reader = (material: Material | undefined, what: string): ((again: boolean) => string | undefined) => {
    if (!material) return () => undefined
    if ('text' in material) return () => material.text
    const file = new FreshFile(material.file, what, monotonic, 'IPK_KUBERNETES_CONFIG')
    return again => file.read(again)
  }
  const ca = reader(context.authority, 'certificate authority')
  const cert = reader(context.certificate, 'client certificate')
  const key = reader(context.key, 'client key')
  const token =
    context.tokenFile === undefined
      ? () => context.token
      : reader({ file: context.tokenFile }, `token of context "${context.context}"`)
  const opened = {
    text,
    context,
    secrets: (again: boolean) => ({ token: token(again)?.trim(), tls: tls(again) }),
  }
  function tls(again: boolean): TlsMaterial {
    const [authority, certificate, privateKey] = [ca(again), cert(again), key(again)]
    return {
      ...(authority !== undefined && { ca: authority }),
      ...(certificate !== undefined && { cert: certificate }),
      ...(privateKey !== undefined && { key: privateKey }),
      ...(context.servername !== undefined && { servername: context.servername }),
      ...(context.insecure && { insecure: true as const }),
    }
  }
  checkTls(tls(false), `${path}: context "${context.context}"`, 'IPK_KUBERNETES_CONFIG')
  return opened
}

/**
 * Access by a kubeconfig. The file itself is looked at again like those it names, since kubeadm and others renew the
 * certificates inside it; one that has become unusable meanwhile leaves the last good one in force, and so does one that
 * now names another server, because caches of one cluster are wrong for another.
 *
 * @throws Problem IPK_KUBERNETES_CONFIG
 */
export function kubeconfigAccess(
  path: string,
  wanted: string | undefined,
  monotonic: () => number,
): ApiAccess {
  const file = new FreshFile(path, 'kubeconfig', monotonic, 'IPK_KUBERNETES_CONFIG')
  let opened = open(path, file.read(false), wanted, monotonic)
  const { server, context } = opened.context
  return {
    server,
    source: `kubeconfig ${path}, context ${context}`,
    secrets: again => {
      const text = file.read(again)
      if (text !== opened.text) {
        try {
          const renewed = open(path, text, wanted, monotonic)
          opened = renewed.context.server === server ? renewed : { ...opened, text }
        } catch {
          opened = { ...opened, text }
        }
      }
      return opened.secrets(again)
    },
  }
}

/** A secret or certificate: in the file itself, or in another one. */
type Material = { readonly text: string } | { readonly file: string }

/** One context of a kubeconfig: what it names, files with absolute paths. */
interface KubeconfigContext {
  readonly context: string
  readonly server: string
  readonly authority: Material | undefined
  readonly servername: string | undefined
  readonly insecure: boolean
  readonly certificate: Material | undefined
  readonly key: Material | undefined
  readonly token: string | undefined
  /** Wins over `token`, as in client-go. */
  readonly tokenFile: string | undefined
}

/** Keys that would change what a request does or how it is made, and that we do not carry out: to ignore one is worse. */
const refused = {
  cluster: { 'proxy-url': 'proxies are not supported' },
  user: {
    exec: 'credentials from a program (exec) are not supported',
    'auth-provider': 'auth-provider is not supported',
    username: 'user name and password are not supported',
    password: 'user name and password are not supported',
    as: 'impersonation is not supported',
    'as-uid': 'impersonation is not supported',
    'as-groups': 'impersonation is not supported',
    'as-user-extra': 'impersonation is not supported',
  },
} as const

const instead =
  'use a client certificate, token or tokenFile; a service account is made by deploy/rbac/rbac.yaml'

/** Reads one section; messages name file and key, never a value that may be a secret. */
class Section {
  readonly where: string
  readonly #values: JsonObject

  constructor(where: string, values: unknown) {
    this.where = where
    if (!isJsonObject(values)) throw this.fault(`expected a mapping, not ${jsonTypeName(values)}`)
    this.#values = values
  }

  fault(what: string, hint?: string): Problem {
    return new Problem('IPK_KUBERNETES_CONFIG', `${this.where}: ${what}`, hint === undefined ? {} : { hint })
  }

  text(key: string): string | undefined {
    const value = this.#values[key]
    if (value === undefined || value === null || value === '') return undefined
    if (typeof value === 'string') return value
    throw this.fault(`${key}: expected a string, not ${jsonTypeName(value)}`)
  }

  required(key: string): string {
    const value = this.text(key)
    if (value === undefined) throw this.fault(`${key} is missing`)
    return value
  }

  flag(key: string): boolean {
    const value = this.#values[key] ?? false
    if (typeof value === 'boolean') return value
    throw this.fault(`${key}: expected true or false, not ${jsonTypeName(value)}`)
  }

  /** "NAME-data" holds base64 and wins over "NAME", which names a file (client-go, clientcmd). */
  material(key: string, folder: string): Material | undefined {
    const data = this.text(`${key}-data`)
    if (data !== undefined) {
      const compact = data.replace(/\s/g, '')
      if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact))
        throw this.fault(`${key}-data: expected base64 of a PEM text`)
      return { text: Buffer.from(compact, 'base64').toString('utf8') }
    }
    const file = this.text(key)
    return file === undefined ? undefined : { file: resolve(folder, file) }
  }

  refuse(keys: Readonly<Record<string, string>>): void {
    for (const [key, why] of Object.entries(keys)) {
      const value = this.#values[key]
      if (value !== undefined && value !== null && value !== '') throw this.fault(`${key}: ${why}`, instead)
    }
  }

  /** The entry of that name in a list of `{name, KIND: {...}}`. */
  named(list: string, kind: string, name: string): Section {
    const entries: unknown = this.#values[list] ?? []
    if (!Array.isArray(entries)) throw this.fault(`${list}: expected a list, not ${jsonTypeName(entries)}`)
    const found = entries.filter(isJsonObject).find(entry => entry['name'] === name)
    if (found) return new Section(`${this.where}: ${kind} "${name}"`, found[kind] ?? {})
    const known = entries
      .filter(isJsonObject)
      .map(entry => entry['name'])
      .filter(entry => typeof entry === 'string')
    const meant = nearestWord(name, known)
    throw this.fault(
      `there is no ${kind} "${name}"${meant !== undefined ? `; did you mean "${meant}"?` : ''}`,
      `the file names: ${known.join(', ') || 'none'}`,
    )
  }
}

function parseYaml(text: string, path: string): Section {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false })
  const [broken] = document.errors
  if (broken) {
    const { line, col } = lines.linePos(broken.pos[0])
    // The parser's own words may repeat a part of the text, and that may be a secret.
    throw new Problem(
      'IPK_KUBERNETES_CONFIG',
      `${path}:${line}:${col}: no YAML (${broken.code.toLowerCase().replaceAll('_', ' ')})`,
    )
  }
  return new Section(path, document.toJS() ?? {})
}

/**
 * One context of a kubeconfig (kubernetes.io, "kubeconfig (v1)"); no file but the text itself is looked at.
 *
 * @param context undefined for the file's own `current-context`
 * @throws Problem IPK_KUBERNETES_CONFIG with file, section and key, and what was expected
 */
export function parseKubeconfig(text: string, path: string, context: string | undefined): KubeconfigContext {
  const file = parseYaml(text, path)
  const name = context ?? file.text('current-context')
  if (name === undefined) {
    throw file.fault('current-context is missing', 'name one: kubernetes: { context: NAME }')
  }
  const chosen = file.named('contexts', 'context', name)
  const cluster = file.named('clusters', 'cluster', chosen.required('cluster'))
  cluster.refuse(refused.cluster)
  const userName = chosen.text('user')
  const user =
    userName === undefined
      ? new Section(`${path}: context "${name}" without user`, {})
      : file.named('users', 'user', userName)
  user.refuse(refused.user)
  const folder = dirname(resolve(path))
  const read = {
    context: name,
    server: readServer(cluster),
    authority: cluster.material('certificate-authority', folder),
    servername: cluster.text('tls-server-name'),
    insecure: cluster.flag('insecure-skip-tls-verify'),
    certificate: user.material('client-certificate', folder),
    key: user.material('client-key', folder),
    token: user.text('token'),
  }
  const tokenFile = user.text('tokenFile')
  if (read.insecure && read.authority) {
    throw cluster.fault('insecure-skip-tls-verify and certificate-authority exclude each other')
  }
  if (!read.certificate !== !read.key) {
    const [given, absent] = read.certificate
      ? ['client-certificate', 'client-key']
      : ['client-key', 'client-certificate']
    throw user.fault(`${given} needs ${absent}`)
  }
  const secret = read.token !== undefined || tokenFile !== undefined
  if (secret && read.server.startsWith('http:') && !isLoopback(new URL(read.server).hostname)) {
    throw cluster.fault('server: expected https, or everybody on the way could read the token')
  }
  return { ...read, tokenFile: tokenFile === undefined ? undefined : resolve(folder, tokenFile) }
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.[0-9.]+$/.test(hostname)
}

function readServer(cluster: Section): string {
  const text = cluster.required('server')
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw cluster.fault('server: expected a URL such as https://10.0.0.1:6443')
  }
  if (url.username !== '' || url.password !== '') {
    throw cluster.fault('server: a URL with a user name or password is not supported', instead)
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}
