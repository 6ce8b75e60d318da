import { Problem } from '../../shared/problem/problem.ts'
import { systemCode } from '../../shared/system-code.ts'
import { readRegularFile } from '../host/regular-file.ts'
import { checkTls, type TlsMaterial } from '../host/tls-material.ts'
import { openDatagrams } from './datagram-delivery.ts'
import type { Delivery, DeliveryTerms } from './delivery.ts'
import { formatReceiver, type Receiver, type SyslogTerms } from './plan/receiver.ts'
import { openStream } from './stream-delivery.ts'

/** Bytes of a file with certificates. */
const sizeLimit = 1024 * 1024

const materialOf = { caFile: 'ca', certFile: 'cert', keyFile: 'key' } as const

/** What the codes of systems and of TLS mean for who has to do something. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'it reset the connection, so it may not have read all',
  EPIPE: 'it reset the connection, so it may not have read all',
  ETIMEDOUT: 'it cannot be reached in time',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ENOTFOUND: 'there is no such name',
  EAI_AGAIN: 'its name cannot be looked up now',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by nobody whom "caFile" names',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by nobody whom "caFile" names',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by nobody whom "caFile" names',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by nobody whom "caFile" names',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  CERT_HAS_EXPIRED: 'its certificate has expired',
}

/** IPK_HISTORY_EXPORT, whatever went wrong on the way to a receiver. */
export function deliveryProblem(receiver: Receiver, error: unknown): Problem {
  if (error instanceof Problem) return error
  const code = systemCode(error)
  const why = reasons[code] ?? (error instanceof Error ? error.message : code)
  return new Problem('IPK_HISTORY_EXPORT', `${formatReceiver(receiver)}: ${why}`, { cause: error })
}

/** Reads the files anew for each connection, so that a certificate can be renewed. Throws IPK_HISTORY_EXPORT. */
async function readTls(terms: SyslogTerms): Promise<TlsMaterial> {
  const material: { ca?: string; cert?: string; key?: string } = {}
  for (const [key, part] of Object.entries(materialOf)) {
    const path = terms[key as keyof typeof materialOf]
    if (path === undefined) continue
    try {
      material[part] = (await readRegularFile(path, { most: sizeLimit })).toString()
    } catch (error) {
      throw new Problem(
        'IPK_HISTORY_EXPORT',
        `history.export.${key}: ${path} cannot be read (${systemCode(error)})`,
      )
    }
  }
  checkTls(material, 'history.export', 'IPK_HISTORY_EXPORT')
  return material
}

/** A way to the receiver. Rejects with what `deliveryProblem` explains. */
export async function openDelivery(syslog: SyslogTerms, terms: DeliveryTerms): Promise<Delivery> {
  const { receiver } = syslog
  if (receiver.protocol === 'udp') return await openDatagrams(receiver, terms)
  return await openStream(receiver, receiver.protocol === 'tls' ? await readTls(syslog) : undefined, terms)
}
