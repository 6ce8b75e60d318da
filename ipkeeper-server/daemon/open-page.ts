import { version } from '../../shared/build-info.ts'
import type { DaemonConfig } from '../config/load-config.ts'
import type { Ledger } from '../leases/ledger/ledger.ts'
import type { DaemonFrame } from './daemon-frame.ts'
import { openListener } from './open-listener.ts'
import type { PageFiles } from '../http/page/page-files.ts'
import type { AskApi } from '../http/page/page-listener.ts'

export interface OpenPage {
  /** From now on it shows what the daemon serves. */
  readonly serve: (parts: PageSource) => void
  /** What is wrong with the node has changed. */
  readonly found: () => void
  readonly close: () => Promise<void>
}

export interface PageSource {
  readonly ledger: Ledger
  /** A GET of the API, as on the socket. */
  readonly ask: AskApi
  /** In place of those that the build has put in. */
  readonly files?: PageFiles
}

const none: OpenPage = { serve: () => undefined, found: () => undefined, close: () => Promise.resolve() }

/**
 * Puts the page together and listens, once the address can be had. Without
 * `page.listen` nothing of it is loaded.
 */
export async function openPage(
  { node, page: { listen } }: Pick<DaemonConfig, 'node' | 'page'>,
  startedAt: number,
  { logger, parts, place }: Pick<DaemonFrame, 'logger' | 'parts' | 'place'>,
): Promise<OpenPage> {
  if (!listen) return none
  const [{ PageListener }, { EventStream }, { embeddedPage }, { SpareAudits }] = await Promise.all([
    import('../http/page/page-listener.ts'),
    import('../http/page/event-stream.ts'),
    import('../http/page/page-files.ts'),
    import('../http/page/spare-audits.ts'),
  ])
  const events = new EventStream({
    hello: { node, version, startedAt: new Date(startedAt).toISOString(), place: place.here },
  })
  const listener = new PageListener()
  const close = await openListener(parts, 'page', listener, listen)
  let audits: InstanceType<typeof SpareAudits> | undefined
  return {
    serve: ({ ledger, ask, files = embeddedPage }) => {
      ledger.subscribe({
        changed: ({ kind, record }) => {
          if (kind === 'lease') events.changed(record.pool)
          else if (kind === 'pool') events.changed(record.name)
          else if (kind === 'reservation') events.changed(undefined)
        },
      })
      audits = new SpareAudits(ask)
      listener.serve({
        ...{ files, events, ask: audits.ask },
        onError: error => {
          logger.warn({ err: error }, 'the page could not be served')
        },
      })
    },
    found: () => {
      audits?.forget()
      events.found()
    },
    close,
  }
}
