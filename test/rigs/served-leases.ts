import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { buildApp, type AppOptions } from '../../ipkeeper-server/http/build-app.ts'
import { listenUnix } from '../../ipkeeper-server/http/listen-unix.ts'
import type { NodeFacts } from '../../ipkeeper-server/leases/verbs/invocation.ts'
import { quietParts, readingParts } from '../ipkeeper-server/http/app-parts.ts'
import { TestService } from '../ipkeeper-server/leases/test-service.ts'
import type { Scope } from './teardown.ts'
import { tempFolder } from './temp-folder.ts'

/** What a test says of an application; the rest is as `quietParts` has it. */
export interface LeaseAppWords {
  /** The leases; none, in memory, unless set. */
  readonly story?: TestService
  readonly facts?: Partial<AppOptions['facts']>
  readonly node?: Partial<NodeFacts>
  readonly parts?: Partial<AppOptions>
}

export interface LeaseApp {
  readonly story: TestService
  readonly app: FastifyInstance
  /** The lines that it has logged. */
  readonly log: readonly Readonly<Record<string, unknown>>[]
}

/** The daemon's application in this process, until the test ends. */
export async function openLeaseApp(t: Scope, words: LeaseAppWords = {}): Promise<LeaseApp> {
  const story = words.story ?? (await TestService.open())
  const log: Record<string, unknown>[] = []
  const keep = (line: string) => log.push(JSON.parse(line) as Record<string, unknown>)
  const quiet = quietParts(story.service)
  const app = await buildApp({
    ...quiet,
    ...readingParts(story.service, words.node),
    facts: { ...quiet.facts, ...words.facts },
    logger: pino({ level: 'info' }, { write: keep }),
    ...words.parts,
  })
  t.teardown(() => app.close())
  return { story, app, log }
}

/** The same on a unix socket, in a folder of its own. */
export async function serveLeases(
  t: Scope,
  words: LeaseAppWords = {},
): Promise<LeaseApp & { readonly socket: string }> {
  const socket = tempFolder(t).file('s')
  const served = await openLeaseApp(t, { ...words, facts: { socket, ...words.facts } })
  await listenUnix(served.app, socket)
  return { ...served, socket }
}
