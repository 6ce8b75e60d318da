/**
 * What nerdctl does, as far as the pages on installing use it, for machines that do not have it: the container by containerd,
 * its network by the same library, with the same arguments in the same order.
 *
 *   node test/rigs/nerdctl-double.ts run -d --name NAME --net NETWORK --ip ADDRESS IMAGE | rm -f NAME
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { callersFolder } from './callers.ts'

const names = '/var/lib/nerdctl/names'

function run(program: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${stderr}${stdout}`)
  return stdout
}

const ctr = (...words: readonly string[]): string => run('ctr', ['--namespace', 'default', ...words])

/** Where it looks for plugins: cni_path of its file. */
function pluginFolder(): string {
  const text = readFileSync('/etc/nerdctl/nerdctl.toml', 'utf8')
  return /^cni_path = "(.*)"$/m.exec(text)?.[1] ?? '/opt/cni/bin'
}

function callNetwork(method: 'Setup' | 'Remove', id: string, netns: string, ip: string): void {
  const request = {
    ...{ method, pluginDirs: [pluginFolder()], confDir: '/etc/cni/net.d', id: `default-${id}`, netns },
    labels: { IgnoreUnknown: '1', IP: ip, NERDCTL_CNI_DHCP_HOSTNAME: id.slice(0, 12) },
  }
  const { error } = JSON.parse(run(join(callersFolder, 'go-cni'), [], JSON.stringify(request))) as {
    error?: string
  }
  if (error !== undefined) throw new Error(`failed to call cni.${method}: ${error}`)
}

function remove(name: string): void {
  const path = join(names, name)
  const [id = '', ip = ''] = readFileSync(path, 'utf8').split(' ')
  spawnSync('ctr', ['--namespace', 'default', 'task', 'kill', '--signal', 'SIGKILL', id])
  callNetwork('Remove', id, '', ip)
  spawnSync('ctr', ['--namespace', 'default', 'task', 'delete', '--force', id])
  ctr('container', 'delete', id)
  rmSync(path)
}

const [command, ...words] = process.argv.slice(2)
const valueOf = (option: string): string => words[words.indexOf(option) + 1] ?? ''
try {
  if (command === 'run') {
    const id = randomBytes(32).toString('hex')
    const ip = valueOf('--ip')
    mkdirSync(names, { recursive: true })
    writeFileSync(join(names, valueOf('--name')), `${id} ${ip}`)
    ctr('run', '--detach', words.at(-1) ?? '', id)
    const pid = new RegExp(`^${id} +(\\d+)`, 'm').exec(ctr('task', 'list'))?.[1] ?? ''
    callNetwork('Remove', id, '', ip)
    callNetwork('Setup', id, `/proc/${pid}/ns/net`, ip)
    console.log(id)
  } else if (command === 'rm') {
    remove(words.at(-1) ?? '')
    console.log(words.at(-1))
  } else throw new Error(`this stand-in for nerdctl knows no ${String(command)}`)
} catch (error) {
  console.error(`FATA[0000] ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
