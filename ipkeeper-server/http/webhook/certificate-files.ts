import { X509Certificate } from 'node:crypto'
import { statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { readRegularFileSync, UnreadableFile } from '../../host/regular-file.ts'

/** Texts in PEM that make a TLS server; `cert` may have those of authorities behind it. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
  /** When the certificate ends, in milliseconds since the epoch. */
  readonly validTo: number
}

export interface CertificateFilesOptions {
  readonly certFile: string
  readonly keyFile: string
  /** The files were read: for the first time, or since they are others. */
  readonly onRead: (pair: KeyPair) => void
  /** They cannot be used; what was read before stays in force. Told once for each state of the files. */
  readonly onProblem: (reason: string) => void
}

/** Bytes. */
const most = 1024 * 1024

function read(path: string): string {
  try {
    return readRegularFileSync(path, { most }).toString()
  } catch (error) {
    throw error instanceof UnreadableFile ? Object.assign(error, { path }) : error
  }
}

/** What tells one state of a file from another: a renewal replaces it, or a symlink above it. */
function stateOf(path: string): string {
  const { ino, dev, size, mtimeMs, ctimeMs } = statSync(path)
  return [dev, ino, size, mtimeMs, ctimeMs].join()
}

/**
 * A certificate and its key that somebody else renews. Nothing watches the files, so an idle daemon does nothing: who is
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
    const { certFile, keyFile, onRead, onProblem } = this.#options
    let state = ''
    try {
      state = `${stateOf(certFile)} ${stateOf(keyFile)}`
      if (state === this.#state) return this.#pair
      const [cert, key] = [read(certFile), read(keyFile)]
      // Says whether the two belong together, too.
      createSecureContext({ cert, key })
      const pair = { cert, key, validTo: Date.parse(new X509Certificate(cert).validTo) }
      this.#state = state
      this.#pair = pair
      onRead(pair)
    } catch (error) {
      const reason = reasonOf(error)
      // Between two writes of a renewal they do not belong together; that is told only if it stays so.
      const told = `${state} ${reason}`
      if (this.#state !== told) onProblem(reason)
      this.#state = told
    }
    return this.#pair
  }
}

/** OpenSSL's own word, or the system's code with the path; nothing of the key. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { reason, code, path } = error as { reason?: unknown; code?: unknown; path?: unknown }
  if (typeof path === 'string') return `${path}: ${String(code)}`
  return typeof reason === 'string' ? reason : error.message
}
