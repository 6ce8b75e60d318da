/** The webhook of deploy/webhook/webhook.yaml, at a real API server, pointed at a daemon of a test. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { ApiObject } from './cluster-client.ts'
import type { Cluster } from './cluster.ts'
import { mustRun } from './run-program.ts'
import type { ServerCertificate } from './server-certificate.ts'
import type { TempFolder } from './temp-folder.ts'

const root = join(import.meta.dirname, '..', '..')
const manifest = join(root, 'deploy', 'webhook', 'webhook.yaml')
const page = join(root, 'docs', 'guides', 'webhook.md')

/** The objects of deploy/webhook/webhook.yaml. */
export function webhookObjects(): readonly ApiObject[] {
  return parseAllDocuments(readFileSync(manifest, 'utf8')).map(document => document.toJS() as ApiObject)
}

export interface WebhookSite {
  readonly address: string
  /** `webhook` of a daemon's configuration. */
  readonly config: { readonly listen: string; readonly certFile: string; readonly keyFile: string }
  /** Puts a certificate and its key in the place of those that are there, as whoever renews them does. */
  install(certificate: ServerCertificate): void
}

/** An address of its own for one webhook, and files for its certificate, of which there are none yet. */
export function webhookSite(folder: TempFolder): WebhookSite {
  const address = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`
  const [certFile, keyFile] = [folder.file('tls.crt'), folder.file('tls.key')]
  const replace = (path: string, text: string): void => {
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
  return {
    address,
    config: { listen: `${address}:9443`, certFile, keyFile },
    install: ({ cert, key }) => {
      replace(keyFile, key)
      replace(certFile, cert)
    },
  }
}

/** The certificate that the commands of docs/guides/webhook.md make, for that address; and the caBundle that they print. */
export async function certificateOfPage(
  folder: TempFolder,
  { address }: WebhookSite,
): Promise<ServerCertificate & { readonly caBundle: string }> {
  const [, typed = ''] = /```sh\n([\s\S]*?)```/.exec(readFileSync(page, 'utf8')) ?? []
  const at = folder.file('page')
  const script = typed.replaceAll('/etc/ipkeeper/webhook', at).replace(/^( *name=)\S+/, `$1IP:${address}`)
  const caBundle = await mustRun('sh', ['-euc', script])
  const [cert, key] = ['tls.crt', 'tls.key'].map(name => readFileSync(join(at, name), 'utf8')) as [
    string,
    string,
  ]
  return { cert, key, caBundle }
}

const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'

/** Registers the webhook, or has its authority replaced: the API server then connects anew. */
export async function registerWebhook(
  cluster: Cluster,
  { address }: WebhookSite,
  authority: string,
): Promise<void> {
  const configuration = webhookObjects().find(({ kind }) => kind === 'ValidatingWebhookConfiguration')
  const name = configuration?.['metadata'].name as string
  const caBundle = Buffer.from(authority).toString('base64')
  const clientConfig = { url: `https://${address}:9443/validate`, caBundle }
  const webhooks = (configuration?.['webhooks'] as ApiObject[]).map(webhook => ({ ...webhook, clientConfig }))
  const there = await cluster.request('GET', `${path}/${name}`).catch(() => undefined)
  if (there) await cluster.request('PATCH', `${path}/${name}`, { webhooks })
  else await cluster.create({ ...configuration, webhooks })
}
