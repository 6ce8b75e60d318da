import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, relative } from 'node:path'
import type { GoModule } from '../test/rigs/go-module.ts'

export interface GoBuild {
  readonly module: GoModule
  /** For the lines printed: what is built, in one word. */
  readonly name: string
  /** The programs, and how long they take the first time. */
  readonly about: string
  /** Arguments of `go build` beyond those of every build. */
  readonly options?: readonly string[]
  /** Flags of the linker beyond those of every build. */
  readonly linkerFlags?: readonly string[]
  /** What to build, as `go build` understands it. */
  readonly packages: readonly string[]
  /** Sources whose server does not answer must not hold a run of the tests for ever. */
  readonly timeoutMs: number
}

const unfinishedPrefix = 'unfinished-'

/**
 * Builds the executables of a module when they are not there: whole, or not at all. One line is said where no Go is
 * that could.
 *
 * @returns false only when a build was tried and failed
 */
export function buildGoModule(wanted: GoBuild): boolean {
  const { module, name } = wanted
  if (module.isBuilt()) return true
  const go = module.findGo()
  if (go === undefined) {
    console.log(`build: ${name} left out: no Go >= ${module.wantedGo()} on this machine`)
    return true
  }
  console.log(`build: ${name} (${wanted.about})`)
  const started = performance.now()
  mkdirSync(module.cache, { recursive: true })
  const unfinished = mkdtempSync(join(module.cache, unfinishedPrefix))
  const options = [
    '-mod=readonly',
    '-trimpath',
    // Our own program stands in a git checkout, which need not be readable for git.
    '-buildvcs=false',
    ...['-ldflags', ['-s', '-w', ...(wanted.linkerFlags ?? [])].join(' ')],
    ...(wanted.options ?? []),
  ]
  const { status, error } = spawnSync(go, ['build', ...options, '-o', `${unfinished}/`, ...wanted.packages], {
    cwd: module.sources,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: wanted.timeoutMs,
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
    console.error(`build: ${name} failed (${error?.message ?? `${go} ended with ${String(status)}`})`)
    return false
  }
  // Somebody else may have built the same meanwhile.
  if (module.isBuilt()) rmSync(unfinished, { recursive: true })
  else renameSync(unfinished, module.built)
  const seconds = ((performance.now() - started) / 1e3).toFixed(0)
  console.log(`build: ${relative(process.cwd(), module.built)} in ${seconds} s`)
  removeOthers(module)
  return true
}

/** What an earlier go.mod asked for; not what somebody else may be building. */
function removeOthers(module: GoModule): void {
  for (const name of readdirSync(module.cache)) {
    const folder = join(module.cache, name)
    if (folder !== module.built && !name.startsWith(unfinishedPrefix)) rmSync(folder, { recursive: true })
  }
}
