import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { startDaemon, type Daemon } from './daemon.ts'
import { testedPlugin } from './requirements.ts'
import { runPlugin } from './run-plugin.ts'
import { tempFolder, type TempFolder } from './temp-folder.ts'

/** A packaged daemon, pods that come and go by the packaged plugin, and a person who types. */
export interface TypedSite {
  readonly daemon: Daemon
  readonly folder: TempFolder
  /** "shop/web-0", with these annotations. */
  readonly add: (pod: string, annotations?: Readonly<Record<string, string>>) => Promise<void>
  readonly del: (pod: string) => Promise<void>
  /** What a command prints that has to succeed. */
  readonly typed: (...words: readonly string[]) => Promise<string>
}

export interface TypedSiteOptions {
  /** What the node is called; as the machine when absent. */
  readonly node?: string
  /** What its state folder has before it is started: texts by their names. */
  readonly files?: Readonly<Record<string, string>>
}

/** A daemon and a network "net" of these ranges. */
export async function typedSite(
  t: Test,
  ...given: readonly string[] | readonly [TypedSiteOptions, ...(readonly string[])]
): Promise<TypedSite> {
  const [first] = given
  const { node, files = {} } = typeof first === 'object' ? first : {}
  const subnets = given.filter(word => typeof word === 'string')
  const folder = tempFolder(t)
  const [socket, stateDir] = [folder.file('s'), folder.file('state')]
  mkdirSync(stateDir, { mode: 0o700 })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(stateDir, name), text)
  const daemon = await startDaemon({
    socket,
    stateDir,
    ...(node !== undefined && { args: ['--node', node] }),
  })
  t.teardown(() => daemon.stop())
  const ipam = { type: 'ipkeeper', ranges: subnets.map(subnet => [{ subnet }]), socket, stateDir }
  const run = async (
    command: 'ADD' | 'DEL',
    pod: string,
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> => {
    const [namespace = '', name = ''] = pod.split('/')
    const containerId = `${namespace}-${name}`
    const runtimeConfig = { 'io.kubernetes.cri.pod-annotations': annotations }
    const { exit, stdout } = await runPlugin({
      ...{ plugin: testedPlugin, command, containerId },
      config: { cniVersion: '1.0.0', name: 'net', type: 'bridge', runtimeConfig, ipam },
      ...{ netns: '/run/netns/none', ifname: 'eth0', path: '/opt/cni/bin' },
      args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name}`,
      env: { IPKEEPER_STATE_DIR: stateDir },
    })
    if (exit !== 0) throw new Error(`${command} of ${pod}: ${stdout}`)
  }
  const typed = async (...words: readonly string[]): Promise<string> => {
    const { exit, stdout, stderr } = await daemon.control(...words)
    if (exit !== 0 || stderr !== '') throw new Error(`${words.join(' ')}: exit ${exit}, ${stderr}`)
    return stdout
  }
  return {
    ...{ daemon, folder, typed },
    add: (pod, annotations) => run('ADD', pod, annotations),
    del: pod => run('DEL', pod),
  }
}
