/**
 * The image of deploy/Dockerfile, really built, where no daemon and no registry is: by buildah, on a base of the packages that
 * this machine's apt gets.
 *
 * All of it happens in namespaces that end with the program: buildah and debootstrap leave mounts behind when they are killed,
 * and whoever then removed the folder would remove what is mounted there.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from './find-program.ts'
import { atProcessEnd } from './finish.ts'
import { runProgram, type Finished } from './run-program.ts'
import { makeTempFolder, tempFolder } from './temp-folder.ts'
import type { Scope } from './teardown.ts'

export interface Image {
  /** Its name in `archive`. */
  readonly name: string
  /** File as `docker save` writes it, for `ctr image import`. */
  readonly archive: string
  /** What the image says of the program that runs, by the names of the OCI's specification. */
  readonly config: ImageConfig
  /** Every path in it that neither the base nor a package brought. */
  readonly added: readonly string[]
  /** Runs a program in a container of the image; each sees what those before it left. */
  run(...words: readonly string[]): Promise<Finished>
}

export interface ImageConfig {
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly Env: readonly string[]
  readonly Labels: Readonly<Record<string, string>>
}

interface Mirror {
  readonly url: string
  readonly suite: string
}

const checkout = join(import.meta.dirname, '..', '..')
const name = 'localhost/ipkeeper:1'
const aptHelper = '/usr/lib/apt/apt-helper'

/** Runs a script in namespaces of its own, as long as this process is there. Its first argument is the folder. */
async function runIsolated(
  script: string,
  args: readonly [folder: string, ...string[]],
  timeoutMs?: number,
): Promise<Finished> {
  // Some of what buildah remembers goes here, whatever its root is.
  const forget = 'mkdir -p /var/lib/containers && mount -t tmpfs tmpfs /var/lib/containers'
  // As a program, for those who call it from elsewhere.
  const buildah = `mkdir -p "$folder/bin"
program=$(command -v buildah)
printf '#!/bin/sh\\nTMPDIR=%s exec %s --root %s --runroot %s "$@"\\n' "$folder" "$program" "$folder/store" "$folder/run" >"$folder/bin/buildah"
chmod 755 "$folder/bin/buildah"
PATH=$folder/bin:$PATH`
  const namespaces = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child']
  let withdraw = (): unknown => undefined
  const finished = await runProgram(
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', '--', 'unshare', ...namespaces],
      ...['sh', '-euc', `folder=$1; shift\n${forget}\n${buildah}\n${script}`, 'sh', ...args],
    ],
    {
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      started: pid => {
        withdraw = atProcessEnd(() => {
          endIsolated(pid)
        })
      },
    },
  )
  withdraw()
  return finished
}

/** Ends it, and waits until nothing of it can write into the folder any more. */
function endIsolated(pid: number): void {
  const first = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  process.kill(pid, 'SIGKILL')
  const deadline = performance.now() + 20_000
  const never = new Int32Array(new SharedArrayBuffer(4))
  // The kernel reaps the first process of a namespace after all others.
  while (first !== '' && existsSync(`/proc/${first}`) && performance.now() < deadline)
    Atomics.wait(never, 0, 0, 20)
}

/** Arguments: suite, mirror, checkout, name, Node. */
const build = `
exec 2>&1
# As debian:12-slim it has the packages that every Debian has, and no lists of others.
container=$(buildah from scratch)
root=$(buildah mount "$container")
debootstrap --variant=minbase "$1" "$root" "$2"
rm -rf "$root"/dev/* "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
find "$root" -printf '/%P\\n' >"$folder/known"
buildah umount "$container"
buildah commit --quiet --rm "$container" localhost/base:1

# dist/ itself has what was built for this machine, whatever it is.
BUILDAH_ISOLATION=chroot "$5" "$3/scripts/build-image.ts" --builder buildah --base localhost/base:1 --tag "$4"
buildah from --name container "$4"
root=$(buildah mount container)
# Packages call /usr/bin by its old name, too.
cat "$root"/var/lib/dpkg/info/*.list | sed 'p; s#^#/usr#' >>"$folder/known"
find "$root" -printf '/%P\\n' | grep -vxFf "$folder/known" >"$folder/added"
buildah umount container
buildah push --quiet "$4" "docker-archive:$folder/archive.tar:$4"
buildah inspect --type image "$4" >"$folder/image.json"
`

/** Where apt gets Debian from, by its own settings; undefined where nothing answers. Tried once. */
export function findMirror(): Mirror | undefined {
  if (mirror === 'not tried') mirror = askMirrors()
  return mirror
}
let mirror: Mirror | 'not tried' | undefined = 'not tried'

function askMirrors(): Mirror | undefined {
  if (!existsSync(aptHelper)) return undefined
  const apt = (program: string, ...args: readonly string[]): string =>
    spawnSync(program, ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=10', ...args], {
      encoding: 'utf8',
      timeout: 30_000,
    }).stdout
  const folder = makeTempFolder()
  try {
    const releases = apt('apt-get', 'update', '--print-uris').matchAll(
      /^'(.+)\/dists\/([a-z]+)\/InRelease'/gm,
    )
    for (const [at, [, url = '', suite = '']] of [...releases].entries()) {
      const file = folder.file(String(at))
      apt(aptHelper, 'download-file', `${url}/dists/${suite}/InRelease`, file)
      if (existsSync(file) && /^Origin: Debian$/m.test(readFileSync(file, 'utf8'))) return { url, suite }
    }
    return undefined
  } finally {
    folder.remove()
  }
}

export const hasImageBuilder = (): boolean =>
  process.getuid?.() === 0 && ['buildah', 'debootstrap'].every(program => findProgram(program) !== undefined)

/** Builds it of `dist`, which takes most of a minute. */
export async function buildImage(t: Scope): Promise<Image> {
  const source = findMirror()
  if (source === undefined) throw new Error('apt reaches no mirror of Debian')
  const folder = tempFolder(t)
  const { exit, stdout } = await runIsolated(
    build,
    [folder.path, source.suite, source.url, checkout, name, process.execPath],
    400_000,
  )
  if (exit !== 0) throw new Error(`no image: ${stdout.slice(-4000)}`)
  const { OCIv1 } = JSON.parse(readFileSync(folder.file('image.json'), 'utf8')) as {
    OCIv1: { config: ImageConfig }
  }
  return {
    name,
    archive: folder.file('archive.tar'),
    config: OCIv1.config,
    added: readFileSync(folder.file('added'), 'utf8').trim().split('\n'),
    run: (...words) =>
      runIsolated('buildah run --isolation chroot container -- "$@"', [folder.path, ...words]),
  }
}
