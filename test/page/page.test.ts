/** The page in a real browser, over the daemon's own routes: what it shows, and how one goes through it. */
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { reserve } from '../../ipkeeper-server/leases/verbs/reserve.ts'
import { poolFrom } from '../ipkeeper-server/leases/test-service.ts'
import { closeBrowser, openPage } from '../rigs/browser.ts'
import { missing } from '../rigs/requirements.ts'
import { measureContrast } from './contrast.ts'
import { everyState, sampleFinding, servePage } from './served-page.ts'

const skip = missing('chromium')

t.teardown(closeBrowser)

const cell = (page: Page, says: string | RegExp) => page.getByRole('gridcell', { name: says })

const live = (page: Page) =>
  page
    .getByRole('status')
    .filter({ hasText: /^Live$/ })
    .waitFor()

/** What has the focus, by the name that is read out. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(`document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent`)

t.test('every state, and who has an address', { skip }, async t => {
  const site = await servePage(t)
  await everyState(site.story)
  const { page, complaints } = await openPage(t, site.url)
  await live(page)
  t.equal(await page.title(), 'ipkeeper on n1')
  await page.getByRole('heading', { name: 'Map of pool net: 10.22.0.0/24' }).waitFor()
  const told = [
    '10.22.0.0: never given, the network address',
    '10.22.0.1: never given, the gateway',
    /^10\.22\.0\.2: leased, to shop\/web-0, since 20.* UTC$/,
    /^10\.22\.0\.3: held, last of shop\/web-1, since /,
    /^10\.22\.0\.4: cooling, last of shop\/job, since .* until /,
    /^10\.22\.0\.5: put aside, last of shop\/web-2, /,
    '10.22.0.6: free',
    '10.22.0.9: reserved, reserved for shop/web-9 (printer)',
    '10.22.0.255: never given, the broadcast address',
  ]
  for (const says of told) t.equal(await cell(page, says).count(), 1, String(says))
  t.strictSame(
    await page
      .locator('.cell .sign')
      .allTextContents()
      .then(signs => signs.slice(0, 10).join('')),
    '××LHCA···R',
    'each state has a letter',
  )
  t.strictSame(await page.locator('.legend li').allTextContents(), [
    'Lleased 1a pod has it',
    'Hheld 1kept for its holder by retention',
    'Ccooling 1cooling down after its release',
    'Aput aside 1another machine on the network answers for it',
    'Rreserved 1reserved, but not in use',
    '·free 248not in use',
    '×never given 3excluded, or a gateway, network or broadcast address',
  ])
  t.strictSame(
    await page
      .locator('#pools tbody tr')
      .allTextContents()
      .then(rows => rows.map(row => row.replace(/in .*(?:s|min)(?=249)/, ' '))),
    ['netIPv413 249-253'],
  )
  await cell(page, /^10\.22\.0\.2: leased/).click()
  const address = page.getByRole('region', { name: 'Address 10.22.0.2' })
  await address.getByText('10.22.0.2 is bound to shop/web-0').waitFor()
  t.match(await address.locator('dl').innerText(), /Who has it\s+shop\/web-0[^]*Retention\s+30m[^]*Node\s+n1/)
  t.match(await address.locator('.timeline li').allTextContents(), [
    /^Lleased shop\/web-0 on n1, container 3f2a91c0d1e2asince .* UTC \(.*\)$/,
  ])
  t.strictSame(
    await page.locator('#freeing tbody th').allTextContents(),
    ['10.22.0.4', '10.22.0.5'],
    'what frees next comes first',
  )
  t.strictSame(complaints, [])
})

t.test('through the map with the keyboard alone', { skip }, async t => {
  const site = await servePage(t)
  site.story.pool = poolFrom('net', ['10.22.0.0/16'])
  await site.story.add({ pod: 'web-0', container: 'a1', ip: '10.22.18.34' })
  const { page, complaints } = await openPage(t, site.url)
  await cell(page, '10.22.18.0/24: 1 leased, 255 free').waitFor()
  await page.keyboard.press('Tab')
  t.equal(await focused(page), 'Skip to the map')
  await page.keyboard.press('Enter')
  // The links and buttons of the map come before its grid, which is one stop.
  for (let tabs = 0; !(await focused(page)).startsWith('10.22.0.0/24') && tabs < 8; tabs++)
    await page.keyboard.press('Tab')
  t.match(await focused(page), /^10\.22\.0\.0\/24: 254 free, 2 never given$/)
  const walk: readonly [key: string, at: RegExp][] = [
    ['End', /^10\.22\.15\.0/],
    ['ArrowRight', /^10\.22\.16\.0/],
    ['ArrowUp', /^10\.22\.0\.0/],
    ['ArrowUp', /^10\.22\.0\.0/],
    ['ArrowLeft', /^10\.22\.0\.0/],
    ['PageDown', /^10\.22\.64\.0/],
    ['Control+End', /^10\.22\.255\.0/],
    ['PageUp', /^10\.22\.191\.0/],
    ['Control+Home', /^10\.22\.0\.0/],
    ['ArrowDown', /^10\.22\.16\.0/],
    ['ArrowRight', /^10\.22\.17\.0/],
    ['ArrowRight', /^10\.22\.18\.0\/24: 1 leased/],
  ]
  for (const [key, at] of walk) {
    await page.keyboard.press(key)
    t.match(await focused(page), at, key)
  }
  t.equal(await page.locator('.cell[tabindex="0"]').count(), 1, 'the grid is one stop for Tab')
  const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
  t.equal(outline, 'solid', 'the focus is seen')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Map of pool net: 10.22.18.0/24' }).waitFor()
  await page.locator('.cell:focus[aria-label^="10.22.18.0:"]').waitFor()
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key)
  t.match(await focused(page), /^10\.22\.18\.34: leased, to shop\/web-0/)
  await page.keyboard.press('Enter')
  await page.locator('#address-heading:focus').waitFor()
  t.equal(await focused(page), 'Address 10.22.18.34')
  await page.keyboard.press('Escape')
  await page.locator('.cell:focus').waitFor()
  t.match(await focused(page), /^10\.22\.18\.34: leased/, 'back where one was')
  await page.goBack()
  await page.goBack()
  await page.getByRole('heading', { name: 'Map of pool net: 10.22.18.0/24' }).waitFor()
  t.strictSame(complaints, [])
})

t.test('what changes is shown at once, and the focus stays', { skip }, async t => {
  const site = await servePage(t)
  await everyState(site.story)
  const { page, complaints } = await openPage(t, site.url)
  await live(page)
  await cell(page, '10.22.0.6: free').focus()
  await site.story.add({ pod: 'late', container: 'e1' })
  await cell(page, /^10\.22\.0\.6: leased, to shop\/late/).waitFor()
  t.match(await focused(page), /^10\.22\.0\.6: leased/)
  t.equal(await page.locator('.legend [data-state=bound] .count').textContent(), '2')
  await page.locator('#pools').getByRole('link', { name: 'net' }).focus()
  await reserve(site.story.service, { segment: 'default', address: '10.22.0.20', owner: 'shop/x', note: '' })
  await cell(page, /^10\.22\.0\.20: reserved/).waitFor()
  await page.locator('#pools tbody td', { hasText: /^4$/ }).waitFor()
  t.equal(await focused(page), 'net', 'also where a table was made anew')
  t.equal(await page.getByText('nothing found').count(), 1)
  site.find({ ...sampleFinding, severity: 'note', says: 'a note' }, sampleFinding)
  await page.locator('.finding').first().waitFor()
  t.match(await page.locator('.finding').allTextContents(), [
    /^the sandbox 3f2a91c0d1e2 of shop\/web-9 is dead.*Why: its network namespace is gone; is not certain enough/,
    /^a note/,
  ])
  t.strictSame(await page.locator('#findings h3').allTextContents(), [
    'warning: lease without sandbox (1)',
    'note: lease without sandbox (1)',
  ])
  t.strictSame(complaints, [])
})

t.test('a daemon that goes is told, and one that comes back is followed', { skip }, async t => {
  const site = await servePage(t)
  await everyState(site.story)
  const { page } = await openPage(t, site.url)
  await live(page)
  await cell(page, '10.22.0.6: free').waitFor()
  await site.stop()
  await page.getByText(/^Stale: no answer from the daemon since .* UTC/).waitFor()
  t.equal(await cell(page, '10.22.0.6: free').count(), 1, 'what was seen stays')
  await site.story.add({ pod: 'late', container: 'e1' })
  await site.restart()
  await cell(page, /^10\.22\.0\.6: leased/).waitFor()
  await live(page)
})

t.test('a /64 shows what is used, and counts to the last digit', { skip }, async t => {
  const site = await servePage(t)
  site.story.pool = poolFrom('net', ['10.22.0.0/24'], ['fd00:22::/64'])
  await site.story.add({ pod: 'web-0', container: 'a1' })
  await reserve(site.story.service, {
    segment: 'default',
    address: 'fd00:22::dead:beef',
    owner: 'shop/x',
    note: '',
  })
  const { page, complaints } = await openPage(t, site.url)
  await page.getByRole('navigation').getByRole('link', { name: 'fd00:22::/64' }).click()
  const table = page.getByRole('table', { name: 'Blocks of fd00:22::/64 in which something is' })
  await table.waitFor()
  t.equal(await page.getByRole('grid').count(), 0)
  t.strictSame(await table.locator('tbody tr').allTextContents(), [
    'fd00:22::/12010000253',
    'fd00:22::dead:be00/12000001255',
  ])
  t.equal(await page.locator('.legend [data-state=free] .count').textContent(), '18,446,744,073,709,551,612')
  await table.getByRole('link', { name: 'fd00:22::dead:be00/120' }).click()
  await cell(page, 'fd00:22::dead:beef: reserved, reserved for shop/x').click()
  await page.getByRole('heading', { name: 'Address fd00:22::dead:beef' }).waitFor()
  t.strictSame(complaints, [])
})

t.test('finds an address in whichever pool it is, and tells what is none', { skip }, async t => {
  const site = await servePage(t)
  site.story.pool = poolFrom('early', ['10.21.0.0/28'])
  await site.story.add({ pod: 'x', container: 'x1' })
  site.story.pool = poolFrom('net', ['10.22.0.0/16'])
  await site.story.add({ pod: 'web-0', container: 'a1', ip: '10.22.18.34' })
  const { page } = await openPage(t, site.url)
  await page.getByRole('heading', { name: 'Map of pool early: 10.21.0.0/28' }).waitFor()
  const find = async (text: string): Promise<void> => {
    await page.getByRole('searchbox', { name: 'Address, pod' }).fill(text)
    await page.keyboard.press('Enter')
  }
  await find('10.22.18.34')
  await page.getByRole('heading', { name: 'Map of pool net: 10.22.18.0/24' }).waitFor()
  await page.getByRole('heading', { name: 'Address 10.22.18.34' }).waitFor()
  await find('10.21.0.2')
  await page.getByRole('heading', { name: 'Map of pool early: 10.21.0.0/28' }).waitFor()
  await find('10.99.0.1')
  await page.getByText('10.99.0.1 is in no pool known so far in segment default').waitFor()
  await find('<b>')
  await page.getByText('No address, pod, namespace or owner has "<b>" in it').waitFor()
  await find('10.22.18.34/16')
  await page.getByRole('heading', { name: 'Address 10.22.18.34' }).waitFor()
})

t.test('older parts of the history are read when they are wanted', { skip }, async t => {
  const site = await servePage(t)
  for (let index = 0; index < 15; index++) {
    await site.story.add({ pod: 'a', container: `c${index}`, ip: '10.22.0.50' })
    await site.story.del(`c${index}`)
  }
  const { page } = await openPage(t, `${site.url}#/net?address=10.22.0.50`)
  const rows = page.locator('#address .timeline li')
  await page.getByRole('button', { name: 'Older' }).click()
  await rows.nth(29).waitFor()
  t.equal(await rows.count(), 30)
  t.equal(await page.getByRole('button', { name: 'Older' }).count(), 0)
})

t.test('names from outside are text, whatever is in them', { skip }, async t => {
  const site = await servePage(t)
  const bad = '<img src=x onerror=alert(1)>"\'&\u202e</td>'
  site.story.pool = poolFrom(`${bad}/..?#%`, ['10.22.0.0/24'])
  await site.story.add({ pod: bad, namespace: bad, container: bad, ip: '10.22.0.7' })
  await reserve(site.story.service, { segment: 'default', address: '10.22.0.8', owner: 'shop/x', note: bad })
  const { page, complaints } = await openPage(t, site.url)
  await live(page)
  site.find({ ...sampleFinding, says: bad, why: bad, remedy: bad })
  await page.locator('.finding').waitFor()
  await cell(page, /^10\.22\.0\.7: leased/).click()
  await page.locator('#address dl').waitFor()
  const shown = bad.replace('\u202e', '?')
  t.match(await page.locator('#address dl').innerText(), `${shown}/${shown}`)
  t.equal(await page.locator('#pools tbody th').textContent(), `${shown}/..?#%`)
  const timeline = await page.locator('#address .timeline').innerText()
  t.match(timeline, `leased ${shown}/${shown} on n1, container`)
  await page.getByRole('searchbox').fill('onerror')
  await page.keyboard.press('Enter')
  await page.locator('#found tbody tr').nth(1).waitFor()
  t.match(await page.locator('#found').innerText(), `${shown}/${shown}`)
  t.match(await page.locator('#found').innerText(), `shop/x (${shown})`)
  await page.locator('#use').getByText('not known yet').waitFor()
  t.equal(await page.locator('img').count(), 0)
  t.strictSame(complaints, [])
})

async function readable(t: Test, page: Page, what: string): Promise<void> {
  const pairs = await measureContrast(page)
  t.ok(pairs.length > 300, `${what}: ${pairs.length} texts`)
  t.strictSame(
    pairs.filter(({ ratio }) => ratio < 4.5),
    [],
    `${what}: every text has a contrast of 4.5 at least`,
  )
}

t.test('light and dark are as easy to read', { skip }, async t => {
  const site = await servePage(t)
  await everyState(site.story)
  site.find(sampleFinding, { ...sampleFinding, severity: 'error' })
  const backgrounds: unknown[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await openPage(t, `${site.url}#/net?address=10.22.0.2`, { colorScheme })
    await live(page)
    await page.locator('.finding.error').waitFor()
    await page.locator('#address dl').waitFor()
    await cell(page, /^10\.22\.0\.9: reserved/).waitFor()
    await readable(t, page, colorScheme)
    backgrounds.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
  }
  t.strictSame(backgrounds, ['rgb(246, 247, 249)', 'rgb(18, 22, 26)'])
  // The shades of blocks, from empty to full.
  site.story.pool = poolFrom('big', ['10.30.0.0/16'])
  for (const [block, count] of [1, 70, 130, 250].entries())
    for (let index = 1; index <= count; index++)
      await site.story.add({
        pod: `p${block}-${index}`,
        container: `p${block}-${index}`,
        ip: `10.30.${block + 1}.${index}`,
      })
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await openPage(t, `${site.url}#/big`, { colorScheme })
    await cell(page, /^10\.30\.4\.0\/24: 250 leased/).waitFor()
    const cells = (await page.locator('.cell').all()).slice(0, 5)
    const classes = await Promise.all(cells.map(place => place.getAttribute('class')))
    t.strictSame(
      classes,
      [0, 1, 2, 3, 4].map(level => `cell block level-${level}`),
    )
    await readable(t, page, `${colorScheme}, blocks`)
  }
})

t.test('at 200 % and on a small screen nothing is lost at the sides', { skip }, async t => {
  const site = await servePage(t)
  await everyState(site.story)
  // A window of 1280 x 800 at 200 %, and the width that WCAG 1.4.10 asks for.
  for (const width of [640, 320]) {
    const { page } = await openPage(t, `${site.url}#/net?address=10.22.0.2`, {
      viewport: { width, height: 400 },
    })
    await page.locator('#address dl').waitFor()
    await cell(page, /^10\.22\.0\.2: leased/).waitFor()
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${width} pixels`)
    await cell(page, '10.22.0.15: free').focus()
    t.ok(await cell(page, '10.22.0.15: free').isVisible(), 'the map scrolls by itself')
  }
})

t.test('structure for those who hear it', { skip }, async t => {
  const site = await servePage(t)
  await everyState(site.story)
  const { page } = await openPage(t, `${site.url}#/net?address=10.22.0.2`)
  await live(page)
  await page.locator('#address dl').waitFor()
  await cell(page, '10.22.0.6: free').waitFor()
  const tree = await page.locator('body').ariaSnapshot()
  for (const part of [
    /- link "Skip to the map"/,
    /- banner:\n +- heading "ipkeeper" \[level=1\]/,
    /- main:/,
    /- region "Pools":\n +- heading "Pools" \[level=2\]/,
    /- search "Find addresses":/,
    /- searchbox "Address, pod, namespace, owner, node or state"/,
    /- table "Pools":/,
    /- navigation "Blocks of the pool":/,
    /- list "States, and how many addresses of this block have them":/,
    /- button "Map" \[pressed\]/,
    /- grid "Addresses of 10\.22\.0\.0\/24":/,
    /gridcell "10\.22\.0\.2: leased, [^"]*" \[selected\]/,
    /- region "Address 10\.22\.0\.2":/,
    /- list "History, newest first":\n +- listitem:/,
    /- region "Use over time":/,
    /- region "About pool net":/,
    /- region "What frees next":/,
    /- region "Findings of the audit":/,
    /- region "Commands":/,
  ])
    t.match(tree, part, String(part))
  await page.getByRole('button', { name: 'Table' }).click()
  const table = page.getByRole('table', { name: 'Addresses of 10.22.0.0/24 that are not free' })
  t.equal(await focused(page), 'Table', 'the button that was pressed keeps the focus')
  t.match(await table.locator('tbody tr').allTextContents(), [
    /^10\.22\.0\.0never given: the network address$/,
    /^10\.22\.0\.1never given: the gateway$/,
    /^10\.22\.0\.2leasedshop\/web-0/,
    /^10\.22\.0\.3heldshop\/web-1/,
    /^10\.22\.0\.4coolingshop\/job/,
    /^10\.22\.0\.5put asideshop\/web-2/,
    /^10\.22\.0\.9reservedshop\/web-9 \(printer\)/,
    /^10\.22\.0\.255never given: the broadcast address$/,
  ])
  await table.getByRole('link', { name: '10.22.0.3' }).click()
  await page.getByRole('heading', { name: 'Address 10.22.0.3' }).waitFor()
})
