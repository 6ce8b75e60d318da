/** The page of the packaged daemon: off unless configured, and following what real plugins do. */
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { closeBrowser, openPage } from '../rigs/browser.ts'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { freePort } from '../rigs/free-port.ts'
import { until } from '../rigs/poll.ts'
import { distFolder, missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { mustRun, runProgram } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

t.teardown(closeBrowser)

// What else is on this machine is not to be touched.
const pools = `
reconcile: { mode: report }
resultCache: { mode: report }
conflist: { directory: /nonexistent }
runtime: { sockets: [] }
pools:
  - { name: prod, subnet: 10.30.0.0/16, exclude: [10.30.0.100-10.30.0.120] }
  - { name: lab, subnet: "fd00:30::/64" }
`

function makeSite(t: Test) {
  const folder = tempFolder(t)
  const places = { socket: folder.file('s'), stateDir: folder.file('state'), config: folder.file('c.yaml') }
  const configure = (text: string): void => {
    writeFileSync(places.config, text)
  }
  const start = async (): Promise<Daemon> => {
    const daemon = await startDaemon(places)
    t.teardown(() => daemon.stop('SIGKILL'))
    return daemon
  }
  /** The plugin itself, as the reference bridge would run it. */
  const plugin = async (
    command: 'ADD' | 'DEL',
    pod: string,
    pool: string,
    netns = '/run/netns/none',
  ): Promise<void> => {
    const { exit, stdout } = await runPlugin({
      ...{ plugin: testedPlugin, command, containerId: pod, ifname: 'eth0' },
      ...{ netns, path: '/opt/cni/bin' },
      args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod};K8S_POD_UID=uid-${pod}`,
      config: {
        ...{ cniVersion: '1.0.0', name: 'fixed', type: 'bridge' },
        ipam: { type: 'ipkeeper', socket: places.socket, stateDir: places.stateDir, pool },
      },
    })
    if (exit !== 0) throw new Error(stdout)
  }
  return { ...places, folder, configure, start, plugin }
}

/** How many TCP ports a process listens on. */
function listening(pid: number): number {
  const inodes = ['tcp', 'tcp6'].flatMap(name =>
    readFileSync(`/proc/${pid}/net/${name}`, 'utf8')
      .trim()
      .split('\n')
      .map(line => line.trim().split(/\s+/))
      .filter(fields => fields[3] === '0A')
      .map(fields => `socket:[${fields[9] ?? ''}]`),
  )
  const open = readdirSync(`/proc/${pid}/fd`).map(fd => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      return ''
    }
  })
  return open.filter(target => inodes.includes(target)).length
}

t.test('there is no page unless it is configured', { skip: missing('executables') }, async t => {
  const site = makeSite(t)
  site.configure(pools)
  const daemon = await site.start()
  t.equal(listening(daemon.pid), 0)
  t.equal(await daemon.stop(), 0)
  const port = await freePort()
  site.configure(`${pools}page: { listen: "127.0.0.1:${port}" }\n`)
  t.equal(listening((await site.start()).pid), 1)
})

t.test('an address that is not loopback is refused', { skip: missing('executables') }, async t => {
  const site = makeSite(t)
  site.configure('page: { listen: "0.0.0.0:7480" }\n')
  await t.rejects(site.start(), {
    message:
      /c\.yaml:1:17: page\.listen: "0\.0\.0\.0:7480" is not a loopback address and a port.*IPK_DAEMON_CONFIG/s,
  })
})

t.test('what plugins do is on the page at once', { skip: missing('executables', 'chromium') }, async t => {
  const site = makeSite(t)
  const port = await freePort()
  const config = `${pools}page: { listen: "127.0.0.1:${port}" }\n`
  site.configure(config)
  const daemon = await site.start()
  const { page, complaints } = await openPage(t, `http://127.0.0.1:${port}/#/prod?within=10.30.0.0%2F24`)
  const cell = (says: RegExp) => page.getByRole('gridcell', { name: says })
  await cell(/^10\.30\.0\.2: free$/).waitFor()
  t.equal(await cell(/^10\.30\.0\.1[0-2][0-9]: never given, excluded$/).count(), 21)
  await site.plugin('ADD', 'web-0', 'prod')
  await cell(/^10\.30\.0\.2: leased, to shop\/web-0/).waitFor()
  await site.plugin('DEL', 'web-0', 'prod')
  await cell(/^10\.30\.0\.2: cooling, last of shop\/web-0/).waitFor()
  await page.locator('#freeing').getByRole('link', { name: '10.30.0.2' }).click()
  await page.getByText('10.30.0.2 is cooling down until').waitFor()
  t.match(await page.locator('#address .timeline li').allTextContents(), [
    /^Ccooling shop\/web-0 on .*since/,
    /^Lleased shop\/web-0 on /,
  ])
  await site.plugin('ADD', 'lab-0', 'lab')
  const lab = page.locator('#pools tbody tr', { hasText: 'lab' })
  await lab.getByText('18,446,744,073,709,551,613').waitFor()
  await page.getByText(/^Node .* with [01] attachments\. Mode: report\.$/).waitFor()

  site.configure(`${config}  \n`.replace('pools:', 'pools:\n  - { name: new, subnet: 10.31.0.0/24 }'))
  await page.locator('#pools').getByRole('link', { name: 'new' }).waitFor()
  site.configure(config.replace(String(port), String(port + 1)))
  await until('it is refused', () => daemon.log().includes('page.listen cannot change while the daemon runs'))
  await page.locator('#pools').getByRole('link', { name: 'new' }).click()
  await page.getByRole('heading', { name: 'Map of pool new: 10.31.0.0/24' }).waitFor()
  t.strictSame(complaints, [])
  t.equal(await daemon.stop(), 0, 'a page that is open does not keep the daemon')
  await page.getByText(/^Stale: /).waitFor()
})

/** What a person puts in the place of words in capitals. */
const typedFor: readonly (readonly [word: string, typed: string])[] = [
  ['NAMESPACE/POD', 'shop/web-1'],
  ['NAMESPACE', 'shop'],
  ['FIRST-LAST', '10.30.0.40-10.30.0.42'],
  ['ADDRESS', '10.30.0.2'],
  ['OWNER', 'shop/web-1'],
]

t.test('commands on the page do what they say', { skip: missing('executables', 'chromium') }, async t => {
  const site = makeSite(t)
  const port = await freePort()
  site.configure(`${pools}page: { listen: "127.0.0.1:${port}" }\n`)
  const daemon = await site.start()
  await site.plugin('ADD', 'web-0', 'prod')
  await site.plugin('ADD', 'web-3', 'prod')
  await site.plugin('DEL', 'web-3', 'prod')
  const { page } = await openPage(t, `http://127.0.0.1:${port}/#/prod?address=10.30.0.2`)
  const commands = async (section: string): Promise<readonly string[]> => {
    await page.locator(`${section} code`).first().waitFor()
    return await page.locator(`${section} code`).allTextContents()
  }
  const onlyOf = (lines: readonly string[], command: string): string =>
    lines.find(line => line.startsWith(`ipkeeperctl ${command} `)) ?? 'false'
  const type = async (line: string, more = '') => {
    const words = typedFor.reduce((text, [word, typed]) => text.replaceAll(word, typed), line)
    return await runProgram('sh', ['-c', `${words}${more}`], {
      env: { PATH: `${distFolder}:/usr/sbin:/usr/bin:/sbin:/bin` },
    })
  }
  const ofAll = await commands('#commands')
  t.equal(ofAll.length, 7)
  for (const line of [...ofAll, ...(await commands('#address')), ...(await commands('#about'))]) {
    const asks = /ipkeeperctl (move|release|reserve) /.test(line)
    const { exit, stderr } = await type(line, asks ? ' --dry-run' : '')
    // Of a pod that is not there, and of a machine with faults of its own, the answer is 1.
    if (/ (doctor|explain) /.test(line)) t.ok(exit === 0 || exit === 1, line, { stderr })
    else t.equal(exit, 0, line, { stderr })
  }
  await page.getByRole('searchbox').fill('namespace:shop state:cooling pool:prod web')
  await page.keyboard.press('Enter')
  await page.getByText('1 address with "namespace:shop state:cooling pool:prod web"').waitFor()
  t.strictSame(await page.locator('#found th[scope=row]').allTextContents(), ['10.30.0.3'])
  await page.getByRole('searchbox').fill('namespace:shop state:cooling pool:prod')
  await page.keyboard.press('Enter')
  await page.locator('#found code').nth(2).waitFor()
  const listing = await type(onlyOf(await commands('#found'), 'leases'), ' -o name')
  t.match(listing, { exit: 0, stdout: /^10\.30\.0\.3\n$/ }, 'what was found is what the command lists')
  const address = await commands('#address')
  t.match(await type(onlyOf(address, 'doctor')), { stdout: /shop\/web-0/ })
  t.equal((await type(onlyOf(address, 'move'), ' --yes')).exit, 0)
  await page.goto(`http://127.0.0.1:${port}/#/prod?address=10.30.0.3`)
  await page.getByRole('heading', { name: 'Address 10.30.0.3' }).waitFor()
  t.equal((await type(onlyOf(await commands('#address'), 'release'))).exit, 0)
  t.equal((await type(onlyOf(ofAll, 'reserve'), ' --yes')).exit, 0)
  await page.goto(`http://127.0.0.1:${port}/#/prod?address=10.30.0.41`)
  await page.getByRole('heading', { name: 'Address 10.30.0.41' }).waitFor()
  t.equal((await type(onlyOf(await commands('#address'), 'unreserve'))).exit, 0)
  await page.locator('#address').getByText('Reserve it for a pod').waitFor()
  t.equal((await type(onlyOf(await commands('#address'), 'reserve'))).exit, 0)
  t.match(
    (await daemon.control('reservations', '-o', 'csv')).stdout,
    /10\.30\.0\.2,.*shop\/web-1[^]*10\.30\.0\.41,.*shop\/web-1/,
  )
})

t.test(
  'a sandbox that is gone is found',
  { skip: missing('executables', 'chromium', 'namespaces') },
  async t => {
    const site = makeSite(t)
    const port = await freePort()
    site.configure(`${pools}page: { listen: "127.0.0.1:${port}" }\n`)
    await site.start()
    // A namespace by a mount of its own, as runtimes make them.
    const netns = site.folder.file('netns')
    writeFileSync(netns, '')
    await mustRun('unshare', [`--net=${netns}`, 'true'])
    const unmount = (): Promise<string> => mustRun('umount', [netns])
    let mounted = true
    t.teardown(() => (mounted ? unmount() : undefined))
    await site.plugin('ADD', 'web-0', 'prod', netns)
    const { page } = await openPage(t, `http://127.0.0.1:${port}/`)
    await page.getByText(/with 1 attachments/).waitFor()
    await unmount()
    mounted = false
    await page.getByRole('button', { name: 'Look again' }).click()
    const finding = page.locator('.finding', { hasText: /shop\/web-0.*is gone/ })
    await finding.waitFor()
    t.match(
      await finding.textContent(),
      /no DEL has come for itWhy: its namespace .* is gone; .*What to do: /,
    )
  },
)
