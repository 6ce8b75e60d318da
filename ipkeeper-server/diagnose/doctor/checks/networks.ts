import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Check, fail, ok, skip, warn } from '../check-result.ts'
import { loaderOf } from '../elf-loader.ts'
import { describeFinding, lintNetworks, oursIn, programsOf } from '../networks.ts'
import type { Linted } from '../../lint/lint.ts'
import { brokenFileFirst } from '../../lint/rules/file-choice.ts'
import { isExecutable } from '../../../host/find-program.ts'
import { runProgram } from '../../../host/run-program.ts'
import type { LintFinding } from '../../../../shared/api/lint.schema.ts'
import { field, isJsonObject, type JsonObject } from '../../../../shared/json/fold.ts'
import { Problem } from '../../../../shared/problem/problem.ts'

/** That a broken file stops containerd is what the check is about; where it is broken tells more. */
const causesFirst = (a: LintFinding, b: LintFinding): number =>
  Number(a.rule === brokenFileFirst.id) - Number(b.rule === brokenFileFirst.id)

export const conflistCheck: Check = {
  id: 'conflist',
  title: 'the network configurations can be read',
  why: 'containerd loads the first file of the folder: if it is broken, whichever program wrote it, the node has no network, and pods cannot be deleted either.',
  run: async node => {
    const list = ['ls', '-la', node.confDir]
    let linted: Linted
    try {
      linted = await lintNetworks(node)
    } catch (error) {
      if (error instanceof Problem) return fail(error.message, ...list)
      throw error
    }
    for (const [severity, outcome] of [
      ['error', fail],
      ['warning', warn],
    ] as const) {
      const [first, ...more] = linted.findings
        .filter(finding => finding.severity === severity)
        .toSorted(causesFirst)
      if (!first) continue
      const others = more.length === 0 ? '' : ` (and ${more.length} more)`
      return outcome(`${describeFinding(first)}${others}`, 'ipkeeperctl', 'lint', first.file)
    }
    const chosen = linted.files.find(file => file.chosen === true)
    if (!chosen) return fail(`${node.confDir} has no network configuration`, ...list)
    const ours = node.networks.filter(network => oursIn(network))
    const [first] = ours
    if (!first) return warn(`nothing in ${node.confDir} uses ipkeeper`, 'ipkeeperctl', 'lint', node.confDir)
    if (ours.every(({ path }) => path !== chosen.file))
      return warn(
        `${chosen.file} comes before ${first.path}: containerd loads that one`,
        ...['ipkeeperctl', 'lint', node.confDir],
      )
    return ok(`${chosen.file} (network ${chosen.network ?? '-'})`)
  },
}

const annotations = 'io.kubernetes.cri.pod-annotations'
/** By which a pod can ask for an address without Kubernetes; one of them shows that somebody thought of it. */
const channels = [annotations, 'ips', 'mac', 'ipRanges'] as const

const has = (plugin: JsonObject, name: string): boolean => {
  const capabilities = field(plugin, 'capabilities')
  // Names of capabilities are compared as they are written.
  return isJsonObject(capabilities) && capabilities[name] === true
}

export const capabilitiesCheck: Check = {
  id: 'capabilities',
  title: 'the runtime passes annotations to the plugin',
  why: 'Without this line in the conflist, pod annotations are ignored, and every pod gets a dynamic address.',
  run: node => {
    const ours = node.networks.flatMap(file => {
      const found = oursIn(file)
      return found ? [{ path: file.path, plugin: found.plugin }] : []
    })
    if (ours.length === 0) return skip(`no configuration in ${node.confDir} uses ipkeeper`)
    const without = ours.find(({ plugin }) => !channels.some(name => has(plugin, name)))
    if (without)
      return warn(
        `${without.path} lacks "capabilities": { "${annotations}": true }`,
        ...['ipkeeperctl', 'lint', without.path],
      )
    return ok(ours.map(({ path }) => path).join(', '))
  },
}

export const binDirCheck: Check = {
  id: 'bin-dir',
  title: 'every plugin in the configurations is installed',
  why: 'If one plugin of a chain is missing, every ADD fails, and every DEL is retried forever.',
  run: node => {
    const { binDirs } = node
    if (binDirs.length === 0) return skip('there is no plugin folder; name it with --bin-dir DIR')
    // ipkeeper itself has a check of its own.
    const wanted = [...new Set(node.networks.flatMap(programsOf))].filter(name => name !== 'ipkeeper')
    const isThere = (name: string): boolean =>
      !name.includes('/') &&
      binDirs.some(folder => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true)
    const missing = wanted.filter(name => !isThere(name))
    if (missing.length > 0)
      return fail(`not in ${binDirs.join(', ')}: ${missing.join(', ')}`, 'ls', '-l', ...binDirs)
    return ok(wanted.length === 0 ? binDirs.join(', ') : `${wanted.join(', ')} in ${binDirs.join(', ')}`)
  },
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** Called without CNI_COMMAND a plugin says on stderr what it is (cni-protocol A15). */
export async function pluginVersion(path: string): Promise<string | undefined> {
  const end = await runProgram({ path, args: [], env: {}, timeoutMs: 4000 })
  return /^CNI ipkeeper plugin v(\S{1,40})$/m.exec(end.stderr)?.[1]
}

export const pluginCheck: Check = {
  id: 'plugin',
  title: 'the plugin is installed',
  why: "Without the plugin in the runtime's plugin folder every ADD fails; a plugin of another version may not understand the daemon.",
  run: async node => {
    const wanted = (await node.status())?.version ?? node.version
    const { binDirs } = node
    if (binDirs.length === 0) return skip('there is no plugin folder; name it with --bin-dir DIR')
    const paths = binDirs.map(folder => join(folder, 'ipkeeper')).filter(isFile)
    const [first] = binDirs
    const install = ['make', 'install', `CNI_BIN_DIR=${first ?? ''}`]
    if (paths.length === 0) return fail(`no ipkeeper in ${binDirs.join(', ')}`, ...install)
    for (const path of paths) {
      if (!isExecutable(path)) return fail(`${path} is not executable`, 'chmod', '0755', path)
      // The kernel says "No such file or directory", and runtimes say it of the plugin, which is there.
      const loader = loaderOf(path)
      if (loader !== undefined && !existsSync(loader))
        return fail(`${path} does not start: it needs ${loader}, which does not exist`, 'ls', '-l', loader)
      const version = await pluginVersion(path)
      if (version === undefined) return fail(`${path} is not the ipkeeper plugin`, ...install)
      if (version !== wanted) return fail(`${path} is ${version}, and ipkeeper-server ${wanted}`, ...install)
    }
    return ok(`${paths.join(', ')}, version ${wanted}`)
  },
}
