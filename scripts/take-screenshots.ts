/**
 * Takes the pictures of docs/guides/page.md: the page in light and dark, over a ledger of made-up pods. Needs Chromium.
 *
 *   node scripts/take-screenshots.ts
 */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { closeBrowser, openPage } from '../test/rigs/browser.ts'
import { missing } from '../test/rigs/requirements.ts'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'docs', 'images')

const reason = missing('chromium')
if (reason !== false) throw new Error(reason)

// As the build stamps it: what is run from source has no version.
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
Object.assign(globalThis, { IPKEEPER_VERSION: version })
const { everyState, sampleFinding, servePage } = await import('../test/page/served-page.ts')
const { poolFrom } = await import('../test/ipkeeper-server/leases/test-service.ts')

const ends: (() => unknown)[] = []
const owner = {
  teardown: (end: () => unknown): void => {
    ends.push(end)
  },
}

const site = await servePage(owner, 'worker-1')
const { story } = site
await everyState(story)
for (let index = 0; index < 60; index++)
  await story.add({ pod: `web-${index + 10}`, container: `container-${index}`, ip: `10.22.0.${16 + index}` })
for (let index = 0; index < 60; index += 7) await story.del(`container-${index}`)
story.pool = poolFrom('prod', ['10.30.0.0/16'], ['fd00:30::/64'])
// By a rule, so that the picture is the same at every run: some blocks full, most of them not.
for (let block = 0; block < 48; block++)
  for (let index = 1; index <= (block * block * 7) % 250; index++)
    await story.add({
      ...{ pod: `api-${block}-${index}`, container: `api-${block}-${index}`, namespace: 'team-a' },
      ip: `10.30.${(block * 11) % 256}.${index}`,
    })
site.find(sampleFinding)
const hour = 3_600_000
site.remember(
  ...Array.from({ length: 200 }, (_, index) => ({
    at: story.now - (200 - index) * hour,
    used: Math.round(2040 + index * 15 + 60 * Math.sin(index / 4)),
    held: 3,
  })),
)

const net = '#/net?within=10.22.0.0%2F24&address=10.22.0.2'
const pictures = [
  { name: 'page-map-light', route: net, height: 1010, colorScheme: 'light' },
  { name: 'page-map-dark', route: net, height: 1010, colorScheme: 'dark' },
  { name: 'page-blocks', route: '#/prod?within=10.30.0.0%2F16', height: 1010, colorScheme: 'light' },
  { name: 'page-use', route: '#/prod?within=10.30.0.0%2F16', height: 1010, colorScheme: 'light', of: '#use' },
  {
    name: 'page-ipv6',
    route: '#/prod?within=fd00%3A30%3A%3A%2F64&address=fd00%3A30%3A%3A2',
    height: 800,
    colorScheme: 'dark',
  },
] as const

await mkdir(folder, { recursive: true })
try {
  for (const { name, route, height, colorScheme, ...part } of pictures) {
    const viewport = { width: 1440, height }
    const { page } = await openPage(owner, `${site.url}${route}`, { colorScheme, viewport })
    await page
      .getByRole('status')
      .filter({ hasText: /^Live$/ })
      .waitFor()
    await page.locator('#map .legend').waitFor()
    await page.locator('#findings li').first().waitFor()
    if (route.includes('address=')) await page.locator('#address dl').waitFor()
    const path = join(folder, `${name}.png`)
    await page.locator('#use .use').first().waitFor()
    await ('of' in part ? page.locator(part.of).screenshot({ path }) : page.screenshot({ path }))
    console.log(path)
  }
} finally {
  await closeBrowser()
  for (const end of ends.reverse()) await end()
}
