/** What a whole cluster stands on goes whatever ends its test. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { missingForKubelets } from '../rigs/kubelet-cluster/kubelet-cluster.ts'
import { until } from '../rigs/poll.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const rig = join(import.meta.dirname, '..', 'rigs', 'kubelet-cluster', 'kubelet-cluster.ts')

t.test('a test that is killed leaves nothing that runs', { skip: missingForKubelets() }, async t => {
  const script = `
    const { startKubeletCluster } = await import(${JSON.stringify(rig)})
    await startKubeletCluster({ teardown: () => undefined }, { nodes: 1 })
    console.log('ready')
    setInterval(() => undefined, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // A folder is all that it leaves.
    env: { ...process.env, TMPDIR: tempFolder(t).path },
  })
  const [said] = (await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => ['ended']),
  ])) as unknown[]
  t.equal(String(said), 'ready\n')
  const own = new RegExp(`/ipkeeper-rig-${String(child.pid)}-`)
  /** Of the nodes by their control group, of the control plane by what they descend from. */
  const alive = (): readonly string[] =>
    globSync('/proc/[0-9]*').filter(path => {
      try {
        const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(join(path, 'status'), 'utf8'))?.[1]
        return own.test(readFileSync(join(path, 'cgroup'), 'utf8')) || parent === String(child.pid)
      } catch {
        return false
      }
    })
  const before = alive()
  t.ok(before.length > 10, 'nodes and control plane run')
  child.kill('SIGKILL')
  await once(child, 'close')
  await until('all ended', () => before.every(path => !stillRuns(path)) && alive().length === 0)
  t.pass('and end with it')
})

const stillRuns = (path: string): boolean => {
  try {
    return !/^State:\tZ/m.test(readFileSync(join(path, 'status'), 'utf8'))
  } catch {
    return false
  }
}
