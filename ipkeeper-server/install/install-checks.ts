import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { LintFinding } from '../../shared/api/lint.schema.ts'
import type { Severity } from '../../shared/findings.ts'
import { systemCode } from '../../shared/system-code.ts'
import { fail, ok, skip, warn, type Check, type CheckResult } from '../diagnose/doctor/check-result.ts'
import { kernelFeaturesCheck } from '../diagnose/doctor/checks/kernel.ts'
import { toolsCheck } from '../diagnose/doctor/checks/machine.ts'
import { pluginVersion } from '../diagnose/doctor/checks/networks.ts'
import { describeFinding } from '../diagnose/doctor/networks.ts'
import { isRuntimeFile } from '../diagnose/lint/runtime-files.ts'
import { brokenFileFirst } from '../diagnose/lint/rules/file-choice.ts'
import { freeRoom } from '../host/free-room.ts'
import { describeNetwork } from './first-network.ts'
import { nearestFolder, type WouldInstall } from './would-install.ts'

type InstallCheck = Check<WouldInstall>

/** Folders that something would be written to. */
const writtenTo = ({ files }: WouldInstall): readonly string[] => [
  ...new Set(files.filter(({ change }) => change !== 'same').map(({ path }) => dirname(path))),
]

function whyNotWritable(folder: string): CheckResult | undefined {
  const nearest = nearestFolder(folder)
  if (!statSync(nearest).isDirectory()) return fail(`${nearest} is no folder`, 'ls', '-ld', nearest)
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    const code = systemCode(error)
    if (code === 'EROFS')
      return fail(
        `${folder} is on a file system that is mounted read-only: name a folder that can be written, and that the runtime looks in`,
        ...['findmnt', '--target', nearest],
      )
    return fail(
      `${folder} cannot be written by user ${process.geteuid?.() ?? '?'} (${code})`,
      ...['sudo', 'ipkeeperctl', 'install', '--check'],
    )
  }
}

const foldersCheck: InstallCheck = {
  id: 'folders',
  title: 'the folders can be written',
  why: 'Nothing can be installed into a folder that is read-only, or that belongs to somebody else.',
  run: site => {
    const folders = writtenTo(site)
    const faults = folders.map(whyNotWritable).filter(fault => fault !== undefined)
    if (faults[0]) return faults[0]
    return ok(folders.length === 0 ? 'nothing has to be written' : folders.join(', '))
  },
}

/** Bytes that a file system should have left over. */
const spare = 1024 * 1024

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MiB`

const roomCheck: InstallCheck = {
  id: 'room',
  title: 'there is room for the plugin',
  why: 'A file is written beside the one that it replaces, so that a runtime never finds half of one: there has to be room for both.',
  run: ({ files, wanted }) => {
    const [plugin] = files
    const size = statSync(wanted.plugin, { throwIfNoEntry: false })?.size
    if (plugin === undefined || plugin.change === 'same' || size === undefined)
      return ok('nothing of size has to be written')
    const folder = nearestFolder(wanted.binDir)
    const { bytes, files: inodes } = freeRoom(folder)
    if (bytes < size + spare)
      return fail(
        `${folder} has ${mebibytes(bytes)} free, and the plugin has ${mebibytes(size)}`,
        'df',
        '-h',
        folder,
      )
    return inodes === 0
      ? fail(`${folder} has no inode left`, 'df', '-i', folder)
      : ok(`${mebibytes(bytes)} in ${folder}`)
  },
}

const runtimeFoldersCheck: InstallCheck = {
  id: 'runtime-folders',
  title: 'the folders are those of the runtime',
  why: 'A plugin or a network in a folder that the runtime does not look in is as good as none.',
  run: ({ told, wanted: { binDir, confDir, conflist } }) => {
    if (told.binDirs.length === 0)
      return skip('no configuration of containerd or CRI-O was found; they look in the usual folders then')
    if (!told.binDirs.includes(binDir))
      return fail(
        `the runtime looks for plugins in ${told.binDirs.join(', ')}, and not in ${binDir}`,
        ...['ipkeeperctl', 'install', '--check', '--bin-dir', told.binDirs[0] ?? ''],
      )
    if (conflist !== undefined && !told.confDirs.includes(confDir))
      return fail(
        `the runtime looks for networks in ${told.confDirs.join(', ')}, and not in ${confDir}`,
        ...[
          'ipkeeperctl',
          'install',
          '--check',
          '--conflist',
          conflist,
          '--conf-dir',
          told.confDirs[0] ?? '',
        ],
      )
    return ok(`plugins in ${told.binDirs.join(', ')}, networks in ${told.confDirs.join(', ')}`)
  },
}

const isNewer = (version: string, than: string): boolean =>
  version.localeCompare(than, 'en', { numeric: true }) > 0

const presentPluginCheck: InstallCheck = {
  id: 'present-plugin',
  title: 'what is there under the name of the plugin',
  why: 'An older plugin takes the place of a newer one for every pod that is added or deleted from then on.',
  run: async ({ files, wanted, node }) => {
    const path = join(wanted.binDir, 'ipkeeper')
    if (!existsSync(wanted.plugin))
      return fail(`there is no plugin to install at ${wanted.plugin}`, 'ls', '-l', dirname(wanted.plugin))
    if (!existsSync(path)) return ok(`no ${path} yet`)
    if (files[0]?.change === 'same') return ok(`${path} is the very one`)
    const version = await pluginVersion(path)
    if (version === undefined)
      return warn(`${path} is no ipkeeper plugin of any version, and would be replaced`, 'ls', '-l', path)
    if (isNewer(version, node.version))
      return warn(
        `${path} is ${version}, newer than ${node.version}, and would be replaced by that; see "Going back" in docs/operations/upgrade.md`,
      )
    return ok(`${path} is ${version}, and ${node.version} takes its place`)
  },
}

const units = [
  '/etc/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
]

const serviceCheck: InstallCheck = {
  id: 'service',
  title: 'the daemon runs, in the same version',
  why: 'From the moment that a network names the plugin, pods wait for the daemon: without it an ADD fails after 10 s.',
  run: async ({ node }) => {
    const status = await node.status()
    if (status)
      return status.version === node.version
        ? ok(`ipkeeper-server ${status.version} answers on ${node.socket}`)
        : warn(
            `ipkeeper-server ${status.version} answers on ${node.socket}, and this is ${node.version}`,
            ...['systemctl', 'restart', 'ipkeeper'],
          )
    // In the DaemonSet the step that installs comes first.
    if (process.env['KUBERNETES_SERVICE_HOST'] !== undefined)
      return skip('the daemon of this pod starts later')
    const unit = units.map(folder => join(folder, 'ipkeeper.service')).find(path => existsSync(path))
    return unit === undefined
      ? warn(`no daemon answers on ${node.socket}, and no unit of systemd would start one`, 'make', 'install')
      : warn(`no daemon answers on ${node.socket}`, 'systemctl', 'enable', '--now', 'ipkeeper')
  },
}

const conflistCheck: InstallCheck = {
  id: 'conflist',
  title: 'the network configuration is good',
  why: 'A runtime that cannot read its first file has no network at all: no pod can be started or deleted.',
  run: ({ linted, wanted: { conflist, binDir } }) => {
    if (!linted || conflist === undefined) return skip('no network is installed without --conflist FILE')
    if (!isRuntimeFile(basename(conflist)))
      return fail(
        `no runtime reads a file called ${basename(conflist)}; it has to end in .conflist`,
        'ls',
        '-l',
        conflist,
      )
    const see = ['ipkeeperctl', 'lint', conflist, '--bin-dir', binDir]
    const worst = (severity: Severity): LintFinding | undefined =>
      linted.findings.find(finding => finding.severity === severity)
    const [error, warning] = [worst('error'), worst('warning')]
    if (error) return fail(describeFinding(error), ...see)
    return warning ? warn(describeFinding(warning), ...see) : ok(conflist)
  },
}

const firstNetworkCheck: InstallCheck = {
  id: 'first-network',
  title: 'pods get this network',
  why: 'A runtime takes the first file of the folder, by name: whatever another CNI has there before ours is what pods get.',
  run: ({ before, after: { linted, first }, wanted: { conflist, confDir } }) => {
    if (conflist === undefined)
      return before
        ? ok(`pods go on getting ${before.file} (${describeNetwork(before)})`)
        : skip('no network is installed without --conflist FILE')
    const target = join(confDir, basename(conflist))
    const broken = linted.findings.find(({ rule }) => rule === brokenFileFirst.id)
    if (broken) return fail(describeFinding(broken), 'ipkeeperctl', 'lint', confDir)
    if (first && first.file !== target)
      return fail(
        `${first.file} comes before ${target}: pods would go on getting it (${describeNetwork(first)})`,
        ...['mv', first.file, `${first.file}.off`],
      )
    if (before && before.file !== target)
      return warn(
        `${before.file} has the node now (${describeNetwork(before)}): new pods get ours from then on. Drain the node first, or have the addresses of its pods adopted: docs/guides/moving-in.md`,
      )
    return ok(target)
  },
}

/** What of a node is in the way of an installation, in the order in which it is told. */
export const installChecks: readonly InstallCheck[] = [
  foldersCheck,
  roomCheck,
  runtimeFoldersCheck,
  presentPluginCheck,
  conflistCheck,
  firstNetworkCheck,
  { ...kernelFeaturesCheck, run: ({ node }) => kernelFeaturesCheck.run(node) },
  { ...toolsCheck, run: ({ node }) => toolsCheck.run(node) },
  serviceCheck,
]
