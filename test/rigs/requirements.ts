/**
 * What a test needs beyond Node. Every test that can be skipped asks here, so that one runner can say what is missing
 * in one line, and refuse in CI to leave out what set-up supplies.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { canRun, compilerFor } from '../../scripts/c-compiler.ts'
import { hostArchitecture } from '../../scripts/fetch-node.ts'
import { callers } from './callers.ts'
import { findClusterProgram, givenPrograms, nodePrograms, tools } from './cluster-programs.ts'
import { canBeCleanMachine, hasSystemd } from './clean-machine.ts'
import { findProgram, isExecutable } from './find-program.ts'
import { findHelm } from './helm.ts'
import { helmModule } from './helm-module.ts'
import { findMirror, hasImageBuilder } from './image.ts'
import { hasLoopDevices } from './loop-disk.ts'
import { findFaketime } from './moved-clock.ts'
import { multusModule } from './multus.ts'
import { hasRsyslogTls } from './rsyslog.ts'

/** Where `make build` leaves the executables. */
export const distFolder = join(import.meta.dirname, '..', '..', 'dist')

/**
 * Which executable of the plugin is tested: the one made with Node, or the one without (PLUGIN=static in the environment), also
 * built so that each fault of memory ends it (PLUGIN=sanitized).
 */
const pluginFolders: Readonly<Record<string, string>> = { static: 'static', sanitized: 'sanitized/static' }
const wantedPlugin = process.env['PLUGIN'] ?? ''
const folderOfPlugin = pluginFolders[wantedPlugin]
if (folderOfPlugin === undefined && wantedPlugin !== '')
  throw new Error(`PLUGIN=${wantedPlugin}: there is none`)
export const isStaticPlugin = folderOfPlugin !== undefined
/** It takes a multiple of the time and of the memory. */
export const isSanitizedPlugin = wantedPlugin === 'sanitized'

/** That executable of a build; the static one is in a folder of its own under the name that runtimes know. */
export const pluginOf = (dist: string): string => join(dist, folderOfPlugin ?? '', 'ipkeeper')

export const testedPlugin = pluginOf(distFolder)

export const pluginFolder = dirname(testedPlugin)

/** Begins the reason of a skip that is no fault even in CI: nothing that apt or npm supply would enable the test. */
export const optionalSkip = 'optional: '

export type Requirement =
  | 'namespaces'
  | 'containerd'
  | 'runc'
  | 'reference-plugins'
  | 'executables'
  | 'static-plugin'
  | 'c-compiler'
  | 'cross-compiler'
  | 'go'
  | 'callers'
  | 'multus'
  | 'cluster'
  | 'controllers'
  | 'kubectl'
  | 'helm'
  | 'kubelet'
  | 'etcd'
  | 'openssl'
  | 'promtool'
  | 'rsyslog'
  | 'rsyslog-tls'
  | 'bash'
  | 'zsh'
  | 'fish'
  | 'terminal'
  | 'mandoc'
  | 'nft'
  | 'arping'
  | 'ping'
  | 'chromium'
  | 'fuse'
  | 'ifb'
  | 'macvlan'
  | 'clean-machine'
  | 'emulator'
  | 'image-builder'
  | 'mirror'
  | 'etcdctl'
  | 'faketime'
  | 'strace'
  | 'loop-devices'

/** Folders of reference plugins: Debian's package, then the upstream convention. */
const referenceFolders = ['/usr/lib/cni', '/opt/cni/bin']

/** Folder that holds `bridge`, `host-local` and `loopback`, or undefined. */
export function findReferencePlugins(): string | undefined {
  const wanted = ['bridge', 'host-local', 'loopback']
  return referenceFolders.find(folder => wanted.every(name => isExecutable(join(folder, name))))
}

/** Being root is not enough: in an unprivileged container root may not make namespaces. Tried once. */
function mayMakeNamespaces(): boolean {
  if (process.getuid?.() !== 0 || findProgram('ip') === undefined) return false
  namespacesWork ??= spawnSync('unshare', ['--mount', '--net', '--pid', '--fork', 'true']).status === 0
  return namespacesWork
}
let namespacesWork: boolean | undefined

/** Debian's package of Prometheus has it, and so has the cache: make setup takes no more of that package. */
export function findPromtool(): string | undefined {
  return findProgram('promtool', [join(import.meta.dirname, '..', '..', '.cache', 'promtool')])
}

/** The words before a program for arm64 that run it on x64, or undefined. */
export function emulator(): readonly string[] | undefined {
  const libraries = '/usr/aarch64-linux-gnu'
  const program = findProgram('qemu-aarch64-static')
  return process.arch === 'x64' && program !== undefined && existsSync(join(libraries, 'lib/libstdc++.so.6'))
    ? [program, '-L', libraries]
    : undefined
}

/** Whether the kernel makes such links; a module that is there is loaded by trying. */
function kernelMakes(...commands: readonly string[]): boolean {
  return mayMakeNamespaces() && spawnSync('unshare', ['--net', 'sh', '-ec', commands.join('\n')]).status === 0
}

/** Of the architecture that this machine does not have. */
const crossCompiler = compilerFor(process.arch === 'arm64' ? 'x64' : 'arm64')

const hasCluster = (): boolean =>
  findClusterProgram('kube-apiserver') !== undefined &&
  findClusterProgram('etcd') !== undefined &&
  findProgram('openssl') !== undefined

/** Not optional: what is tested with a cluster is too much to leave out in CI, whatever the machine lacks. */
const clusterOtherwise =
  givenPrograms === ''
    ? `needs kube-apiserver (make test-cluster, where Go >= ${tools.wantedGo()} is; or set KUBEBUILDER_ASSETS), ` +
      'etcd and openssl (Debian packages etcd-server, openssl)'
    : `needs kube-apiserver and etcd in KUBEBUILDER_ASSETS=${givenPrograms}, and openssl (Debian package openssl)`

/** Each requirement: is it met, and what to say when it is not. */
const requirements: Readonly<
  Record<Requirement, { readonly met: () => boolean; readonly otherwise: string }>
> = {
  bash: {
    met: () => findProgram('bash') !== undefined,
    otherwise: 'needs bash (Debian package bash)',
  },
  zsh: { met: () => findProgram('zsh') !== undefined, otherwise: 'needs zsh (Debian package zsh)' },
  fish: { met: () => findProgram('fish') !== undefined, otherwise: 'needs fish (Debian package fish)' },
  terminal: {
    met: () => findProgram('script') !== undefined,
    otherwise: 'needs script, which makes a terminal (Debian package bsdutils)',
  },
  mandoc: {
    met: () => findProgram('mandoc') !== undefined,
    otherwise: 'needs mandoc (Debian package mandoc)',
  },
  namespaces: {
    met: mayMakeNamespaces,
    otherwise: 'needs root that may make network namespaces, and ip (Debian package iproute2)',
  },
  containerd: {
    met: () => ['containerd', 'ctr', 'runc'].every(name => findProgram(name) !== undefined),
    otherwise: 'needs containerd, ctr and runc (Debian packages containerd, runc)',
  },
  'reference-plugins': {
    met: () => findReferencePlugins() !== undefined,
    otherwise: 'needs the reference CNI plugins (Debian package containernetworking-plugins)',
  },
  executables: {
    met: () => [testedPlugin, join(distFolder, 'ipkeeper-server')].every(path => existsSync(path)),
    otherwise: !isStaticPlugin
      ? 'needs the packaged executables (make build)'
      : 'needs the static plugin (make static, where a C compiler and cargo are)',
  },
  'static-plugin': {
    met: () => existsSync(join(distFolder, 'ipkeeper-static')),
    otherwise:
      findProgram('cc') === undefined
        ? `${optionalSkip}needs a C compiler, for the static plugin`
        : 'needs the static plugin (make static, which says what is missing)',
  },
  'c-compiler': {
    met: () => canRun(compilerFor(hostArchitecture).program),
    otherwise: `${optionalSkip}needs a C compiler`,
  },
  'cross-compiler': {
    met: () => canRun(crossCompiler.program),
    otherwise: `${process.arch === 'x64' ? '' : optionalSkip}needs ${crossCompiler.program} (Debian packages ${crossCompiler.packages})`,
  },
  runc: { met: () => findProgram('runc') !== undefined, otherwise: 'needs runc (Debian package runc)' },
  go: {
    met: () => callers.findGo() !== undefined,
    otherwise: `${optionalSkip}needs Go >= ${callers.wantedGo()}`,
  },
  openssl: {
    met: () => findProgram('openssl') !== undefined,
    otherwise: 'needs openssl (Debian package openssl)',
  },
  promtool: {
    met: () => findPromtool() !== undefined,
    otherwise: 'needs promtool (make setup as root, or Debian package prometheus)',
  },
  rsyslog: {
    met: () => findProgram('rsyslogd') !== undefined,
    otherwise: 'needs rsyslogd (Debian package rsyslog)',
  },
  'rsyslog-tls': {
    met: () => hasRsyslogTls(),
    otherwise: 'needs TLS for rsyslogd (Debian package rsyslog-openssl)',
  },
  nft: { met: () => findProgram('nft') !== undefined, otherwise: 'needs nft (Debian package nftables)' },
  arping: {
    met: () => findProgram('arping') !== undefined,
    otherwise: 'needs arping (Debian package iputils-arping)',
  },
  ping: {
    met: () => findProgram('ping') !== undefined,
    otherwise: 'needs ping (Debian package iputils-ping)',
  },
  chromium: {
    met: () => findProgram('chromium') !== undefined,
    otherwise: 'needs Chromium (Debian package chromium)',
  },
  fuse: {
    met: () =>
      mayMakeNamespaces() &&
      existsSync('/dev/fuse') &&
      readFileSync('/proc/filesystems', 'utf8').includes('\tfuse\n'),
    otherwise: `${optionalSkip}needs root that may mount, and a kernel with FUSE`,
  },
  ifb: {
    met: () => kernelMakes('ip link add ifb0 type ifb'),
    otherwise: `${optionalSkip}needs a kernel with ifb`,
  },
  macvlan: {
    met: () =>
      kernelMakes('ip link add one type veth peer name two', 'ip link add over link one type macvlan'),
    otherwise: `${optionalSkip}needs a kernel with macvlan`,
  },
  emulator: {
    met: () => emulator() !== undefined,
    otherwise:
      process.arch === 'x64'
        ? 'needs an emulator of arm64 and its libraries (Debian packages qemu-user-static, libstdc++6-arm64-cross)'
        : `${optionalSkip}needs x64, where programs for arm64 can be emulated`,
  },
  'clean-machine': {
    met: () => hasSystemd() && canBeCleanMachine(),
    // Set-up brings systemd; not a kernel or a container that lets root have overlays and control groups.
    otherwise: hasSystemd()
      ? `${optionalSkip}needs root that may mount overlays, and control groups of version 1 or both`
      : 'needs systemd (Debian package systemd)',
  },
  'image-builder': {
    met: () => hasImageBuilder() && mayMakeNamespaces(),
    otherwise:
      'needs root that may make namespaces, buildah and debootstrap (Debian packages of these names)',
  },
  mirror: {
    met: () => findMirror() !== undefined,
    otherwise: `${optionalSkip}needs a mirror of Debian that apt reaches`,
  },
  callers: {
    met: () => callers.isBuilt(),
    otherwise: 'needs the callers in their current versions (make callers)',
  },
  multus: {
    met: () => multusModule.isBuilt(),
    otherwise:
      multusModule.findGo() === undefined
        ? `${optionalSkip}needs Go >= ${multusModule.wantedGo()}, for Multus`
        : 'needs Multus in its current version (make callers)',
  },
  etcd: {
    met: () => findClusterProgram('etcd') !== undefined,
    otherwise: 'needs etcd (Debian package etcd-server)',
  },
  etcdctl: {
    met: () => findProgram('etcdctl') !== undefined,
    otherwise: 'needs etcdctl (Debian package etcd-client)',
  },
  faketime: {
    met: () => findFaketime() !== undefined,
    otherwise: 'needs libfaketime (Debian package faketime)',
  },
  strace: {
    met: () => spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0,
    otherwise:
      findProgram('strace') === undefined
        ? 'needs strace (Debian package strace)'
        : `${optionalSkip}needs a kernel or container that lets a process be traced`,
  },
  'loop-devices': {
    met: () => mayMakeNamespaces() && hasLoopDevices(),
    otherwise: `${optionalSkip}needs a kernel with loop devices and ext4, mkfs.ext4 and fsfreeze`,
  },
  cluster: { met: hasCluster, otherwise: clusterOtherwise },
  kubectl: {
    met: () => findClusterProgram('kubectl') !== undefined,
    otherwise: 'needs kubectl (make test-cluster, where Go is; or in KUBEBUILDER_ASSETS)',
  },
  helm: {
    met: () => findHelm() !== undefined,
    otherwise: `needs helm (make test-cluster, where Go >= ${helmModule.wantedGo()} is)`,
  },
  kubelet: {
    met: () => hasCluster() && nodePrograms.every(name => findClusterProgram(name) !== undefined),
    otherwise: hasCluster()
      ? `${optionalSkip}needs kubelet, kube-proxy and kube-scheduler (make test-kubelet builds them, in ten minutes the first time; or KUBEBUILDER_ASSETS)`
      : clusterOtherwise,
  },
  controllers: {
    met: () => hasCluster() && findClusterProgram('kube-controller-manager') !== undefined,
    // Where all is missing, one line says so.
    otherwise: hasCluster() ? 'needs kube-controller-manager beside kube-apiserver' : clusterOtherwise,
  },
}

/**
 * For tap's `skip` option: false when everything is there, else the reason.
 *
 * @example t.test('under the real bridge', { skip: missing('namespaces', 'reference-plugins') }, ...)
 */
export function missing(...wanted: readonly Requirement[]): false | string {
  const reasons = wanted
    .map(name => requirements[name])
    .filter(requirement => !requirement.met())
    .map(requirement => requirement.otherwise)
  // Where nobody could supply one thing, the rest matters to nobody.
  const decisive = reasons.find(reason => reason.startsWith(optionalSkip))
  return reasons.length > 0 && (decisive ?? [...new Set(reasons)].join(', '))
}
