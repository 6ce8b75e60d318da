import type { ApiAccess, ApiSecrets } from './api-access.ts'
import { FreshFile } from '../host/fresh-file.ts'
import { parseKubeconfig, type KubeconfigContext, type Material } from './kubeconfig.ts'
import { checkTls, type TlsMaterial } from '../host/tls-material.ts'

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
