/**
 * Builds the callers of test/callers (cnitool, go-cni, reference plugins, containerd) from the Go module
 * scripts/callers: its go.mod names them all, as tools, with their versions, and go.sum what must come for them.
 * Nothing is done when they are there, and nothing but one line said where no Go is that could build them.
 *
 *   node scripts/build-callers.ts     .cache/callers/DIGEST/, about 110 MB
 *
 * The first time takes one to two minutes and leaves about 1.3 GB in Go's own caches; a later one, with another
 * version of something, builds what has changed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, relative } from 'node:path'
import {
  callersCache,
  callersFolder,
  callersModule,
  findGo,
  hasCallers,
  wantedGo,
} from '../test/rigs/callers.ts'

/** A proxy that does not answer must not hold a run of the tests for ever. */
const timeoutMs = 15 * 60_000

const unfinishedPrefix = 'unfinished-'

const options = [
  '-mod=readonly',
  '-trimpath',
  // Our own program stands in a git checkout, which need not be readable for git.
  '-buildvcs=false',
  // A sandbox needs none of these snapshotters, and they are much to compile.
  ...['-tags', 'no_btrfs no_devmapper no_zfs'],
  ...['-ldflags', '-s -w'],
]

function build(go: string): boolean {
  console.log('build: callers (cnitool, go-cni, reference plugins, containerd); takes minutes the first time')
  const started = performance.now()
  mkdirSync(callersCache, { recursive: true })
  const unfinished = mkdtempSync(join(callersCache, unfinishedPrefix))
  const { status, error } = spawnSync(go, ['build', ...options, '-o', `${unfinished}/`, 'tool', './go-cni'], {
    cwd: callersModule,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: timeoutMs,
    env: {
      ...process.env,
      // Go's caches are below it; a service may have none.
      HOME: homedir(),
      GOTOOLCHAIN: 'local',
      GOWORK: 'off',
      // No C compiler is needed, and the result runs wherever the kernel does.
      CGO_ENABLED: '0',
    },
  })
  if (status !== 0) {
    rmSync(unfinished, { recursive: true })
    console.error(`build: callers failed (${error?.message ?? `${go} ended with ${String(status)}`})`)
    return false
  }
  // Somebody else may have built the same meanwhile.
  if (existsSync(callersFolder)) rmSync(unfinished, { recursive: true })
  else renameSync(unfinished, callersFolder)
  const seconds = ((performance.now() - started) / 1e3).toFixed(0)
  console.log(`build: ${relative(process.cwd(), callersFolder)} in ${seconds} s`)
  return true
}

/** What an earlier go.mod asked for; not what somebody else may be building. */
function removeOthers(): void {
  for (const name of readdirSync(callersCache)) {
    const folder = join(callersCache, name)
    if (folder !== callersFolder && !name.startsWith(unfinishedPrefix)) rmSync(folder, { recursive: true })
  }
}

if (!hasCallers()) {
  const go = findGo()
  if (go === undefined) console.log(`build: callers left out: no Go >= ${wantedGo()} on this machine`)
  else if (build(go)) removeOthers()
  else process.exitCode = 1
}
