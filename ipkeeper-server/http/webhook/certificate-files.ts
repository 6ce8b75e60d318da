import { createPrivateKey, X509Certificate } from 'node:crypto'
import { statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { Problem } from '../../../shared/problem/problem.ts'
import { shellLine } from '../../../shared/text/shell-word.ts'
import { readRegularFileSync } from '../../host/regular-file.ts'
import { systemCode } from '../../../shared/system-code.ts'
import { issueCertificate, renewedBefore } from './issue-certificate.ts'

/** Texts in PEM that make a TLS server; `cert` may have those of authorities behind it. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
  /** When the certificate ends, in milliseconds since the epoch. */
  readonly validTo: number
  /** The same of the authority that has issued it here. */
  readonly authorityEnds?: number
}

export interface CertificateFilesOptions {
  readonly certFile: string
  readonly keyFile: string
  /** The files are those of an authority: it is to issue a certificate for this name. */
  readonly issueFor?: string | undefined
  /** The files were read: for the first time, or since they are others. */
  readonly onRead: (pair: KeyPair) => void
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Bytes. */
const most = 1024 * 1024

function read(path: string): string {
  try {
    return readRegularFileSync(path, { most }).toString()
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** What tells one state of a file from another: a renewal replaces it, or a symlink above it. */
function stateOf(path: string): string {
  try {
    const { ino, dev, size, mtimeMs, ctimeMs } = statSync(path)
    return [dev, ino, size, mtimeMs, ctimeMs].join()
  } catch (error) {
    throw unreadable(path, error)
  }
}

/**
 * A certificate and its key that somebody else renews, or an authority of which they are made here, and made again before they end.
 * Nothing watches the files, so an idle daemon does nothing: who is
 * about to use them looks whether they are others, which costs two system calls.
 */
export class CertificateFiles {
  readonly #options: CertificateFilesOptions
  #state = ''
  #pair: KeyPair | undefined

  constructor(options: CertificateFilesOptions) {
    this.#options = options
  }

  /** What is in force; undefined until there was something that can be used. */
  current(): KeyPair | undefined {
    try {
      this.look()
    } catch {
      // Whoever looks for the sake of it says so; what was read before stays in force.
    }
    return this.#pair
  }

  /** Reads the files where they are others. Throws IPK_WEBHOOK_CERTIFICATE while they make no certificate that is valid now. */
  look(): void {
    const { certFile, keyFile, issueFor, onRead, now } = this.#options
    const state = `${stateOf(certFile)} ${stateOf(keyFile)}`
    if (state !== this.#state || this.#isToBeRenewed()) {
      const pair =
        issueFor === undefined ? readPair(certFile, keyFile) : issuePair(certFile, keyFile, issueFor, now())
      this.#state = state
      this.#pair = pair
      onRead(pair)
    }
    const { validTo = Infinity } = this.#pair ?? {}
    if (validTo <= now())
      throw new Problem(
        'IPK_WEBHOOK_CERTIFICATE',
        `the webhook: the certificate in ${certFile} ended at ${new Date(validTo).toISOString()}`,
        { hint: `renew it; see: ${shellLine(['openssl', 'x509', '-noout', '-dates', '-in', certFile])}` },
      )
  }

  /** One of an authority that ends itself by then cannot be had for longer. */
  #isToBeRenewed(): boolean {
    const { issueFor, now } = this.#options
    const { validTo = 0, authorityEnds = Infinity } = this.#pair ?? {}
    return issueFor !== undefined && validTo - now() < renewedBefore && validTo < authorityEnds
  }
}

/** A certificate for a name, and its key, of the authority in two files. */
function issuePair(certFile: string, keyFile: string, host: string, now: number): KeyPair {
  const [cert, keyText] = [read(certFile), read(keyFile)]
  try {
    const [certificate, key] = [new X509Certificate(cert), createPrivateKey(keyText)]
    if (!certificate.ca) throw new Error('it is the certificate of no authority')
    if (!certificate.checkPrivateKey(key)) throw new Error('key values mismatch')
    const issued = issueCertificate({ certificate, key }, host, now)
    const validTo = Date.parse(new X509Certificate(issued.cert).validTo)
    return { ...issued, validTo, authorityEnds: Date.parse(certificate.validTo) }
  } catch (error) {
    throw new Problem(
      'IPK_WEBHOOK_CERTIFICATE',
      `the webhook: ${certFile} and ${keyFile} make no authority that could issue a certificate (${reasonOf(error)})`,
    )
  }
}

function readPair(certFile: string, keyFile: string): KeyPair {
  const [cert, key] = [read(certFile), read(keyFile)]
  try {
    // Says whether the two belong together, too.
    createSecureContext({ cert, key })
    return { cert, key, validTo: Date.parse(new X509Certificate(cert).validTo) }
  } catch (error) {
    throw new Problem(
      'IPK_WEBHOOK_CERTIFICATE',
      `the webhook: ${certFile} and ${keyFile} make no server certificate (${reasonOf(error)})`,
    )
  }
}

function unreadable(path: string, error: unknown): Problem {
  const why = systemCode(error)
  return new Problem('IPK_WEBHOOK_CERTIFICATE', `the webhook: ${path} cannot be read (${why})`, {
    hint: `see: ${shellLine(['ls', '-lL', path])}; docs/guides/webhook.md has the commands that make one`,
  })
}

/** OpenSSL's own word; nothing of the key. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { reason } = error as { reason?: unknown }
  return typeof reason === 'string' ? reason : error.message
}
