/** What is advised works where it is read: the real daemon, plugin and tool, in a pod, in no cluster, on other paths. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startDaemon } from '../rigs/daemon.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { runProgram } from '../rigs/run-program.ts'
import { makeTempFolder } from '../rigs/temp-folder.ts'
import { typedSite } from '../rigs/typed-site.ts'

const skip = missing('executables')

/** A daemon as the DaemonSet starts it, that has ended. */
async function podThatEnded(t: Test) {
  const folder = makeTempFolder()
  const [socket, stateDir] = [folder.file('s'), folder.file('state')]
  t.teardown(() => {
    folder.remove()
  })
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', IPKEEPER_NODE: 'n1' }
  const daemon = await startDaemon({ socket, stateDir, env })
  const noted = readFileSync(join(stateDir, 'started-as.json'), 'utf8')
  await daemon.stop()
  return { socket, stateDir, noted }
}

const restart =
  'kubectl --namespace ipkeeper-system delete pod --selector app.kubernetes.io/name=ipkeeper --field-selector spec.nodeName=n1'

t.test('a daemon of a DaemonSet that is away: nobody says systemctl', { skip }, async t => {
  const { socket, stateDir, noted } = await podThatEnded(t)
  t.match(JSON.parse(noted), { service: 'pod', node: 'n1' })
  const added = await runPlugin({
    ...{ plugin: join(distFolder, 'ipkeeper'), command: 'ADD', containerId: 'c1' },
    config: {
      ...{ cniVersion: '1.0.0', name: 'net', type: 'bridge' },
      ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]], socket, stateDir, timeout: 1 },
    },
    ...{ netns: '/run/netns/none', ifname: 'eth0', path: '/opt/cni/bin' },
  })
  t.notMatch(added.stdout, /systemctl/)
  t.ok(added.stdout.includes(restart), added.stdout)
  t.ok(added.stdout.includes(`ipkeeperctl status --socket ${socket}`), added.stdout)
  const words = ['doctor', '--state-dir', stateDir, '--socket', socket]
  const { stdout } = await runProgram(join(distFolder, 'ipkeeperctl'), words)
  t.notMatch(stdout, /fix +systemctl \S+ ipkeeper\b/)
  t.ok(stdout.includes(`fix     ${restart}`), stdout)
})

t.test('a daemon on other paths: what is typed reaches it', { skip }, async t => {
  const { daemon, add } = await typedSite(t, '10.22.0.0/29')
  await add('shop/web-0')
  const refused = await daemon.control('leases', '--pool', 'nett')
  t.match(refused, { exit: 1, stderr: `see: ipkeeperctl pools --socket ${daemon.socket}\n` })
  const { body } = await daemon.ask('POST', '/v1/addresses/default/10.22.0.9/release', {})
  t.match(JSON.parse(body), { hint: `--socket ${daemon.socket}` })
})
