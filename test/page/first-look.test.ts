/** What a person sees first: nothing red while it loads, a friendly empty node, the whole page on a telephone. */
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { applyPools } from '../../ipkeeper-server/leases/verbs/apply-pools.ts'
import { reserve } from '../../ipkeeper-server/leases/verbs/reserve.ts'
import { poolFrom } from '../ipkeeper-server/leases/test-service.ts'
import { closeBrowser, openPage } from '../rigs/browser.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { everyState, sampleFinding, servePage } from './served-page.ts'

const skip = missing('chromium')

t.teardown(closeBrowser)

const live = (page: Page) =>
  page
    .getByRole('status')
    .filter({ hasText: /^Live$/ })
    .waitFor()

/** Texts that are seen in the colour of errors. */
const redTexts = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`(() => {
    const probe = document.body.appendChild(document.createElement('i'))
    probe.style.color = 'var(--bad)'
    const bad = getComputedStyle(probe).color
    probe.remove()
    return [...document.querySelectorAll('body *')]
      .filter(place => place.checkVisibility() && getComputedStyle(place).color === bad)
      .map(place => place.textContent)
  })()`)

/** What sticks out of the window at the sides, whatever scrolls; but for what is there to be heard alone. */
const stickingOut = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`[...document.querySelectorAll('main *')]
    .filter(place => place.checkVisibility() && !place.closest('.unseen, thead, .whole'))
    .filter(place => {
      const { left, right } = place.getBoundingClientRect()
      return left < 0 || right > document.documentElement.clientWidth
    })
    .map(place => place.outerHTML.slice(0, 120))`)

t.test('nothing is red while it loads', { skip }, async t => {
  const site = await servePage(t)
  await everyState(site.story)
  const { page, complaints } = await openPage(t, `${site.url}icon.svg`)
  const answer = Promise.withResolvers<undefined>()
  await page.route('**/v1/pools', async route => {
    await answer.promise
    await route.continue()
  })
  await page.goto(site.url)
  await live(page)
  await page.getByText(/nothing found/).waitFor()
  t.strictSame(await redTexts(page), [])
  t.equal(await page.getByRole('alert').count(), 0)
  t.match(await page.locator('#pools .body').innerText(), 'Loading')
  t.match(await page.locator('#map .body').innerText(), 'Loading')
  answer.resolve(undefined)
  await page.getByRole('heading', { name: 'Map of pool net: 10.22.0.0/24' }).waitFor()
  t.equal(await page.getByText('Loading').count(), 0)
  t.strictSame(await redTexts(page), [])
  t.strictSame(complaints, [])
})

t.test('an empty node says what comes next', { skip }, async t => {
  const site = await servePage(t)
  const { page, complaints } = await openPage(t, site.url)
  await live(page)
  const pools = page.getByRole('region', { name: 'Pools', exact: true })
  await pools.getByText('There is no pool on this node yet').waitFor()
  t.match(await pools.locator('code').allTextContents(), ['ipkeeperctl doctor', 'ipkeeperctl pools'])
  await page.getByText('The map of a pool comes here').waitFor()
  await page.getByText(/nothing found/).waitFor()
  t.strictSame(await redTexts(page), [])
  t.equal(await page.getByRole('alert').count(), 0)
  t.equal(await page.getByText('Loading').count(), 0)
  site.story.pool = poolFrom('net', ['10.22.0.0/24'])
  await site.story.add({ pod: 'web-0', container: 'a1' })
  await page.getByRole('heading', { name: 'Map of pool net: 10.22.0.0/24' }).waitFor()
  t.equal(await pools.getByText('There is no pool').count(), 0)
  t.strictSame(complaints, [])
})

t.test('a pool that is emptied', { skip }, async t => {
  const site = await servePage(t)
  const { story } = site
  await story.add({ pod: 'web-0', container: 'a1' })
  const { page, complaints } = await openPage(t, site.url)
  await live(page)
  const note = page.locator('#pools .note')
  await page.getByRole('heading', { name: 'Map of pool net: 10.22.0.0/24' }).waitFor()
  t.equal(await note.count(), 0)
  const { standard } = story.book
  const rangeSets = story.pool.rangeSets.map(set => set.map(range => ({ ...range, draining: true as const })))
  const pool = { ...story.pool, rangeSets }
  await applyPools(story.service, [{ pool, rules: {}, policy: standard, network: {} }], () => undefined)
  await page.reload()
  await note.waitFor()
  t.match(
    await note.innerText(),
    'net is draining: 1 left, and no new pod gets an address from it. ipkeeperctl leases --pool net',
  )
  t.strictSame(complaints, [])
})

async function fits(t: Test, page: Page, what: string): Promise<void> {
  t.strictSame(await stickingOut(page), [], `${what}: nothing sticks out at the sides`)
}

t.test('the whole page on a telephone', { skip }, async t => {
  const site = await servePage(t)
  await everyState(site.story)
  site.story.pool = poolFrom('dual', ['10.30.0.0/16'], ['fd00:30::/64'])
  await site.story.add({ pod: 'w'.repeat(63), namespace: 'n'.repeat(63), container: 'f'.repeat(64) })
  site.find(sampleFinding)
  for (const width of [375, 320]) {
    const { page } = await openPage(t, `${site.url}#/net?address=10.22.0.2`, {
      viewport: { width, height: 667 },
    })
    await page.locator('#address dl').waitFor()
    await page.locator('.finding').waitFor()
    await page.locator('#about dl').waitFor()
    t.equal(await page.getByRole('gridcell').count(), 256)
    await fits(t, page, `${width}, addresses`)
    for (const column of ['Family', 'Leased', 'Kept', 'Next frees', 'Free', 'Full', 'Size'])
      t.ok(
        await page.locator('#pools tbody tr').first().locator(`[data-label="${column}"]`).isVisible(),
        `${width}: ${column}`,
      )
    await page.getByRole('button', { name: 'Table', exact: true }).click()
    await fits(t, page, `${width}, table`)
    for (const [route, heading] of [
      ['#/dual?address=10.30.0.2&within=10.30.0.0%2F16', '10.30.0.0/16'],
      ['#/dual?within=fd00%3A30%3A%3A%2F64', 'fd00:30::/64'],
    ] as const) {
      await page.goto(`${site.url}${route}`)
      await page.getByRole('heading', { name: `Map of pool dual: ${heading}` }).waitFor()
      await page.locator('#map .legend').waitFor()
      await page.getByRole('region', { name: 'About pool dual' }).waitFor()
      if (route.includes('address='))
        await page.locator('#address code', { hasText: `doctor --pod ${'n'.repeat(63)}/` }).waitFor()
      await fits(t, page, `${width}, ${heading}`)
    }
  }
})

const search = async (page: Page, text: string): Promise<void> => {
  await page.getByRole('searchbox').fill(text)
  await page.keyboard.press('Enter')
}

/** The cells of each row that was found; absent while another search is under way. */
const found = (page: Page) => page.locator('#found tbody tr')

t.test('finds a pod, a namespace, an owner', { skip }, async t => {
  const site = await servePage(t)
  const { story } = site
  const owner = { kind: 'StatefulSet', name: 'front', apiVersion: 'apps/v1', uid: 'u1', controller: true }
  await story.add({ pod: 'web-0', namespace: 'shop', container: 'ab'.repeat(32), owner })
  await story.add({ pod: 'web-1', namespace: 'shop', container: 'cd'.repeat(32), owner })
  await story.add({ pod: 'agent', namespace: 'ops', container: 'ef'.repeat(32), owner: null })
  const printer = { segment: 'default', owner: 'external:printer-3', note: 'third floor' }
  await reserve(story.service, { ...printer, address: '10.22.0.200' })
  const { page, complaints } = await openPage(t, site.url)
  await live(page)
  const table: readonly [text: string, addresses: readonly string[]][] = [
    ['web-1', ['10.22.0.3']],
    ['SHOP', ['10.22.0.2', '10.22.0.3']],
    ['shop/web', ['10.22.0.2', '10.22.0.3']],
    ['front', ['10.22.0.2', '10.22.0.3']],
    ['StatefulSet shop/front', ['10.22.0.2', '10.22.0.3']],
    ['Printer', ['10.22.0.200']],
    ['third floor', ['10.22.0.200']],
    ['cdcdcd', ['10.22.0.3']],
    ['0.4', ['10.22.0.4']],
    ['N1', ['10.22.0.2', '10.22.0.3', '10.22.0.4']],
    ['leased', ['10.22.0.2', '10.22.0.3', '10.22.0.4']],
    ['reserved', ['10.22.0.200']],
  ]
  for (const [text, addresses] of table) {
    await search(page, text)
    const count = `${addresses.length} ${addresses.length === 1 ? 'address' : 'addresses'}`
    await page.getByText(`${count} with "${text}"`, { exact: true }).waitFor()
    t.strictSame(await found(page).locator('th').allTextContents(), addresses, text)
  }
  await search(page, 'web-0')
  await found(page).waitFor()
  t.match(await found(page).allInnerTexts(), [
    /10\.22\.0\.2\s+leased\s+shop\/web-0\s+StatefulSet shop\/front/,
  ])
  await found(page).getByRole('link', { name: '10.22.0.2' }).click()
  await page.getByRole('heading', { name: 'Address 10.22.0.2' }).waitFor()
  await search(page, 'nobody-has-this')
  await page.getByText('No address, pod, namespace or owner has "nobody-has-this" in it').waitFor()
  t.equal(await found(page).count(), 0)
  await search(page, 'web')
  await found(page).first().waitFor()
  await page.getByRole('searchbox').fill('')
  t.equal(await found(page).count(), 0, 'an empty field shows nothing')
  t.strictSame(complaints, [])
})

t.test('finds by several things together', { skip }, async t => {
  const site = await servePage(t)
  await site.story.add({ pod: 'web-0', namespace: 'shop', container: 'a1' })
  await site.story.add({ pod: 'web-1', namespace: 'shop', container: 'a2', retain: '30m' })
  await site.story.add({ pod: 'web-2', namespace: 'ops', container: 'a3', retain: '30m' })
  await site.story.del('a2')
  await site.story.del('a3')
  for (const width of [1280, 375]) {
    const { page, complaints } = await openPage(t, site.url, { viewport: { width, height: 667 } })
    await live(page)
    for (const [text, addresses] of [
      ['namespace:shop', ['10.22.0.2', '10.22.0.3']],
      ['namespace:shop state:held', ['10.22.0.3']],
      ['state:held pool:net web', ['10.22.0.3', '10.22.0.4']],
      ['held web', ['10.22.0.3', '10.22.0.4']],
      ['state:leased node:n1 owner:db', []],
    ] as const) {
      await search(page, text)
      await page.locator('#find-says', { hasText: `"${text}"` }).waitFor()
      t.strictSame(await found(page).locator('th').allTextContents(), addresses, text)
    }
    await page.getByText('No address fits all of "state:leased node:n1 owner:db".').waitFor()
    await search(page, 'state:free')
    await page.getByText('there is no state "free" here').waitFor()
    // By keyboard alone: from the field over "Find" to the names of the filters.
    const field = page.getByRole('searchbox')
    await field.fill('')
    await field.focus()
    for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key)
    await page.keyboard.type('shop')
    t.equal(await field.inputValue(), 'namespace:shop')
    await page.getByRole('button', { name: 'state:', exact: true }).focus()
    await page.keyboard.press('Space')
    await page.keyboard.type('held')
    await page.keyboard.press('Enter')
    await page.getByText('1 address with "namespace:shop state:held"').waitFor()
    t.match(await page.locator('#found code').allTextContents(), [
      'ipkeeperctl doctor --pod shop/web-1',
      'ipkeeperctl explain shop/web-1',
      'ipkeeperctl leases --namespace shop --state held',
    ])
    await fits(t, page, `${width}: what was found`)
    t.strictSame(complaints, [])
    await search(page, 'pool:nett')
    await page.getByText('there is no pool nett; did you mean net?').waitFor()
  }
})

t.test('the ID of a container is short, and whole when it is wanted', { skip }, async t => {
  const site = await servePage(t)
  const id = 'a1b2c3d4e5f6'.repeat(6).slice(0, 64)
  await site.story.add({ pod: 'web-0', container: id })
  const { page } = await openPage(t, `${site.url}#/net?address=10.22.0.2`)
  const place = page.locator('#address dl .id')
  await place.waitFor()
  t.equal((await place.innerText()).split('\n')[0], 'a1b2c3d4e5f6a…')
  // Asked until it is so: the part may just be shown anew.
  const untilWide = (condition: string) =>
    page.waitForFunction(
      `document.querySelector('#address dl .whole')?.getBoundingClientRect().width ${condition}`,
    )
  await untilWide('=== 1')
  await place.focus()
  await untilWide('> 100')
  await page.locator('h1').click()
  await untilWide('=== 1')
  await place.hover()
  await untilWide('> 100')
  t.match(await page.locator('#address dl').ariaSnapshot(), id, 'who hears the page hears all of it')
})

t.test('findings of one kind stand together', { skip }, async t => {
  const site = await servePage(t)
  const { page } = await openPage(t, site.url)
  await live(page)
  const many = Array.from({ length: 12 }, (_, index) => ({ ...sampleFinding, says: `sandbox ${index}` }))
  const foreign = { ...sampleFinding, kind: 'foreign-link', severity: 'note', says: 'a veth' } as const
  site.find(foreign, ...many)
  const findings = page.locator('#findings')
  await findings.getByRole('heading', { name: 'warning: lease without sandbox (12)' }).waitFor()
  t.strictSame(await findings.locator('h3').allTextContents(), [
    'warning: lease without sandbox (12)',
    'note: foreign link (1)',
  ])
  t.equal(await findings.getByText('sandbox 11').isVisible(), false)
  await findings.getByText('9 more').focus()
  await page.keyboard.press('Enter')
  await findings.getByText('sandbox 11').waitFor()
  site.find(...many)
  await page.getByRole('button', { name: 'Look again' }).click()
  await findings.getByText('12 found').waitFor()
  t.ok(await findings.getByText('sandbox 11').isVisible(), 'what was opened stays open')
})

const day = 86_400_000

t.test('use over time, and the day it is full', { skip }, async t => {
  const site = await servePage(t)
  const { story } = site
  story.pool = poolFrom('net', ['10.22.0.0/28'], ['fd00:22::/64'])
  site.remember(...[3, 2, 1].map(ago => ({ at: story.now - ago * day, used: 3 - ago, held: 0 })))
  for (const pod of ['a', 'b', 'c']) await story.add({ pod, container: pod })
  const { page, complaints } = await openPage(t, site.url)
  const full = new Date(story.now + 10 * day).toISOString().slice(0, 10)
  const use = page.getByRole('region', { name: 'Use over time' })
  const four = use.getByRole('group', { name: 'IPv4, 13 addresses' })
  await four.getByText(`Full on ${full}`).waitFor()
  t.match(await four.locator('.forecast').first().textContent(), /it grew by 1 address a day in the last 3d/)
  const chart = four.getByRole('img')
  t.match(await chart.getAttribute('aria-label'), /Taken: 0 at .* UTC, 3 at .* UTC\. Full on /)
  const box = await chart.boundingBox()
  t.ok((box?.width ?? 0) > 300 && (box?.height ?? 0) > 100, 'it is drawn')
  await four.getByText('In figures').click()
  t.strictSame(
    await four.locator('tbody tr').evaluateAll(rows => rows.map(row => row.children[1]?.textContent)),
    ['3', '2', '1', '0'],
    'the newest first',
  )
  const six = use.getByRole('group', { name: 'IPv6, 18,446,744,073,709,551,614 addresses' })
  await six.getByText('not known yet: 1 sample').waitFor()
  t.equal(await six.getByRole('img').count(), 0, 'there is no line through one point')
  t.strictSame(await redTexts(page), [])
  t.strictSame(complaints, [])
})

t.test('history as a timeline, with the time when nobody had it', { skip }, async t => {
  const site = await servePage(t)
  const { story } = site
  story.now -= 3 * 3_600_000
  await story.add({ pod: 'web-0', container: 'a1', ip: '10.22.0.50', retain: 'release' })
  await story.del('a1')
  story.now += 2 * 3_600_000
  await story.add({ pod: 'web-1', container: 'b1', ip: '10.22.0.50' })
  const { page } = await openPage(t, `${site.url}#/net?address=10.22.0.50`)
  const items = page.getByRole('list', { name: 'History, newest first' }).getByRole('listitem')
  await items.first().waitFor()
  t.match(await items.allTextContents(), [
    /^Lleased shop\/web-1 on n1, container b1since .* \(1 h ago\)$/,
    /^·free.* UTC, 1 h 50 min$/,
    /^Ccooling shop\/web-0 on n1.* UTC, 10 minEnded: time over$/,
    /^Lleased shop\/web-0 on n1, container a1.*Ended: deleted$/,
  ])
})

t.test('what a pool is, and its next free addresses', { skip }, async t => {
  const site = await servePage(t)
  const { story } = site
  await everyState(story)
  const { page, complaints } = await openPage(t, site.url)
  const about = page.getByRole('region', { name: 'About pool net' })
  await about.getByText('253 of 254 addresses can be assigned').waitFor()
  await about.getByText('not 10.22.0.1: the gateway').waitFor()
  await about.getByText('none: every pod may use it').waitFor()
  t.strictSame(await about.getByRole('link').allTextContents(), [
    ...['10.22.0.6', '10.22.0.7', '10.22.0.8', '10.22.0.10', '10.22.0.11'],
    ...['10.22.0.12', '10.22.0.13', '10.22.0.14', '10.22.0.15', '10.22.0.16'],
  ])
  t.strictSame(await about.locator('code').allTextContents(), ['ipkeeperctl pools net --free 100'])
  await story.add({ pod: 'late', container: 'e1' })
  await about.getByRole('link', { name: '10.22.0.17' }).waitFor()
  t.equal(await about.getByRole('link', { name: '10.22.0.6', exact: true }).count(), 0, 'it follows')
  await about.getByRole('link', { name: '10.22.0.8' }).click()
  const address = page.getByRole('region', { name: 'Address 10.22.0.8' })
  await address.locator('code').waitFor()
  t.strictSame(await address.locator('code').allTextContents(), [
    'ipkeeperctl reserve 10.22.0.8 NAMESPACE/POD',
  ])
  t.strictSame(complaints, [])
})

t.test('what the page does not do is a command', { skip }, async t => {
  const site = await servePage(t)
  await everyState(site.story)
  const { page, complaints } = await openPage(t, `${site.url}#/net?address=10.22.0.3`)
  const address = page.getByRole('region', { name: 'Address 10.22.0.3' })
  await address.locator('code').first().waitFor()
  t.strictSame(await address.locator('code').allTextContents(), [
    'ipkeeperctl doctor --pod shop/web-1',
    'ipkeeperctl explain shop/web-1',
    'ipkeeperctl release 10.22.0.3',
    'ipkeeperctl move 10.22.0.3 NAMESPACE/POD',
  ])
  t.match(await page.getByRole('region', { name: 'Commands' }).locator('li').allTextContents(), [
    /^Why a pod is not running: ipkeeperctl doctor --pod /,
    /after its annotations changed: ipkeeperctl explain /,
    /^Which annotations of other products .*: ipkeeperctl doctor$/,
    /^All leases for a spreadsheet: ipkeeperctl leases -o csv$/,
    /^Move .*: ipkeeperctl move ADDRESS NAMESPACE\/POD$/,
    /^Reserve .*: ipkeeperctl reserve FIRST-LAST OWNER$/,
    /^Free all .*: ipkeeperctl release -n NAMESPACE$/,
  ])
  await search(page, 'shop/never-0')
  await page.locator('#found code').first().waitFor()
  t.strictSame(
    await page.locator('#found code').allTextContents(),
    ['ipkeeperctl doctor --pod shop/never-0', 'ipkeeperctl explain shop/never-0'],
    'a pod that has no address',
  )
  t.strictSame(complaints, [])
})

t.test('nothing turns red while nobody answers, and what was seen stays', { skip }, async t => {
  const site = await servePage(t)
  await everyState(site.story)
  const { page } = await openPage(t, site.url)
  await live(page)
  const cell = (says: RegExp) => page.getByRole('gridcell', { name: says })
  await cell(/^10\.22\.0\.6: free$/).waitFor()
  await page.getByText(/nothing found/).waitFor()
  let asked = 0
  await page.route('**/v1/pools**', route => {
    asked++
    return route.abort()
  })
  await site.story.add({ pod: 'late', container: 'e1' })
  await until('the page has asked in vain', () => asked > 1)
  t.equal(await cell(/^10\.22\.0\.6: free$/).count(), 1)
  t.strictSame(await redTexts(page), [])
  await page.unroute('**/v1/pools**')
  await cell(/^10\.22\.0\.6: leased/).waitFor()
})
