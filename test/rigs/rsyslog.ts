/** A real rsyslogd, with ports of its own, that writes what it understands of each message. */
import { connect } from 'node:net'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { findProgram } from './find-program.ts'
import { startInBackground, type BackgroundProgram } from './background-program.ts'
import type { Scope } from './teardown.ts'
import type { TempFolder } from './temp-folder.ts'

/** Debian's package rsyslog-openssl, for whichever architecture. */
export const hasRsyslogTls = (): boolean => globSync('/usr/lib/*/rsyslog/lmnsd_ossl.so').length > 0

export interface RsyslogOptions {
  readonly port: number
  readonly protocol?: 'tcp' | 'tls' | 'udp'
  /** With TLS: PEM files. A client has to have a certificate that the authority has signed. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string }
}

/** A message as rsyslog has understood it. */
export interface ParsedMessage {
  readonly priority: string
  readonly host: string
  readonly program: string
  readonly process: string
  readonly kind: string
  readonly structuredData: string
  readonly text: string
}

export interface Rsyslog {
  /** File with the messages as they were sent (RFC 5424). */
  readonly file: string
  /** Lines of that file. */
  lines(): string[]
  messages(): ParsedMessage[]
  /** Starts it, and waits until it listens. */
  start(): Promise<void>
  /** It takes connections and reads nothing, until `thaw`. */
  freeze(): void
  thaw(): void
  stop(signal?: NodeJS.Signals): Promise<void>
}

const separator = '\u0001'
const properties = ['pri', 'hostname', 'app-name', 'procid', 'msgid', 'structured-data', 'msg'] as const

function configOf(folder: string, { port, protocol = 'tcp', tls }: RsyslogOptions): string {
  const input = protocol === 'udp' ? 'imudp' : 'imtcp'
  const driver = tls
    ? ' streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="x509/certvalid"'
    : ''
  const files = tls
    ? ` defaultNetstreamDriverCAFile="${tls.ca}" defaultNetstreamDriverCertFile="${tls.cert}" defaultNetstreamDriverKeyFile="${tls.key}"`
    : ''
  const parts = properties.map(name => `property(name="${name}")`).join(` constant(value="${separator}") `)
  return `global(workDirectory="${folder}"${files})
module(load="${input}"${driver})
input(type="${input}" address="127.0.0.1" port="${port}")
template(name="parts" type="list") { ${parts} constant(value="\\n") }
action(type="omfile" file="${folder}/messages" template="RSYSLOG_SyslogProtocol23Format")
action(type="omfile" file="${folder}/parts" template="parts")
`
}

const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []

/** Makes one that is not started yet, and ends with the test. */
export function makeRsyslog(t: Scope, { path }: TempFolder, options: RsyslogOptions): Rsyslog {
  const program = findProgram('rsyslogd')
  if (program === undefined) throw new Error("no rsyslogd: ask missing('rsyslog') first")
  const folder = `${path}/rsyslog`
  mkdirSync(folder)
  const config = `${folder}/rsyslog.conf`
  writeFileSync(config, configOf(folder, options))
  let running: BackgroundProgram | undefined
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    await running?.stop(signal)
    running = undefined
  }
  t.teardown(() => stop('SIGKILL'))
  return {
    file: `${folder}/messages`,
    lines: () => linesOf(`${folder}/messages`),
    messages: () =>
      linesOf(`${folder}/parts`).map(line => {
        const [priority = '', host = '', app = '', process_ = '', kind = '', structuredData = '', text = ''] =
          line.split(separator)
        return { priority, host, program: app, process: process_, kind, structuredData, text }
      }),
    start: async () => {
      running = startInBackground(program, ['-n', '-f', config, '-i', `${folder}/pid`], folder)
      await running.until('listens', () => listens(options))
    },
    freeze: () => running?.signal('SIGSTOP'),
    thaw: () => running?.signal('SIGCONT'),
    stop,
  }
}

async function listens({ port, protocol }: RsyslogOptions): Promise<boolean> {
  if (protocol === 'udp')
    return readFileSync('/proc/net/udp', 'utf8').includes(
      `:${port.toString(16).toUpperCase().padStart(4, '0')} `,
    )
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } finally {
    socket.destroy()
  }
}
