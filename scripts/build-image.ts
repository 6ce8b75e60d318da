/**
 * Builds the image of deploy/Dockerfile on a base that is named by its digest: it asks the builder which bytes the tag stands for
 * now, and the image bears that digest as a label. What the builder then gets is refused by it when it has another digest.
 *
 *   node scripts/build-image.ts --tag example.org/ipkeeper:0.1.0
 *   node scripts/build-image.ts --base debian:12-slim@sha256:...    the same base again
 *   node scripts/build-image.ts --builder buildah                   else docker, or whichever is there
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findProgram } from '../test/rigs/find-program.ts'

const root = join(import.meta.dirname, '..')
const dockerfile = join('deploy', 'Dockerfile')

interface Builder {
  /** Programs with their arguments; the last one prints the digest. */
  readonly digest: (base: string) => readonly (readonly string[])[]
  readonly read: (stdout: string) => string | undefined
  /** What `build` is told beyond what it is told everywhere. */
  readonly flags: readonly string[]
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

const builders: Readonly<Record<string, Builder>> = {
  docker: {
    // Of the index, so that every architecture comes from the same one.
    digest: base => [['buildx', 'imagetools', 'inspect', base, '--format', '{{.Manifest.Digest}}']],
    read: stdout => stdout.trim(),
    flags: [],
  },
  buildah: {
    digest: base => [
      ['pull', '--quiet', base],
      ['images', '--json', base],
    ],
    read: stdout => (JSON.parse(stdout) as readonly { readonly digest?: string }[])[0]?.digest,
    // BuildKit knows what it builds for.
    flags: ['--build-arg', `ARCH=${architectures[process.arch] ?? process.arch}`],
  },
}

function fail(message: string, remedy: string): never {
  console.error(`error: ${message}\nhint: ${remedy}`)
  process.exit(1)
}

const standardBase = (): string =>
  /^ARG BASE=(\S+)$/m.exec(readFileSync(join(root, dockerfile), 'utf8'))?.[1] ?? ''

function standardTag(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  return `ipkeeper:${version}`
}

/** The base by the digest that its tag stands for now; one that is named by it already stays so. */
function pinned(name: string, builder: Builder, base: string): string {
  if (base.includes('@')) return base
  let stdout = ''
  for (const words of builder.digest(base)) {
    const asked = spawnSync(name, words, { encoding: 'utf8' })
    if (asked.status !== 0)
      fail(
        `${name} cannot say which digest ${base} has: ${(asked.error?.message ?? asked.stderr).trim()}`,
        `name it: --base ${base}@sha256:..., of an image that ${name} has`,
      )
    stdout = asked.stdout
  }
  const digest = builder.read(stdout)
  if (digest === undefined || !/^sha256:[0-9a-f]{64}$/.test(digest))
    fail(
      `${name} says no digest of ${base}: ${stdout.trim().slice(0, 200)}`,
      `name it: --base ${base}@sha256:...`,
    )
  return `${base}@${digest}`
}

const { values } = parseArgs({
  options: { tag: { type: 'string' }, base: { type: 'string' }, builder: { type: 'string' } },
})
const name = values.builder ?? Object.keys(builders).find(candidate => findProgram(candidate) !== undefined)
const builder = name === undefined ? undefined : builders[name]
if (name === undefined || builder === undefined)
  fail(
    `no builder of images${name === undefined ? '' : ` called ${name}`}`,
    `install one of ${Object.keys(builders).join(', ')}`,
  )

const base = pinned(name, builder, values.base ?? standardBase())
const [baseName = '', digest = ''] = base.split('@')
// Not every builder takes a name that has both.
const exact = `${baseName.replace(/:[^:/]+$/, '')}@${digest}`
const tag = values.tag ?? standardTag()
const words = [
  ...['build', '--file', dockerfile, '--build-arg', `BASE=${exact}`, ...builder.flags],
  ...['--label', `org.opencontainers.image.base.name=${baseName}`],
  ...['--label', `org.opencontainers.image.base.digest=${digest}`],
  ...['--tag', tag, '.'],
]
console.log(`image: ${tag} on ${base}`)
const { status, error } = spawnSync(name, words, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, DOCKER_BUILDKIT: '1' },
})
if (status !== 0) fail(`${name} built no image${error ? `: ${error.message}` : ''}`, 'see above')
