/** `ipkeeperctl try` gives plugins what cnitool gives them, key by key. */
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { annotationsCapability, makeCallerSite } from '../rigs/caller-site.ts'
import { callersFolder } from '../rigs/callers.ts'
import { makeNetworkNamespace } from '../rigs/netns.ts'
import { distFolder, missing } from '../rigs/requirements.ts'

const skip = missing('go', 'callers', 'namespaces', 'executables')

interface Call {
  readonly env: Readonly<Record<string, string>>
  readonly stdin: Readonly<Record<string, unknown>>
}

/** What differs from one pod to the next, in one spelling. */
function level(text: string, pod: Readonly<Record<string, string>>): string {
  let levelled = text
  for (const [word, value] of Object.entries(pod)) levelled = levelled.replaceAll(value, word)
  return levelled.replaceAll(/veth[0-9a-f]+/g, 'VETH').replaceAll(/([0-9a-f]{2}:){5}[0-9a-f]{2}/g, 'MAC')
}

for (const cniVersion of ['0.3.1', '0.4.0', '1.0.0', '1.1.0']) {
  t.test(`calls of a list of ${cniVersion}`, { skip }, async t => {
    const site = await makeCallerSite(t)
    const { folder, host } = site
    for (const name of ['plugins', 'calls', 'lists']) mkdirSync(folder.file(name))
    // Writes down what it was given, and hands on what was there, with a route more and a key that nobody knows.
    const recorder = `#!/bin/sh
n=$(ls ${folder.file('calls')} | wc -l)
cat >${folder.file('calls')}/$n.stdin
env | grep ^CNI_ >${folder.file('calls')}/$n.env
[ "$CNI_COMMAND" = ADD ] || exit 0
echo '{"cniVersion":"${cniVersion}","interfaces":[{"name":"lo"},{"Name":"eth0","mac":"02:00:00:00:00:01","mtu":1400,"sandbox":"'$CNI_NETNS'"}],
"ips":[{"version":"4","address":"10.9.0.2/24","gateway":"10.9.0.1","interface":1},{"version":"6","address":"fd00:0:0::2/64"}],
"routes":[{"dst":"0.0.0.0/0","gw":"","mtu":1300},{"dst":"::/0","priority":5}],"dns":{"nameservers":[],"search":["a"]},"odd":1}'
`
    for (const name of ['one', 'two']) {
      writeFileSync(folder.file('plugins', name), recorder)
      chmodSync(folder.file('plugins', name), 0o755)
    }
    const capabilities = { ips: true, [annotationsCapability]: true, mac: false }
    const list = {
      ...{ cniVersion, name: 'fixed' },
      plugins: [
        { type: 'one', cniVersion: '0.2.0', name: 'other', capabilities, number: 1.0, text: '<&>' },
        { type: 'two', runtimeConfig: { own: 1 } },
      ],
    }
    const path = folder.file('lists', '10-fixed.conflist')
    writeFileSync(path, JSON.stringify(list))
    const calls = (pod: Readonly<Record<string, string>>): readonly Call[] => {
      const files = readdirSync(folder.file('calls'))
      const read = (name: string): string => level(readFileSync(folder.file('calls', name), 'utf8'), pod)
      return files
        .filter(name => name.endsWith('.stdin'))
        .map(name => Number.parseInt(name))
        .sort((a, b) => a - b)
        .map(number => {
          const lines = read(`${number}.env`).trim().split('\n').sort()
          return {
            env: Object.fromEntries(lines.map(line => line.split(/=(.*)/s).slice(0, 2) as [string, string])),
            stdin: JSON.parse(read(`${number}.stdin`)) as Call['stdin'],
          }
        })
    }

    const tried = await host.run(join(distFolder, 'ipkeeperctl'), [
      ...['try', path, '--bin-dir', folder.file('plugins'), '--state-dir', folder.file('notes')],
      ...['--annotation', 'a.b/c=d', '--ip', '10.9.0.2', '--no-ping', '-o', 'json'],
    ])
    const report = JSON.parse(tried.stdout) as {
      readonly namespace: string
      readonly containerId: string
      readonly steps: readonly { readonly env: Readonly<Record<string, string>> }[]
    }
    const mine = calls({ NETNS: report.namespace, CONTAINER: report.containerId })
    await host.must('sh', ['-c', `rm ${folder.file('calls')}/*`])

    const namespace = await makeNetworkNamespace(host)
    const env = {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      CNI_PATH: folder.file('plugins'),
      NETCONFPATH: folder.file('lists'),
      CNI_ARGS: report.steps[0]?.env['CNI_ARGS'] ?? '',
      CAP_ARGS: JSON.stringify({ [annotationsCapability]: { 'a.b/c': 'd' }, ips: ['10.9.0.2'], mac: 'x' }),
    }
    const cnitool = async (verb: string): Promise<void> => {
      const words = [verb, 'fixed', namespace.path]
      const { exit, stderr } = await host.run(join(callersFolder, 'cnitool'), words, { env })
      if (cniVersion !== '0.3.1' || verb !== 'check') t.equal(exit, 0, stderr)
    }
    for (const verb of ['add', 'check', 'del']) await cnitool(verb)
    const [any] = readdirSync(folder.file('calls')).filter(name => name.endsWith('.env'))
    const id = /CNI_CONTAINERID=(.*)/.exec(readFileSync(folder.file('calls', any ?? ''), 'utf8'))?.[1] ?? ''
    const theirs = calls({ NETNS: namespace.path, CONTAINER: id, ...{ POD: report.containerId } })
    // Its CNI_ARGS name our container, since we gave them.
    const levelled = JSON.parse(JSON.stringify(theirs).replaceAll('POD', 'CONTAINER')) as unknown
    const wanted = JSON.parse(JSON.stringify(mine).replaceAll('POD', 'CONTAINER')) as unknown
    t.equal(mine.length, cniVersion === '0.3.1' ? 4 : 6)
    t.strictSame(wanted, levelled)
  })
}
