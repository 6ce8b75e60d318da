import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Architecture } from './package-executable.ts'

interface Component {
  readonly [key: string]: unknown
  readonly 'bom-ref': string
  readonly name: string
  readonly type: string
}

/** As far as we touch what npm writes: CycloneDX 1.5. */
interface Bill {
  readonly [key: string]: unknown
  readonly metadata: { readonly component: Component; readonly tools: unknown }
  readonly components: readonly Component[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
}

/**
 * References of the packages that the executables are made from. npm's own --omit=dev leaves out those that a development
 * package uses as well.
 */
function reachable(
  { components, dependencies }: Bill,
  root: string,
  architecture: Architecture,
): ReadonlySet<string> {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Readonly<
    Record<'dependencies' | 'optionalDependencies', Readonly<Record<string, string>>>
  >
  // Node is put in by itself: npm knows nothing of what is inside it.
  const ofArchitecture = Object.entries(manifest.optionalDependencies).filter(
    ([name]) => name === `@koromix/koffi-linux-${architecture}`,
  )
  const found = new Set<string>()
  const waiting = [...Object.entries(manifest.dependencies), ...ofArchitecture].map(
    ([name, version]) => `${name}@${version}`,
  )
  for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
    if (found.has(ref)) continue
    found.add(ref)
    waiting.push(...(dependencies.find(entry => entry.ref === ref)?.dependsOn ?? []))
  }
  const known = new Set(components.map(component => component['bom-ref']))
  const unknown = [...found].filter(ref => !known.has(ref))
  if (unknown.length > 0) throw new Error(`npm sbom does not know ${unknown.join(', ')}`)
  return found
}

/** What the static plugin is linked with. */
export interface Engine {
  /** Of QuickJS-ng. */
  readonly version: string
  /** Path of QuickJS-ng's licence. */
  readonly license: string
  /** Version of the GNU C library. */
  readonly libc: string
  /** Version of the compiler, whose libgcc is in it as well. */
  readonly compiler: string
}

const inStaticPlugin = ({ version, libc, compiler }: Engine): readonly Component[] => [
  {
    'bom-ref': `quickjs-ng@${version}`,
    ...{ type: 'library', name: 'quickjs-ng', version, scope: 'required' },
    description: 'JavaScript engine, linked into bin/ipkeeper-static',
    purl: `pkg:github/quickjs-ng/quickjs@v${version}`,
    licenses: [{ license: { id: 'MIT' } }],
  },
  {
    'bom-ref': `glibc@${libc}`,
    ...{ type: 'library', name: 'glibc', version: libc, scope: 'required' },
    description: 'GNU C library, linked into bin/ipkeeper-static',
    purl: `pkg:generic/glibc@${libc}`,
    cpe: `cpe:2.3:a:gnu:glibc:${libc}:*:*:*:*:*:*:*`,
    licenses: [{ license: { id: 'LGPL-2.1-or-later' } }],
  },
  {
    'bom-ref': `gcc@${compiler}`,
    ...{ type: 'library', name: 'gcc', version: compiler, scope: 'required' },
    description: 'compiled bin/ipkeeper-static, into which its libgcc is linked',
    purl: `pkg:generic/gcc@${compiler}`,
    licenses: [{ expression: 'GPL-3.0-or-later WITH GCC-exception-3.1' }],
  },
]

/**
 * What a release of an architecture is made of, as CycloneDX JSON: the packages that npm knows by package-lock.json,
 * Node with the libraries inside it, and what the static plugin is linked with. The same sources give the same text.
 *
 * @param root the project's folder
 * @param node the binary of Node that is in the executables; its version is that of the Node running this
 * @param engine undefined without a static plugin
 * @param time seconds since the epoch
 */
export function writeBill(
  root: string,
  {
    version,
    architecture,
    node,
    engine,
    time,
  }: {
    version: string
    architecture: Architecture
    node: string
    engine: Engine | undefined
    time: number
  },
): string {
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    ...{ cwd: root, encoding: 'utf8', maxBuffer: 64 << 20, stdio: ['ignore', 'pipe', 'inherit'] },
  })
  const bill = JSON.parse(text) as Bill
  const shipped = reachable(bill, root, architecture)
  const { node: nodeVersion, ...inside } = process.versions
  const nodeComponent = {
    'bom-ref': `node@${nodeVersion}`,
    ...{ type: 'platform', name: 'node', version: nodeVersion, scope: 'required' },
    description: `Node.js for linux-${architecture}, which every executable of the release begins with`,
    purl: `pkg:npm/node-linux-${architecture}@${nodeVersion}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${nodeVersion}:*:*:*:*:*:*:*`,
    licenses: [{ license: { id: 'MIT' } }],
    hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(readFileSync(node)).digest('hex') }],
    components: Object.entries(inside)
      .filter(
        (entry): entry is [string, string] =>
          entry[1] !== undefined && !['modules', 'napi'].includes(entry[0]),
      )
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, its]) => ({ type: 'library', 'bom-ref': `node/${name}@${its}`, name, version: its })),
  }
  const linked = [nodeComponent, ...(engine ? inStaticPlugin(engine) : [])]
  const whole = {
    ...bill,
    serialNumber: undefined,
    metadata: {
      ...bill.metadata,
      // Which npm wrote the list is nothing that the release is made of.
      tools: undefined,
      timestamp: new Date(time * 1000).toISOString(),
      lifecycles: [{ phase: 'build' }],
      component: { ...bill.metadata.component, type: 'application', name: 'ipkeeper', version },
    },
    components: [...bill.components.filter(component => shipped.has(component['bom-ref'])), ...linked],
    dependencies: [
      ...bill.dependencies.filter(({ ref }) => shipped.has(ref)),
      ...linked.map(component => ({ ref: component['bom-ref'], dependsOn: [] })),
    ],
  }
  // A random number would make every run another one; this one is of the contents.
  const digest = createHash('sha256').update(JSON.stringify(whole)).digest('hex')
  const uuid = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`
  return `${JSON.stringify({ ...whole, serialNumber: `urn:uuid:${uuid}` }, null, 2)}\n`
}
