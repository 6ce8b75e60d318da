import type { AddressReply, HistoryReply, TenureItem } from '../../../../shared/api/address.schema.ts'
import type { AuditReply } from '../../../../shared/api/audit.schema.ts'
import type { PoolItem, PoolsReply } from '../../../../shared/api/listing.schema.ts'
import type { PoolUseReply } from '../../../../shared/api/pool-use.schema.ts'
import type { PoolDescription } from '../../../../shared/api/pool-description.schema.ts'
import type { FreeingReply, PoolMapReply } from '../../../../shared/api/map.schema.ts'
import { remedyHere, type Place } from '../../../../shared/remedy/place.ts'
import { poolNotes } from '../../../../shared/text/pool-notes.ts'
import { showAbout } from './about-section.ts'
import { aboutView, freeListed } from './about-view.ts'
import { showAddress } from './address-section.ts'
import { addressView, timelineItems } from './address-view.ts'
import { apiPath, ask, daemonNow, ApiRefusal, Unanswered } from './api.ts'
import { commandList } from './command-section.ts'
import { commandsOfAddress, commandsOfAll } from './command-view.ts'
import { element, existing, replace, setAttribute, setText } from './element.ts'
import { showFindings } from './finding-section.ts'
import { findingsView } from './finding-view.ts'
import { showFreeing } from './freeing-section.ts'
import { freeingView } from './freeing-view.ts'
import { freshnessOf } from './freshness.ts'
import { LiveEvents } from './live-events.ts'
import { MapSection } from './map-section.ts'
import { mapView } from './map-view.ts'
import { showPools } from './pool-section.ts'
import { poolRows, poolTotals } from './pool-view.ts'
import { Refresher } from './refresher.ts'
import { formatRoute, parseRoute, type Route } from './route.ts'
import { SearchBox } from './search-box.ts'
import { distanceText } from './time-text.ts'
import { showUse } from './use-section.ts'
import { useViews } from './use-view.ts'

/** Tenures of a page of the history. */
const pageOfHistory = 20
/** Milliseconds until the use of pools over time is asked for again: after a change, and without one. */
const useAfterChange = 60_000
const useAnyway = 600_000

let route: Route = parseRoute(location.hash) ?? {}
/** Where commands are typed, as the daemon tells. */
let place: Place = {}
/** A command as it works there. */
const here = (command: string): string => remedyHere(command, place)
/** undefined until the daemon has told them: a node without pools is something else. */
let pools: readonly PoolItem[] | undefined
let use: PoolUseReply['use'] | undefined
/** Moment of performance.now(). */
let useAskedAt = -Infinity
/** The block that is shown. */
let block: string | undefined
/** Of the address that is shown: pages of the history before the newest one, and whether the last one was full. */
let older: readonly TenureItem[] = []
let mayBeOlder = true
/** What gets the focus when it is next shown, because a person asked for it. */
let awaited: 'map' | 'address' | undefined
let startedAt: string | undefined

const addressPlace = { heading: existing('#address h2'), body: existing('#address .body') }
const map = new MapSection(existing('#map'), next => {
  awaited = next.address === undefined ? 'map' : 'address'
  go(next)
})

const poolInView = (): PoolItem | undefined =>
  pools?.find(({ name }) => name === route.pool) ?? (route.pool === undefined ? pools?.[0] : undefined)

const poolName = (): string | undefined => route.pool ?? poolInView()?.name

/**
 * Shows what was asked for, or why it cannot be shown; resolves to whether it could. Where nobody answers, what was seen stays:
 * the line at the top says so, and it is asked for again.
 */
async function attempt(place: HTMLElement, work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (error instanceof Unanswered) return false
    const text = error instanceof ApiRefusal ? error.message : `the page itself failed: ${String(error)}`
    replace(place, element('p', { role: 'alert' }, text))
    return false
  }
}

const poolsRefresher = new Refresher(() =>
  attempt(existing('#pools .body'), async () => {
    const before = poolInView()?.name
    pools = (await ask<PoolsReply>('/v1/pools')).pools
    showPoolList()
    if (poolInView()?.name !== before || pools.length === 0) wakePool('now')
  }),
)

function showPoolList(): void {
  if (pools) {
    const rows = poolRows(pools, poolInView()?.name)
    showPools(existing('#pools .body'), { rows, totals: poolTotals(pools), notes: poolNotes(pools), here })
  }
  showUseOfPool()
}

const mapRefresher = new Refresher(() =>
  attempt(existing('#map .body'), async () => {
    const pool = poolName()
    if (pool === undefined) {
      if (pools) map.say('The map of a pool comes here.', 'empty')
      return
    }
    const { within, address } = route
    const part = within === undefined ? { ...(address !== undefined && { around: address }) } : { within }
    const query = `?${new URLSearchParams(part).toString()}`
    const reply = await ask<PoolMapReply>(`/v1/pools${apiPath(pool)}/map${query}`).catch((error: unknown) => {
      if (error instanceof ApiRefusal && !(error instanceof Unanswered)) map.say(error.message, 'refused')
      throw error
    })
    if (route.within !== within || (within === undefined && route.address !== address)) return
    block = reply.within
    map.show(mapView(reply), route.address)
    if (awaited === 'map') {
      awaited = undefined
      map.focus()
    }
  }),
)

const freeingRefresher = new Refresher(() =>
  attempt(existing('#freeing .body'), async () => {
    const pool = poolName()
    if (pool === undefined) {
      if (pools) replace(existing('#freeing .body'), element('p', {}, 'Nothing is leased or kept yet.'))
      return
    }
    const reply = await ask<FreeingReply>(`/v1/pools${apiPath(pool)}/freeing`)
    showFreeing(existing('#freeing .body'), freeingView(pool, reply))
  }),
)

const aboutRefresher = new Refresher(() =>
  attempt(existing('#about .body'), async () => {
    const pool = poolName()
    if (pool === undefined) {
      const nothing = 'The ranges, rules and free addresses of a pool come here.'
      if (pools) replace(existing('#about .body'), element('p', {}, nothing))
      return
    }
    const description = await ask<PoolDescription>(`/v1/pools${apiPath(pool)}/description?free=${freeListed}`)
    setText(existing('#about h2'), `About pool ${pool}`)
    showAbout(existing('#about .body'), aboutView(description), here)
  }),
)

const useRefresher = new Refresher(() =>
  attempt(existing('#use .body'), async () => {
    useAskedAt = performance.now()
    use = (await ask<PoolUseReply>('/v1/pools/use')).use
    showUseOfPool()
  }),
)

function showUseOfPool(): void {
  if (use && pools) showUse(existing('#use .body'), useViews(use, poolName() ?? ''))
}

const addressRefresher = new Refresher(() =>
  attempt(addressPlace.body, async () => {
    const { address } = route
    if (address === undefined) {
      setText(addressPlace.heading, 'Address')
      replace(
        addressPlace.body,
        element('p', {}, 'Choose an address on the map to see who has it, and who had it.'),
      )
      return
    }
    const segment = poolInView()?.segment ?? 'default'
    const query = new URLSearchParams({ address, segment, limit: String(pageOfHistory) }).toString()
    const [reply, { history }] = await Promise.all([
      ask<AddressReply>(`/v1/addresses${apiPath(segment, address)}`),
      ask<HistoryReply>(`/v1/history?${query}`),
    ])
    if (route.address !== address) return
    const newest = new Set(history.map(({ id }) => id))
    const tenures = [...history, ...older.filter(({ id }) => !newest.has(id))]
    const more = older.length === 0 ? history.length === pageOfHistory : mayBeOlder
    showAddress(
      addressPlace,
      {
        ...{ view: addressView(reply), timeline: timelineItems(tenures), more },
        commands: commandList(commandsOfAddress(reply), here),
      },
      { onOlder: () => void readOlder(tenures.at(-1)), onClose: closeAddress },
    )
    if (awaited === 'address') {
      awaited = undefined
      addressPlace.heading.focus()
    }
  }),
)

const auditRefresher = new Refresher(() =>
  attempt(existing('#findings .body'), async () => {
    showFindings(existing('#findings .body'), findingsView(await ask<AuditReply>('/v1/audit')))
  }),
)

async function readOlder(oldest: TenureItem | undefined): Promise<void> {
  if (!oldest) return
  const { segment, address, id } = oldest
  const query = new URLSearchParams({ address, segment, limit: String(pageOfHistory), before: String(id) })
  await attempt(addressPlace.body, async () => {
    const { history } = await ask<HistoryReply>(`/v1/history?${query.toString()}`)
    if (route.address !== address) return
    older = [...older, ...history]
    mayBeOlder = history.length === pageOfHistory
    addressRefresher.wake('now')
  })
}

function closeAddress(): void {
  const { address } = route
  go(block === undefined ? {} : { within: block })
  map.focus(address)
}

function wakePool(when: 'soon' | 'now'): void {
  mapRefresher.wake(when)
  aboutRefresher.wake(when)
  freeingRefresher.wake(when)
  addressRefresher.wake(when)
  const isKnown = use?.some(({ name }) => name === poolName())
  if (isKnown !== true || performance.now() - useAskedAt > useAfterChange) useRefresher.wake(when)
}

function go(next: Route): void {
  const pool = next.pool ?? poolName()
  location.hash = formatRoute({ ...next, ...(pool !== undefined && { pool }) })
}

function follow(): void {
  const next = parseRoute(location.hash)
  if (!next) return
  if (next.address !== route.address || next.pool !== route.pool) {
    older = []
    mayBeOlder = true
  }
  route = next
  showPoolList()
  wakePool('now')
}

addEventListener('hashchange', follow)

document.addEventListener('click', ({ target }) => {
  const link = target instanceof Element ? target.closest('a[href^="#/"]') : null
  const leads = parseRoute(link?.getAttribute('href') ?? '')
  if (link && leads) awaited = leads.address === undefined ? 'map' : 'address'
})

existing('#address').addEventListener('keydown', ({ key }) => {
  if (key === 'Escape' && route.address !== undefined) closeAddress()
})

existing('#look-again').addEventListener('click', () => {
  auditRefresher.wake('now')
})

new SearchBox({
  segment: () => poolInView()?.segment ?? 'default',
  onAddress: found => {
    awaited = 'address'
    go(found)
  },
  here,
})

const events = new LiveEvents({
  onHello: hello => {
    setText(existing('#node'), `node ${hello.node}, ipkeeper ${hello.version}`)
    document.title = `ipkeeper on ${hello.node}`
    place = hello.place ?? {}
    replace(existing('#commands .body'), commandList(commandsOfAll, here))
    poolsRefresher.wake('now')
    wakePool('now')
    if (hello.startedAt !== startedAt) auditRefresher.wake('now')
    startedAt = hello.startedAt
  },
  onChange: ({ pools: changed }) => {
    poolsRefresher.wake()
    const shown = poolName()
    if (changed === null || (shown !== undefined && changed.includes(shown))) wakePool('soon')
  },
  onFindings: () => {
    auditRefresher.wake()
  },
})

const clockTime = (moment: number): string =>
  new Date(Date.now() - (performance.now() - moment)).toISOString().slice(11, 19) + ' UTC'

/** Once a second: how long ago, and how long yet; whether the daemon is still heard; what has come free by itself. */
function tick(): void {
  const { state, text } = freshnessOf(events.contact, performance.now(), clockTime)
  setText(existing('#live'), text)
  setAttribute(document.body, 'data-live', state)
  const now = daemonNow()
  for (const place of document.querySelectorAll('time[data-distance]'))
    setText(place, distanceText(place.getAttribute('datetime') ?? '', now))
  const due = [...document.querySelectorAll('#freeing time')].some(
    place => Date.parse(place.getAttribute('datetime') ?? '') <= now,
  )
  if (due && state === 'live') wakePool('soon')
  if (state === 'live' && performance.now() - useAskedAt > useAnyway) useRefresher.wake()
}

new MutationObserver(tick).observe(existing('main'), { childList: true, subtree: true })
setInterval(tick, 1_000)
tick()
