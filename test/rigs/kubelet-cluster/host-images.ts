/**
 * Images for nodes that reach no registry. What deploy/Dockerfile takes from Debian comes from this machine here, which takes
 * no mirror and a second; the image of the Dockerfile itself is tested in test/install/daemonset.test.ts.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../find-program.ts'
import { ociArchive } from '../oci-archive.ts'
import { pauseImageOf } from '../pause-image.ts'
import { distFolder } from '../requirements.ts'
import { mustRun } from '../run-program.ts'
import { writeTar, type ArchiveFile } from '../tar-archive.ts'

/** Names of the images: the sandbox's, one of small programs, and the daemon's. */
export type ToolboxName = 'pause' | 'toolbox' | 'ipkeeper'
export const toolboxName = (image: ToolboxName): string => `localhost/${image}:1`

/** What the daemon runs, and what stories need in a pod. */
const programs = [
  ...['bridge', 'ip', 'nft', 'nsenter', 'setpriv', 'arping', 'tee', 'cat'],
  ...['sh', 'sleep', 'ping'],
]

const executables = ['ipkeeper', 'ipkeeper-server', 'ipkeeper-static']

/** By which docs/install names the daemon's. */
const nameOfPages = 'example.org/ipkeeper:0.1.0'

/** An archive of all of them, for `ctr image import`. */
export async function hostImages(): Promise<Buffer> {
  const toolbox = writeTar(await programFiles())
  const own: ArchiveFile[] = executables
    .filter(name => existsSync(join(distFolder, name)))
    .map(name => file(`/usr/local/bin/${name}`, join(distFolder, name)))
  own.push(link('usr/local/bin/ipkeeperctl', 'ipkeeper-server'))
  const daemon = { entrypoint: ['/usr/local/bin/ipkeeper-server'], layers: [toolbox, writeTar(own)] }
  return ociArchive([
    pauseImageOf(toolboxName('pause')),
    { name: toolboxName('toolbox'), entrypoint: [], layers: [toolbox] },
    { name: toolboxName('ipkeeper'), ...daemon },
    { name: nameOfPages, ...daemon },
  ])
}

const file = (name: string, source = name): ArchiveFile => ({
  ...{ name: name.slice(1), mode: 0o755, content: readFileSync(source) },
})

const link = (name: string, target: string): ArchiveFile => ({
  ...{ name, mode: 0o777, content: Buffer.alloc(0), link: target },
})

/** The programs, and the libraries that the loader would load for them and for the executables. */
async function programFiles(): Promise<readonly ArchiveFile[]> {
  const found = programs.map(name => {
    const path = findProgram(name)
    if (path === undefined) throw new Error(`this machine has no ${name}`)
    return path
  })
  const needed = await mustRun('ldd', [...found, join(distFolder, 'ipkeeper-server')])
  // "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f89d973e000)", and the loader itself without a name.
  const libraries = Array.from(needed.matchAll(/(?:=> |^\t)(\/\S+) \(0x/gm), ([, path = '']) => path)
  // Runtimes name the namespaces of pods by the old path, as which every Debian knows /run.
  return [link('var/run', '/run'), ...[...new Set([...found, ...libraries])].map(path => file(path))]
}
