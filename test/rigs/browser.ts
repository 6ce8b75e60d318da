import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { findProgram } from './find-program.ts'
import type { Scope } from './teardown.ts'

let browser: Promise<Browser> | undefined

/** Debian's Chromium without a window; one for all tests of a file. */
async function launch(): Promise<Browser> {
  const executablePath = findProgram('chromium')
  if (executablePath === undefined) throw new Error('there is no chromium')
  return await chromium.launch({
    executablePath,
    // It is root who tests; without a GPU and with little shared memory, as in containers.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
}

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close()
  browser = undefined
}

export interface OpenedPage {
  readonly page: Page
  /** What the page complained of in its console, violations of its Content-Security-Policy among it; uncaught errors. */
  readonly complaints: readonly string[]
}

/** A page of its own context, closed at the end of the test; nothing but the given address can be reached from it. */
export async function openPage(
  owner: Scope,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  browser ??= launch()
  const context = await (await browser).newContext({ reducedMotion: 'reduce', ...options })
  owner.teardown(() => context.close())
  const { origin } = new URL(url)
  const complaints: string[] = []
  await context.route(
    ({ origin: asked }) => asked !== origin,
    route => {
      complaints.push(`asked for ${route.request().url()}`)
      return route.abort()
    },
  )
  const page = await context.newPage()
  // A page asks again after ten times as long as an answer took, and on a busy machine that is more than a second.
  page.setDefaultTimeout(60_000)
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', message => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('dialog', dialog => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(url)
  return { page, complaints }
}
