/** A connection to a unix socket: as much of one as an exchange of one request needs. */
export interface Connection {
  /** Sends a text, as UTF-8; to be called when connected. */
  readonly send: (text: string) => void
  /** Closes the side that writes, and no more. */
  readonly end: () => void
  /** Closes it whole; its listener hears nothing more. May be repeated. */
  readonly close: () => void
}

/** What a connection reports, none of it before the call that opens it has returned. */
export interface ConnectionListener {
  readonly connected: () => void
  readonly received: (bytes: Buffer) => void
  /** It could not be made; `code` is the name of the errno, such as ENOENT. */
  readonly refused: (code: string) => void
  /** It was made, and has failed or been ended by the other side. */
  readonly lost: () => void
}

/** Opens a connection to the unix socket at a path. */
export type Connect = (path: string, listener: ConnectionListener) => Connection
